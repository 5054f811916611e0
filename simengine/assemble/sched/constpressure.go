package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Register pressure of constants.
//
// From Hopper on an instruction does not read constant memory in place: the constant is first
// loaded into a uniform register. A block whose constants all fit the uniform registers keeps them
// there, and its order costs general registers only. A block with more constants loads them as they
// are needed. An order that uses up each value before the next one would then keep constants live
// instead of values, so in such a block a constant counts like a general register.
//
// Evidence, microbenchmark (deploy/calibrate/ptxas/filters.py, ptxas 13.0.88), four filters over shared
// inputs, registers taken:
//
//	constants    54    56    70    72
//	sm_90        31    56
//	sm_100                   31    62
//	sm_120                   39    62
//	sm_86        39 or 40 with any number: it reads constants in place

// constants are one-word constants that a block loads into uniform registers.
type constants []vreg.Value

// excessConstants returns the constants of a block that uniform registers do not hold at the same
// time, nil where they hold all.
func excessConstants(f *mir.Func, b int) constants {
	if f.Target.ConstOperand || !f.Target.Uses(rules.ConstantPressure) {
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

// readByWords reports whether instructions read a value word by word. Addresses are read whole.
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

// ExceedsUniformRegisters reports whether a block has more constants than uniform registers hold.
// There loads wait for constants and do not run ahead into the rest of an occupancy step.
//
// Evidence, microbenchmark (deploy/calibrate/ptxas/filters.py): ptxas takes what the order needs, 78, 87
// and 91 registers for 88, 104 and 112 constants for sm_90.
func ExceedsUniformRegisters(f *mir.Func) bool {
	return slices.ContainsFunc(f.Order, func(b int) bool { return excessConstants(f, b) != nil })
}

// countedWith returns counted with the words of the constants added: by value, which words count as
// registers.
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

// fitsUniform reports whether, in an order of block b, the constants live at the same time fit the
// uniform registers, or at least are no more than in the block's own order.
func fitsUniform(f *mir.Func, c constants, b int, g *dag, order []int32, s *Scratch) bool {
	if c == nil {
		return true
	}
	alone := c.countedWith(make([]uint8, len(s.general)))
	most := orderPressure(f, b, &g.ops, order, 0, alone, s)
	return most <= f.Target.UniformConstants || most <= orderPressure(f, b, &g.ops, nil, 0, alone, s)
}
