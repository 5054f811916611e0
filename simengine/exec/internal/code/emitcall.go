package code

import (
	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/ir"
)

// emitCarry compiles the extended-precision instructions, which read or write
// the carry flag.
func (c *compiler) emitCarry(pc int, in *ir.Instr, i *Instr) (bool, error) {
	w := alu.Width(in.Type)
	if w != 32 && w != 64 || len(in.Dst) != 1 {
		return false, c.unsupported(pc, "carry arithmetic on this type")
	}
	i.Kind, i.X = KindCall, &Extra{Call: CallCarryOp}
	if err := c.operands(pc, in, i.X, in.Type); err != nil {
		return false, err
	}
	want := 2
	if in.Op == ir.Mad || in.Op == ir.MadC {
		want = 3
	}
	if len(i.X.Src) != want || in.Mod&ir.ModWide != 0 {
		return false, c.unsupported(pc, "operands")
	}
	return true, nil
}

// emitMapa compiles mapa and getctarank.
func (c *compiler) emitMapa(pc int, in *ir.Instr, i *Instr) (bool, error) {
	run := CallMapShared
	if in.Op == ir.GetCTARank {
		run = CallCTARank
	}
	i.Kind, i.X = KindCall, &Extra{Call: run}
	t := in.Type
	if in.Op == ir.GetCTARank && (in.Space == ir.Generic || t.Size() == 8) {
		t = ir.B64
	}
	return true, c.operands(pc, in, i.X, t)
}

// emitGeneric compiles cvta, which adds or subtracts the base of a state space's window in generic
// addresses, and isspacep, which compares with the window's bounds.
func (c *compiler) emitGeneric(pc int, in *ir.Instr, i *Instr) (bool, error) {
	base, ok := WindowBase(in.Space)
	if !ok {
		return false, c.unsupported(pc, "generic addresses of this state space")
	}
	if in.Op == ir.Isspacep {
		i.Kind, i.X = KindCall, &Extra{Call: CallIsSpace, Imm: uint64(in.Space)}
		return true, c.operands(pc, in, i.X, ir.U64)
	}
	if in.Mod&ir.ModTo != 0 {
		base = -base
	}
	i.Kind, i.X = KindMixed, &Extra{}
	i.F64 = func(d, a, _, _, _ *alu.Vec64) {
		for l := range d {
			d[l] = a[l] + base
		}
	}
	return true, c.operands(pc, in, i.X, ir.U64)
}
