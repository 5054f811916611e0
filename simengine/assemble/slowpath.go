package assemble

import (
	"strings"

	"github.com/warptune/warptune/simengine/assemble/isel/expansion"
	"github.com/warptune/warptune/simengine/ir"
)

// SlowPath is the machine code that path p through the slow path of an operation adds, in issue
// order; nil for an operation without one.
//
// Evidence, kernels: ptxas 13.0 for sm_86, divisions of pnpoly and expdist
// (deploy/calibrate/datasets/others-spaces). The routines of reciprocals and roots were not at hand: they are
// taken to be shorter by a divisor or a dividend.
func SlowPath(in *ir.Instr, p ir.Path) []Instr {
	if !ir.HasSlowPath(in) || p >= ir.NumPaths {
		return nil
	}
	single := in.Op != ir.Div
	switch {
	case in.Type == ir.F32 && single:
		return unaryF32[p]
	case in.Type == ir.F32:
		return divisionF32[p]
	case single:
		return unaryF64[p]
	}
	return divisionF64[p]
}

// routine reads the code of the paths (see package expansion), with registers of their own.
func routine(paths [ir.NumPaths]string) (out [ir.NumPaths][]Instr) {
	for p, text := range paths {
		for _, st := range expansion.Expansion(text) {
			in := Instr{Class: st.Op.Class(), Source: -1, Spill: -1, Carried: -1, Guarded: st.Guard != 0}
			if st.Dst.Name != 0 {
				in.Dst[0] = register(st.Dst)
			}
			for i, s := range st.Src {
				in.Src[i] = register(s)
			}
			out[p] = append(out[p], in)
		}
	}
	return out
}

// First registers of routines: for words, and for pairs.
const (
	firstWord = 176
	firstPair = 202
)

// register is the physical register of a letter.
func register(o expansion.Slot) RegSpan {
	switch {
	case strings.IndexByte("pqsz", o.Name) >= 0:
		return RegSpan{PredBase + Reg(strings.IndexByte("pqsz", o.Name)), 1}
	case o.Name < 'a' && o.Word < 0:
		return RegSpan{firstPair + 2*Reg(o.Name-'A'), 2}
	case o.Name < 'a':
		return RegSpan{firstPair + 2*Reg(o.Name-'A') + Reg(o.Word), 1}
	}
	return RegSpan{firstWord + Reg(o.Name-'a'), 1}
}
