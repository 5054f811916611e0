package coalesce

import "github.com/warptune/warptune/simengine/trace"

// Weights is, for each step of a warp's trace, how often it was executed
// counting the iterations that sampling left out: those of a Repeat step are
// like the iteration recorded just before it. It appends to dst[:0].
func Weights(w *trace.Warp, dst []int64) []int64 {
	dst = dst[:0]
	for i, s := range w.Steps {
		if s.Repeat == 0 {
			dst = append(dst, 1)
			continue
		}
		dst = append(dst, 0)
		for j := i - 1; j >= 0; j-- {
			dst[j] *= 1 + s.Repeat
			if w.Steps[j].Block == s.Block && w.Steps[j].Repeat == 0 {
				break
			}
		}
	}
	return dst
}

// InTurn visits the steps of a CTA's warps in turn: the first of each, then the
// second of those that have one.
func InTurn(cta *trace.CTA, visit func(warp, step int)) {
	for step, going := 0, true; going; step++ {
		going = false
		for i := range cta.Warps {
			if step < len(cta.Warps[i].Steps) {
				going = true
				visit(i, step)
			}
		}
	}
}

// AccessEnd is the end of step i's accesses.
func AccessEnd(w *trace.Warp, i int) int32 {
	if i+1 < len(w.Steps) {
		return w.Steps[i+1].Access
	}
	return int32(len(w.Accesses))
}
