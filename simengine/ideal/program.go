package ideal

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// Program is machine code of which the mechanisms cost nothing, p itself where none of them is one of the code.
func (s Set) Program(p *assemble.Program) *assemble.Program {
	if s&(Spills|LocalArrays|Barriers|CTAWork) == 0 {
		return p
	}
	var once []bool
	if s.Has(CTAWork) {
		once = OncePerCTA(p.Kernel)
	}
	q := *p
	q.Blocks = slices.Clone(p.Blocks)
	for i := range q.Blocks {
		q.Blocks[i].Instrs = s.instrs(p.Blocks[i].Instrs)
		if once != nil {
			q.Blocks[i].Instrs = withoutOnce(p.Kernel, i, once, q.Blocks[i].Instrs)
		}
	}
	if s.Has(Spills) {
		q.SpillBytes, q.SpillLoads, q.SpillStores = 0, 0, 0
		q.LocalBytes -= p.SpillBytes
	}
	if s.Has(LocalArrays) {
		q.LocalBytes -= p.LocalBytes - p.SpillBytes
	}
	return &q
}

func (s Set) instrs(in []assemble.Instr) []assemble.Instr {
	out := make([]assemble.Instr, 0, len(in))
	for _, i := range in {
		switch {
		case s.Has(Spills) && spills(&i):
			continue
		case s.Has(LocalArrays) && localArray(&i):
			continue
		case s.Has(Barriers) && i.Class == assemble.Barrier:
			i.Class = assemble.Control
		}
		out = append(out, i)
	}
	return out
}

// spills reports whether an instruction spills or reloads registers.
func spills(i *assemble.Instr) bool {
	return i.Source < 0 && i.Space == ir.Local && (i.Class == assemble.Load || i.Class == assemble.Store)
}

// localArray reports whether an instruction reads or writes a variable of a thread's own in local memory.
func localArray(i *assemble.Instr) bool {
	return i.Source >= 0 && i.Space == ir.Local && (i.Class == assemble.Load || i.Class == assemble.Store)
}
