package assemble

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/simengine/ir"
)

// verifyNodes checks that every operand names a value and that blocks and
// their merges are consistent.
func (f *fn) verifyNodes() error {
	for _, b := range f.order {
		if f.blocks[b].merged >= 0 {
			return fmt.Errorf("block %d is merged but still ordered", b)
		}
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			for _, d := range n.dst {
				if int(d) >= len(f.vals) {
					return fmt.Errorf("block %d: node %d writes unknown value %d", b, ni, d)
				}
			}
			for i := range n.src {
				if int(n.src[i].Reg) >= len(f.vals) {
					return fmt.Errorf("block %d: node %d reads unknown value %d", b, ni, n.src[i].Reg)
				}
			}
			if c := f.carrier(n); c != b && f.blocks[b].holds != c {
				return fmt.Errorf("block %d: node %d belongs to block %d", b, ni, n.block)
			}
		}
	}
	return nil
}

// verifyInsts checks that no general register value is read before it is
// written on any path from the entry.
func (f *fn) verifyInsts() error {
	if err := f.findLiveness(); err != nil {
		return err
	}
	if len(f.order) == 0 {
		return nil
	}
	undefined := f.undefined()
	for v, m := range f.live.in[f.order[0]] {
		if m != 0 && !undefined[value(v)] && !f.guardedCarry(value(v)) {
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
func (f *fn) guardedCarry(v value) bool {
	if int(v) < len(f.k.Regs) || f.vals[v].file != filePred {
		return false
	}
	for b := range f.mblocks {
		for i := range f.mblocks[b].insts {
			in := &f.mblocks[b].insts[i]
			if in.guard == noValue && slices.ContainsFunc(in.dst[:], func(a arg) bool { return a.kind == argValue && a.v == v }) {
				return false
			}
		}
	}
	return true
}

// undefined returns the values that the PTX itself may read unwritten, as compilers leave
// those that nobody looks at, with what selection made of them: vectors that they are part of.
func (f *fn) undefined() map[value]bool {
	entry := f.k.Liveness().In[f.order[0]]
	all := map[value]bool{}
	for r := range f.k.Regs {
		v := value(r)
		if !entry.Has(ir.Reg(r)) && f.vals[v].defs == 1 {
			continue
		}
		all[v] = true
		if b, bound := f.sub[v]; bound {
			all[b.v] = true
		}
	}
	return all
}

// verifyRegisters checks that no two values live at one time share a register.
func (f *fn) verifyRegisters() error {
	f.trackOrder()
	l := f.layout(nil)
	ranges := l.liveRanges(0)
	var banks [fileUniformPred + 1]bank
	for i := range banks {
		banks[i].reset(l.positions())
	}
	for v := range ranges {
		if len(ranges[v].all) == 0 || f.vals[v].file == fileNone {
			continue
		}
		if f.regs[v] < 0 {
			return fmt.Errorf("value %d is live and has no register", v)
		}
		k := &banks[f.vals[v].file]
		for w := 0; w < int(f.vals[v].words); w++ {
			r := int(f.regs[v]) + w
			if !k.free(r, ranges[v].word[w]) {
				return fmt.Errorf("value %d shares register %d with another live value", v, r)
			}
			k.take(r, ranges[v].word[w])
		}
	}
	return nil
}

// verifyFrugal checks the order that needs the fewest registers.
func (f *fn) verifyFrugal() error {
	if err := f.verifyOrder(); err != nil {
		return err
	}
	return f.verifyInsts()
}

// trackOrder records, for every instruction, which instruction wrote each
// value it reads and which conflicting accesses come before it.
func (f *fn) trackOrder() {
	f.tracked = f.tracked[:0]
	n := int32(0)
	for _, b := range f.order {
		for i := range f.mblocks[b].insts {
			f.mblocks[b].insts[i].id = n
			n++
		}
	}
	for _, b := range f.order {
		f.tracked = append(f.tracked, producers(f.mblocks[b].insts))
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
func (f *fn) verifyOrder() error {
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
		now := producers(f.mblocks[b].insts)
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
func (f *fn) verifyPairs() error {
	tracked := f.tracked
	f.tracked = nil
	err := f.verifyOrder()
	if len(tracked) > 0 {
		f.trackOrder()
	}
	return err
}

// verifyProgram checks the emitted program against its contract.
func (f *fn) verifyProgram() error {
	p := f.program
	if len(p.Blocks) != len(f.k.Blocks) {
		return fmt.Errorf("%d blocks for %d", len(p.Blocks), len(f.k.Blocks))
	}
	for b := range p.Blocks {
		if m := p.Blocks[b].Merged; m >= 0 && (len(p.Blocks[b].Instrs) > 0 || p.Blocks[m].Merged >= 0) {
			return fmt.Errorf("block %d is merged into %d but has code, or its carrier has none", b, m)
		}
		if h := p.Blocks[b].Holds; h != 0 && p.Blocks[h].Merged >= 0 {
			return fmt.Errorf("block %d has instructions of block %d, which has none of its own", b, h)
		}
		for i := range p.Blocks[b].Instrs {
			in := &p.Blocks[b].Instrs[i]
			if in.Class == ClassInvalid || in.Class >= NumClasses {
				return fmt.Errorf("block %d: instruction %d has no class", b, i)
			}
			if c := in.Carried; c >= 0 && p.Blocks[c].Merged != b && !p.holds(b, int(c)) {
				return fmt.Errorf("block %d: instruction %d is carried for block %d, which is not merged into it", b, i, c)
			}
		}
	}
	return nil
}
