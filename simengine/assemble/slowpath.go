package assemble

import (
	"strings"

	"github.com/warptune/warptune/simengine/ir"
)

// SlowPath is the machine code that a path through the routine of an operation's
// slow path adds, in issue order; nil for an operation without one. The code is that
// of ptxas 13.0 for sm_86, of divisions (pnpoly and expdist, see
// deploy/calibrate/generations). No machine code of the routines of reciprocals and
// roots was at hand: they do the same in fewer steps, a divisor or a dividend less.
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

// routine reads the code of paths as expansions are written. It has registers of its own.
func routine(paths [ir.NumPaths]string) (out [ir.NumPaths][]Instr) {
	for p, text := range paths {
		for _, st := range expansion(text) {
			in := Instr{Class: st.op.class(), Source: -1, Spill: -1, Carried: -1, Guarded: st.guard != 0}
			if st.dst.name != 0 {
				in.Dst[0] = st.dst.register()
			}
			for i, s := range st.src {
				in.Src[i] = s.register()
			}
			out[p] = append(out[p], in)
		}
	}
	return out
}

// Registers of routines: words from firstWord on, pairs from firstPair on.
const (
	firstWord = 176
	firstPair = 202
)

// register is the physical register that a letter of a routine stands for.
func (o slot) register() RegSpan {
	switch {
	case strings.IndexByte("pqsz", o.name) >= 0:
		return RegSpan{PredBase + Reg(strings.IndexByte("pqsz", o.name)), 1}
	case o.name < 'a' && o.word < 0:
		return RegSpan{firstPair + 2*Reg(o.name-'A'), 2}
	case o.name < 'a':
		return RegSpan{firstPair + 2*Reg(o.name-'A') + Reg(o.word), 1}
	}
	return RegSpan{firstWord + Reg(o.name-'a'), 1}
}
