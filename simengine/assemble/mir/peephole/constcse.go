package peephole

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Common constants of a block.

// ShareConstants loads a constant once a block: one of 32 bits that several instructions take from
// a register, and one of 64 bits in uniform or in general registers.
//
// Evidence, ptxas corpus: 22 UMOV serve 81 double-precision exponentials in HeCBench's crossEntropy
// for sm_90. Kernels: lavamd, whose expf constants are loaded once for ten particles;
// charges_double, which executes 0.81 of the instructions it would execute otherwise.
func ShareConstants(f *mir.Func) error {
	if !f.Target.Uses(rules.ConstantCSE) {
		return nil
	}
	first, same := map[int64]vreg.Value{}, map[vreg.Value]vreg.Value{}
	pairs := map[constantPair]vreg.Value{}
	for b := range f.Blocks {
		clear(first)
		clear(same)
		clear(pairs)
		mb := &f.Blocks[b]
		kept := mb.Insts[:0]
		for i, in := range mb.Insts {
			for k := range in.Src[:in.NSrc] {
				if a := &in.Src[k]; a.Kind == mir.ArgValue {
					if v, ok := same[a.Value]; ok {
						a.Value = v
					}
				}
			}
			v := in.Dst[0].Value
			switch {
			case in.Dst[0].Kind != mir.ArgValue:
			case loadsWord(f, &in):
				if w, ok := first[in.Src[0].Imm]; ok {
					same[v] = w
				} else {
					first[in.Src[0].Imm] = v
				}
			case loadsPair(f, mb.Insts[i:]):
				key := constantPair{in.Src[0].Imm, mb.Insts[i+1].Src[0].Imm, f.Values[v].File}
				if w, ok := pairs[key]; ok {
					same[v] = w
				} else {
					pairs[key] = v
				}
			}
			if _, gone := same[v]; gone && in.Dst[0].Kind == mir.ArgValue {
				continue
			}
			kept = append(kept, in)
		}
		mb.Insts = kept
	}
	return nil
}

// constantPair is a 64-bit constant in registers of a file.
type constantPair struct {
	low, high int64
	file      vreg.File
}

// loadsWord reports whether an instruction loads an immediate into a one-word general register that
// selection made.
func loadsWord(f *mir.Func, in *mir.Inst) bool {
	v := in.Dst[0].Value
	return in.Op == mir.OpMOV && loadsImmediate(in) && f.Values[v].Defs == 0 && f.Values[v].File == vreg.General && f.Values[v].Words == 1
}

// loadsPair reports whether the first two instructions load a 64-bit constant into a pair of
// registers that selection made.
func loadsPair(f *mir.Func, insts []mir.Inst) bool {
	v := insts[0].Dst[0].Value
	if len(insts) < 2 || insts[1].Dst[0].Kind != mir.ArgValue || insts[1].Dst[0].Value != v || insts[0].Dst[0].Word != 0 || insts[1].Dst[0].Word != 1 {
		return false
	}
	for k := range insts[:2] {
		if in := &insts[k]; !loadsImmediate(in) || in.Op != mir.OpMOV && in.Op != mir.OpUMOV {
			return false
		}
	}
	return f.UniformNumbers[v] || insts[0].Op == mir.OpMOV && f.Values[v].Defs == 0 && f.Values[v].File == vreg.General && f.Values[v].Words == 2
}

// loadsImmediate reports whether an instruction reads an immediate and nothing else.
func loadsImmediate(in *mir.Inst) bool {
	return in.Guard == vreg.None && in.NSrc == 1 && in.Src[0].Kind == mir.ArgImm
}
