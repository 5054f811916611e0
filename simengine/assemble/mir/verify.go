package mir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// VerifyInsts checks that no value is read before it is written, on any path from the entry.
func (f *Func) VerifyInsts() error {
	if err := f.FindLiveness(); err != nil {
		return err
	}
	if len(f.Order) == 0 {
		return nil
	}
	for v, m := range f.Live.In[f.Order[0]] {
		if m != 0 && !f.MayBeUnwritten[vreg.Value(v)] && !f.guardedCarry(vreg.Value(v)) {
			name := "temporary"
			if v < len(f.Kernel.Regs) {
				name = f.Kernel.Regs[v].Name
			}
			return fmt.Errorf("value %d (%s, words %b) is read before it is written", v, name, m)
		}
	}
	return nil
}

// guardedCarry reports whether v is the carry of a guarded sum: a predicate that selection made and
// that only guarded instructions write. It seems to live on from before, as the sum does in the
// other lanes, but nothing reads it there.
func (f *Func) guardedCarry(v vreg.Value) bool {
	if int(v) < len(f.Kernel.Regs) || f.Values[v].File != vreg.Predicate {
		return false
	}
	for b := range f.Blocks {
		for i := range f.Blocks[b].Insts {
			in := &f.Blocks[b].Insts[i]
			if in.Guard == vreg.None && slices.ContainsFunc(in.Dst[:], func(a Arg) bool { return a.Kind == ArgValue && a.Value == v }) {
				return false
			}
		}
	}
	return true
}

// VerifyReordered checks blocks that were reordered before allocation.
func (f *Func) VerifyReordered() error {
	if err := f.VerifyOrder(); err != nil {
		return err
	}
	return f.VerifyInsts()
}

// TrackOrder records, for every instruction, which instruction wrote each value that it reads, and
// which conflicting accesses come before it.
func (f *Func) TrackOrder() {
	f.tracked = f.tracked[:0]
	n := int32(0)
	for _, b := range f.Order {
		for i := range f.Blocks[b].Insts {
			f.Blocks[b].Insts[i].ID = n
			n++
		}
	}
	for _, b := range f.Order {
		f.tracked = append(f.tracked, producers(f.Blocks[b].Insts))
	}
}

// producers describes, for the instructions of a block, what each depends on.
func producers(insts []Inst) map[int32]string {
	type word struct {
		v vreg.Value
		w int
	}
	last := map[word]int32{}
	out := map[int32]string{}
	for i := range insts {
		in := &insts[i]
		var ps []string
		in.EachRead(func(v vreg.Value, mask uint8) {
			for w := 0; w < 4; w++ {
				if d, ok := last[word{v, w}]; ok && mask&(1<<w) != 0 {
					ps = append(ps, fmt.Sprint(v, ".", w, "<", d))
				}
			}
		})
		for j := range insts[:i] {
			if insts[j].IsMem() && in.IsMem() && Conflict(&insts[j], in) {
				ps = append(ps, fmt.Sprint("after ", insts[j].ID))
			}
		}
		slices.Sort(ps)
		out[in.ID] = strings.Join(ps, " ")
		in.EachWrite(func(a *Arg) {
			for w := a.Word; w < a.Word+a.N; w++ {
				last[word{a.Value, int(w)}] = in.ID
			}
		})
	}
	return out
}

// VerifyOrder checks that every block still needs the same values at its start and, once TrackOrder
// has run, that every instruction depends on the same instructions.
func (f *Func) VerifyOrder() error {
	before := f.Live.In
	if err := f.FindLiveness(); err != nil {
		return err
	}
	for _, b := range f.Order {
		for v, m := range f.Live.In[b] {
			if before[b][v] != m {
				return fmt.Errorf("block %d: scheduling changed what is live at its entry (value %d: words %b, were %b)", b, v, m, before[b][v])
			}
		}
	}
	if len(f.tracked) == 0 {
		return nil
	}
	for k, b := range f.Order {
		now := producers(f.Blocks[b].Insts)
		for id, p := range f.tracked[k] {
			if now[id] != p {
				return fmt.Errorf("block %d: instruction %d depended on %q, now on %q", b, id, p, now[id])
			}
		}
	}
	return nil
}

// VerifyRemoved checks that every block still needs the same values at its start after instructions
// were removed, and records the order anew.
func (f *Func) VerifyRemoved() error {
	tracked := f.tracked
	f.tracked = nil
	err := f.VerifyOrder()
	if len(tracked) > 0 {
		f.TrackOrder()
	}
	return err
}
