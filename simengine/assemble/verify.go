package assemble

import (
	"fmt"
	"slices"
	"strings"
)

// verifyInsts checks that no general register value is read before it is
// written on any path from the entry.
func (f *mfn) verifyInsts() error {
	if err := f.findLiveness(); err != nil {
		return err
	}
	if len(f.order) == 0 {
		return nil
	}
	for v, m := range f.live.in[f.order[0]] {
		if m != 0 && !f.undefined[value(v)] && !f.guardedCarry(value(v)) {
			name := "temporary"
			if v < len(f.k.Regs) {
				name = f.k.Regs[v].Name
			}
			return fmt.Errorf("value %d (%s, words %b) is read before it is written", v, name, m)
		}
	}
	return nil
}

// guardedCarry says whether a value is a predicate that selection made and only guarded
// instructions write: the carry of a guarded sum. It seems to live on, as the sum does in the
// other lanes, but none of these reads it.
func (f *mfn) guardedCarry(v value) bool {
	if int(v) < len(f.k.Regs) || f.vals[v].file != filePred {
		return false
	}
	for b := range f.blocks {
		for i := range f.blocks[b].insts {
			in := &f.blocks[b].insts[i]
			if in.guard == noValue && slices.ContainsFunc(in.dst[:], func(a arg) bool { return a.kind == argValue && a.v == v }) {
				return false
			}
		}
	}
	return true
}

// verifyFrugal checks the order that needs the fewest registers.
func (f *mfn) verifyFrugal() error {
	if err := f.verifyOrder(); err != nil {
		return err
	}
	return f.verifyInsts()
}

// trackOrder records, for every instruction, which instruction wrote each
// value it reads and which conflicting accesses come before it.
func (f *mfn) trackOrder() {
	f.tracked = f.tracked[:0]
	n := int32(0)
	for _, b := range f.order {
		for i := range f.blocks[b].insts {
			f.blocks[b].insts[i].id = n
			n++
		}
	}
	for _, b := range f.order {
		f.tracked = append(f.tracked, producers(f.blocks[b].insts))
	}
}

// producers describes a block by what each instruction depends on.
func producers(insts []inst) map[int32]string {
	type word struct {
		v value
		w int
	}
	last := map[word]int32{}
	out := map[int32]string{}
	for i := range insts {
		in := &insts[i]
		var ps []string
		in.reads(func(v value, mask uint8) {
			for w := 0; w < 4; w++ {
				if d, ok := last[word{v, w}]; ok && mask&(1<<w) != 0 {
					ps = append(ps, fmt.Sprint(v, ".", w, "<", d))
				}
			}
		})
		for j := range insts[:i] {
			if insts[j].isMem() && in.isMem() && conflict(&insts[j], in) {
				ps = append(ps, fmt.Sprint("after ", insts[j].id))
			}
		}
		slices.Sort(ps)
		out[in.id] = strings.Join(ps, " ")
		for k := range in.dst {
			if a := &in.dst[k]; a.kind == argValue {
				for w := a.w; w < a.w+a.n; w++ {
					last[word{a.v, int(w)}] = in.id
				}
			}
		}
	}
	return out
}

// verifyOrder checks that scheduling kept what every block needs at its entry
// and, once trackOrder has run, every instruction's producers and the order of
// conflicting accesses.
func (f *mfn) verifyOrder() error {
	before := f.live.in
	if err := f.findLiveness(); err != nil {
		return err
	}
	for _, b := range f.order {
		for v, m := range f.live.in[b] {
			if before[b][v] != m {
				return fmt.Errorf("block %d: scheduling changed what is live at its entry (value %d: words %b, were %b)", b, v, m, before[b][v])
			}
		}
	}
	if len(f.tracked) == 0 {
		return nil
	}
	for k, b := range f.order {
		now := producers(f.blocks[b].insts)
		for id, p := range f.tracked[k] {
			if now[id] != p {
				return fmt.Errorf("block %d: instruction %d depended on %q, now on %q", b, id, p, now[id])
			}
		}
	}
	return nil
}

// verifyPairs checks that what is live at the entry of blocks is as before, and takes
// down anew which instructions wrote what others read: fewer do.
func (f *mfn) verifyPairs() error {
	tracked := f.tracked
	f.tracked = nil
	err := f.verifyOrder()
	if len(tracked) > 0 {
		f.trackOrder()
	}
	return err
}
