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
	m.FragmentA, m.FragmentB, m.FragmentC = c.fragment(m.A, m.M, m.K), c.fragment(m.B, m.N, m.K), c.fragment(m.C, m.M, m.N)
	i.Kind, i.X = KindCall, &Extra{Call: CallMultiply, Matrix: m}
	return true, c.operands(pc, in, i.X, in.Type)
}

// emitWgmma compiles a warpgroup MMA.
func (c *compiler) emitWgmma(pc int, in *ir.Instr, i *Instr) error {
	m := in.Matrix
	g := &mma.WarpgroupMMA{Matrix: m, RegistersOfA: 1, Saturating: in.Mod&ir.ModSat != 0}
	g.FragmentA, g.FragmentD = c.fragment(m.A, mma.GroupRows, m.K), c.fragment(m.D, mma.GroupRows, m.N)
	g.DecodeB = c.fragment(m.B, 8, 8).Decode
	if !m.FromShared {
		g.RegistersOfA, _, _ = m.Registers()
	}
	i.X.Call, i.X.Group = CallMultiplyGroup, g
	if len(in.Src) != g.RegistersOfA+1+len(in.Dst)+1 {
		return c.unsupported(pc, "operands")
	}
	return c.operands(pc, in, i.X, in.Type)
}

// shape is a matrix of elements of a type.
type shape struct {
	of         ir.Type
	rows, cols int
}

// fragment is mma.FragmentOf, once for all instructions that have such a matrix.
func (c *compiler) fragment(t ir.Type, rows, cols int) *mma.Fragment {
	key := shape{t, rows, cols}
	f := c.fragments[key]
	if f == nil {
		if c.fragments == nil {
			c.fragments = map[shape]*mma.Fragment{}
		}
		f = mma.FragmentOf(t, rows, cols)
		c.fragments[key] = f
	}
	return f
}
