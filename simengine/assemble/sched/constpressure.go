package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// On Hopper and later a constant comes to a uniform register before an instruction reads it. A
// block whose constants find room there all together has them at hand, and its order costs
// general registers only. One that has more loads them as its instructions come to need them, and an order
// that uses each value up before the next keeps constants instead: there a word of a constant counts as
// much as any other. ptxas 13.0.88 so takes 31 registers for sm_90 where four filters of 54 constants
// share their inputs and 56 where they have 56 (31 and 62 with 70 and 72 constants for sm_100, 39 and 62 for sm_120); for
// sm_86, which reads constants in place, 39 or 40 whatever their number. With weights that are immediates it takes 32 at most, with
// weights in shared memory what the program's order needs, for all of them (deploy/calibrate/filters.py).

// constants are constants of a word that a block brings to uniform registers.
type constants []vreg.Value

// excessConstants lists a block's constants, none if uniform registers hold them all.
func excessConstants(f *mir.Func, b int) constants {
	if f.Target.ConstOperand {
		return nil
	}
	var list constants
	insts := f.Blocks[b].Insts
	for i := range insts {
		in := &insts[i]
		if in.Op != mir.OpULDC && in.Op != mir.OpULDCX || in.Dst[0].Kind != mir.ArgValue {
			continue
		}
		if v := in.Dst[0].Value; f.Values[v].File == vreg.Uniform && f.Live.Out[b][v] == 0 {
			list = append(list, v)
		}
	}
	if 4*len(list) <= f.Target.UniformConstants {
		return nil // a value has four words at most
	}
	list = slices.DeleteFunc(list, func(v vreg.Value) bool { return !readByWords(insts, v) })
	words := 0
	for _, v := range list {
		words += int(f.Values[v].Words)
	}
	if words <= f.Target.UniformConstants {
		return nil
	}
	return list
}

// readByWords says whether an instruction takes one word of a value: addresses are
// taken whole.
func readByWords(insts []mir.Inst, v vreg.Value) bool {
	for i := range insts {
		for _, a := range insts[i].Src[:insts[i].NSrc] {
			if a.Kind == mir.ArgValue && a.Value == v {
				return a.N == 1
			}
		}
	}
	return false
}

// ExceedsUniformRegisters says whether a block has more constants than uniform registers hold. Loads do not go
// ahead there into the rest of an occupancy step, as they wait for constants: ptxas takes what the
// order needs (78, 87 and 91 registers with 88, 104 and 112 constants for sm_90, of the same filters).
func ExceedsUniformRegisters(f *mir.Func) bool {
	return slices.ContainsFunc(f.Order, func(b int) bool { return excessConstants(f, b) != nil })
}

// countedWith is the words counted, those of the constants with them.
func (c constants) countedWith(counted []uint8) []uint8 {
	if c == nil {
		return counted
	}
	out := slices.Clone(counted)
	for _, v := range c {
		out[v] = 1<<4 - 1
	}
	return out
}

// fitsUniform says whether uniform registers hold the constants that live at the same time in an order
// of a block, or fewer than in its own.
func fitsUniform(f *mir.Func, c constants, b int, g *dag, order []int32, s *Scratch) bool {
	if c == nil {
		return true
	}
	alone := c.countedWith(make([]uint8, len(s.general)))
	most := orderPressure(f, b, &g.ops, order, 0, alone, s)
	return most <= f.Target.UniformConstants || most <= orderPressure(f, b, &g.ops, nil, 0, alone, s)
}
