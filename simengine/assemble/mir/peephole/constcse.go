package peephole

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// ShareConstants has a block bring a constant that several instructions take from a
// register there once (lavamd's machine code, which takes expf's constants so for ten
// particles at a time: deploy/calibrate/validation/sixth), and one of 64 bits, to uniform
// registers (22 UMOV for 81 exponentials of doubles in the sm_90 code of HeCBench's
// crossEntropy) or general ones (charges_double of the seventh batch with two charges a
// thread and eight at a time executes 0.81 of the instructions that there would be if each
// of its 16 products by a third brought that).
func ShareConstants(f *mir.Func) error {
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
			case bringsWord(f, &in):
				if w, ok := first[in.Src[0].Imm]; ok {
					same[v] = w
				} else {
					first[in.Src[0].Imm] = v
				}
			case bringsPair(f, mb.Insts[i:]):
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

// constantPair is a constant of 64 bits in registers.
type constantPair struct {
	low, high int64
	file      vreg.File
}

// bringsWord says that an instruction brings a constant to a general register for one
// instruction, which has no definition in PTX.
func bringsWord(f *mir.Func, in *mir.Inst) bool {
	v := in.Dst[0].Value
	return in.Op == mir.OpMOV && bringsNumber(in) && f.Values[v].Defs == 0 && f.Values[v].File == vreg.General && f.Values[v].Words == 1
}

// bringsPair says that the first two of some instructions bring a constant of 64 bits to
// a pair of registers for one instruction.
func bringsPair(f *mir.Func, insts []mir.Inst) bool {
	v := insts[0].Dst[0].Value
	if len(insts) < 2 || insts[1].Dst[0].Kind != mir.ArgValue || insts[1].Dst[0].Value != v || insts[0].Dst[0].Word != 0 || insts[1].Dst[0].Word != 1 {
		return false
	}
	for k := range insts[:2] {
		if in := &insts[k]; !bringsNumber(in) || in.Op != mir.OpMOV && in.Op != mir.OpUMOV {
			return false
		}
	}
	return f.UniformNumbers[v] || insts[0].Op == mir.OpMOV && f.Values[v].Defs == 0 && f.Values[v].File == vreg.General && f.Values[v].Words == 2
}

// bringsNumber says that an instruction has nothing but a constant.
func bringsNumber(in *mir.Inst) bool {
	return in.Guard == vreg.None && in.NSrc == 1 && in.Src[0].Kind == mir.ArgImm
}
