package code

import (
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/ir"
)

// emitMma compiles an MMA. The multiplications are exact, the additions are in double precision,
// and the result is rounded once. PTX leaves the rounding to the hardware, which therefore differs in
// the last bits of results that are not small integers.
func (c *compiler) emitMma(pc int, in *ir.Instr, i *Instr) (bool, error) {
	m := &mma.MMA{Matrix: in.Matrix, Saturating: in.Mod&ir.ModSat != 0}
	m.FragmentA, m.FragmentB, m.FragmentC = mma.FragmentOf(m.A, m.M, m.K), mma.FragmentOf(m.B, m.N, m.K), mma.FragmentOf(m.C, m.M, m.N)
	i.Kind, i.X = KindCall, &Extra{Call: CallMultiply, Matrix: m}
	return true, c.operands(pc, in, i.X, in.Type)
}

// emitWgmma compiles a warpgroup MMA.
func (c *compiler) emitWgmma(pc int, in *ir.Instr, i *Instr) error {
	m := in.Matrix
	g := &mma.WarpgroupMMA{Matrix: m, RegistersOfA: 1, Saturating: in.Mod&ir.ModSat != 0}
	g.FragmentA, g.FragmentD = mma.FragmentOf(m.A, mma.GroupRows, m.K), mma.FragmentOf(m.D, mma.GroupRows, m.N)
	g.DecodeB = mma.FragmentOf(m.B, 8, 8).Decode
	if !m.FromShared {
		g.RegistersOfA, _, _ = m.Registers()
	}
	i.X.Call, i.X.Group = CallMultiplyGroup, g
	if len(in.Src) != g.RegistersOfA+1+len(in.Dst)+1 {
		return c.unsupported(pc, "operands")
	}
	return c.operands(pc, in, i.X, in.Type)
}
