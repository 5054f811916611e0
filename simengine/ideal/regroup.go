package ideal

import (
	"math"
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// regroup leaves out, of what the warps of a CTA execute with few lanes, as much as regrouping lanes into full warps
// would save: a part that warps execute with half of their lanes stays in every second of them. A part is steps that
// follow each other with the same lanes. Those with barriers stay, those with atomics, of which fuller warps would make as
// many updates, and those that begin or end amid a loop of which iterations were left out.
func regroup(k *ir.Kernel, c *trace.CTA) {
	if slices.ContainsFunc(c.Warps, func(w trace.Warp) bool { return len(w.Asyncs) > 0 }) {
		return // roles of warps are no divergence
	}
	meets := make([]bool, len(k.Blocks))
	for b := range k.Blocks {
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			switch k.Instrs[pc].Op {
			case ir.Bar, ir.BarRed, ir.Atom, ir.Red:
				meets[b] = true
			}
		}
	}
	due := make([]float64, len(k.Blocks)) // lanes left over, in parts of a warp, by the first block
	seen := make([]bool, len(k.Blocks))
	for i := range c.Warps {
		w := &c.Warps[i]
		full := uint32(0)
		for _, s := range w.Steps {
			full |= s.Mask
		}
		left := make([]bool, len(w.Steps))
		beside := 0.0 // lanes of other parts since all lanes were together: warps take them in turns
		for from := 0; from < len(w.Steps); {
			to := from + 1
			for to < len(w.Steps) && w.Steps[to].Mask == w.Steps[from].Mask {
				to++
			}
			part, first := w.Steps[from:to], w.Steps[from].Block
			if part[0].Mask == full {
				beside = 0
			} else if whole(part, meets) {
				lanes := float64(bits.OnesCount32(part[0].Mask)) / float64(max(bits.OnesCount32(full), 1))
				if !seen[first] {
					due[first], seen[first] = math.Mod(beside, 1), true
				}
				due[first] += lanes
				beside += lanes
				if out := due[first] < 1-rounding; out {
					for j := from; j < to; j++ {
						left[j] = true
					}
				} else {
					due[first]--
				}
			}
			from = to
		}
		leaveOut(w, left)
	}
}

// rounding is what sums of shares may be short of a whole.
const rounding = 1e-9

// whole reports whether a part of a warp's steps has no barriers or atomics, and all of the loops of which it leaves out iterations.
func whole(part []trace.Step, meets []bool) bool {
	for i, s := range part {
		if meets[s.Block] || s.Repeat > 0 && !slices.ContainsFunc(part[:i], func(o trace.Step) bool { return o.Block == s.Block && o.Repeat == 0 }) {
			return false
		}
	}
	return true
}

// leaveOut leaves out steps of a warp, with their accesses.
func leaveOut(w *trace.Warp, left []bool) {
	steps, accesses := make([]trace.Step, 0, len(w.Steps)), make([]trace.Access, 0, len(w.Accesses))
	for i, s := range w.Steps {
		if left[i] {
			continue
		}
		end := int32(len(w.Accesses))
		if i+1 < len(w.Steps) {
			end = w.Steps[i+1].Access
		}
		from := s.Access
		s.Access = int32(len(accesses))
		steps, accesses = append(steps, s), append(accesses, w.Accesses[from:end]...)
	}
	w.Steps, w.Accesses = steps, accesses
}
