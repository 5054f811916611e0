package loopsample

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// findExit finds the one block that leaves the loop, or returns the obstacle.
func (a *analysis) findExit() string {
	exits := -1
	for _, b := range a.l.Blocks {
		blk := &a.k.Blocks[b]
		last := &a.k.Instrs[blk.End-1]
		if last.Op == ir.Exit || last.Op == ir.Trap || last.Op == ir.Brx {
			return "it contains " + last.Op.String()
		}
		for _, s := range a.waits.succs[b] {
			if a.l.Members[s] {
				continue
			}
			if exits >= 0 && exits != b {
				return "several blocks leave it"
			}
			exits = b
		}
	}
	if exits < 0 {
		return "nothing leaves it"
	}
	for _, latch := range a.latch {
		if !a.dom.dominates(exits, latch) {
			return "not every iteration passes the block that leaves it"
		}
	}
	if a.inner[exits] != a.self {
		return "it is left from an inner loop"
	}
	a.l.Exit.block = exits
	a.l.Exit.AtLatch = len(a.latch) == 1 && a.latch[0] == exits
	return ""
}

// findTest finds the comparison that the exit branch depends on, or returns the obstacle.
func (a *analysis) findTest() string {
	t := &a.l.Exit
	blk := &a.k.Blocks[t.block]
	bra := &a.k.Instrs[blk.End-1]
	if bra.Op != ir.Bra || bra.Guard == ir.NoReg {
		return "it is not left by a branch with a guard"
	}
	pc, o := a.compare(t, bra.Guard, blk.End-1)
	if o != "" {
		return o
	}
	in := &a.k.Instrs[pc]
	taken := a.l.Members[a.k.BlockOf(bra.Target)] // the loop goes on when the branch is taken
	t.Continues = taken != bra.GuardNot
	if len(in.Dst) > 1 && in.Dst[1] == bra.Guard {
		t.Continues = !t.Continues
	}
	return ""
}

// compare finds the comparison that a guard holds the result of when instruction at reads it: that
// of an induction with a loop invariant.
func (a *analysis) compare(t *Test, guard ir.Reg, at int) (pc int, obstacle string) {
	pc = a.onlyDef(guard)
	if pc < 0 || !a.before(pc, at) {
		return pc, "the guard that ends it is computed in several places"
	}
	return pc, a.comparison(t, pc)
}

// comparison fills in the comparison that an instruction makes, or returns the obstacle.
func (a *analysis) comparison(t *Test, pc int) (obstacle string) {
	in := &a.k.Instrs[pc]
	if in.Op != ir.Setp || len(in.Src) != 2 || in.Type.IsFloat() || !wide(in.Type) {
		return "it is not ended by one comparison of integers"
	}
	x, okx := a.linear(&in.Src[0], pc, 0)
	y, oky := a.linear(&in.Src[1], pc, 0)
	t.Induction, t.Limit, t.Cmp, t.Type = in.Src[0], in.Src[1], in.Cmp, in.Type
	switch {
	case okx && oky && x != ir.NoReg && y == ir.NoReg:
	case okx && oky && x == ir.NoReg && y != ir.NoReg:
		t.Induction, t.Limit, t.Cmp = in.Src[1], in.Src[0], swapped(in.Cmp)
	default:
		return "it is not ended by comparing an induction with a constant"
	}
	if t.Limit.Kind != ir.OperandReg && t.Limit.Kind != ir.OperandImm {
		return "its limit is not a register or a constant"
	}
	t.Ahead = a.ahead(t.Induction.Reg, pc)
	return ""
}

// ahead reports whether an induction is compared before it is incremented.
func (a *analysis) ahead(r ir.Reg, pc int) bool {
	def := a.onlyDef(r)
	if def < 0 {
		_, fromHeader := a.reachingDef(r, a.placeOf(pc))
		return fromHeader
	}
	return a.before(pc, def)
}

// swapped is the comparison with its operands exchanged.
func swapped(c ir.Cmp) ir.Cmp {
	switch c {
	case ir.CmpLT:
		return ir.CmpGT
	case ir.CmpLE:
		return ir.CmpGE
	case ir.CmpGT:
		return ir.CmpLT
	case ir.CmpGE:
		return ir.CmpLE
	case ir.CmpLO:
		return ir.CmpHI
	case ir.CmpLS:
		return ir.CmpHS
	case ir.CmpHI:
		return ir.CmpLO
	case ir.CmpHS:
		return ir.CmpLS
	}
	return c
}

// variantControl looks for control flow, guards and writes that may differ from one iteration to the
// next. It returns the first as an obstacle.
func (a *analysis) variantControl() string {
	variant := ir.NewBitSet(len(a.k.Regs))
	for _, r := range slices.Concat(a.l.Inductions, a.l.Cyclic) {
		variant.Add(r)
	}
	for changed := true; changed; {
		changed = false
		a.eachInstr(func(pc int, in *ir.Instr) string {
			if a.needed[pc] && (varies(in) || in.ReadsAny(variant)) {
				for _, r := range in.Dst {
					if r != ir.NoReg && !variant.Has(r) {
						variant.Add(r)
						changed = true
					}
				}
			}
			return ""
		})
	}
	exit := a.k.Blocks[a.l.Exit.block].End - 1
	return a.eachInstr(func(pc int, in *ir.Instr) string {
		if pc == exit || !in.Op.AlwaysExecutes() {
			return ""
		}
		switch {
		case a.needed[pc] && in.Op.WritesMemory() && !in.Mirrored():
			return "`" + a.k.Text(pc) + "` writes what addresses may depend on"
		case in.Guard != ir.NoReg && variant.Has(in.Guard) && !a.isComparison(in.Guard, pc):
			return "the guard of `" + a.k.Text(pc) + "` may differ between iterations"
		case (in.Op == ir.Bar || in.Op == ir.BarRed) && in.ReadsAny(variant):
			return "`" + a.k.Text(pc) + "` may differ between iterations"
		}
		return ""
	})
}

// isComparison reports whether a guard is the comparison of an induction with a loop invariant, and
// notes it.
func (a *analysis) isComparison(guard ir.Reg, at int) bool {
	var t Test
	if _, o := a.compare(&t, guard, at); o != "" {
		return false
	}
	a.l.Guards = append(a.l.Guards, t)
	return true
}

func (a *analysis) eachInstr(f func(pc int, in *ir.Instr) string) string {
	for _, b := range a.l.Blocks {
		blk := &a.k.Blocks[b]
		for pc := blk.Start; pc < blk.End; pc++ {
			if o := f(pc, &a.k.Instrs[pc]); o != "" {
				return o
			}
		}
	}
	return ""
}

// varies reports whether the result of an instruction may differ between iterations though its
// operands do not.
func varies(in *ir.Instr) bool {
	switch in.Op {
	case ir.Ld, ir.Ldu:
		return in.Space != ir.ParamSpace && in.Space != ir.Const && in.Mod&ir.ModNonCoherent == 0 && !in.Mirrored()
	case ir.Atom, ir.Suld:
		return true
	case ir.Mov:
		return len(in.Src) == 1 && in.Src[0].Kind == ir.OperandSpecial && in.Src[0].Special.IsClock()
	}
	return in.Mod&ir.ModCarryIn != 0
}
