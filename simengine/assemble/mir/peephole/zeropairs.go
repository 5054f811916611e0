package peephole

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Pairs of zeros: one CS2R for two MOV.

// PairZeros zeroes an aligned pair of registers with one instruction where two did, if nothing
// between them reads or writes the register of the second.
//
// Evidence, kernels: depthwise has 22 CS2R from SRZ, for vectors of two that guarded loads may
// leave untouched.
func PairZeros(f *mir.Func) error {
	if !f.Target.Uses(rules.ZeroPairs) {
		return nil
	}
	first := map[int16]int{} // by register: the instruction that zeroes it
	for _, b := range f.Order {
		insts := f.Blocks[b].Insts
		gone := 0
		clear(first)
		for j := range insts {
			in := &insts[j]
			r, zeroesRegister := zeroesRegister(f, in)
			if i, ok := first[r^1]; zeroesRegister && ok && insts[i].Guard == in.Guard && insts[i].GuardNot == in.GuardNot {
				low, high := insts[i].Dst[0], in.Dst[0]
				if r&1 == 0 {
					low, high = high, low
				}
				insts[i].Op, insts[i].Dst[0], insts[i].Dst[1] = mir.OpCS2R, low, high
				in.Op = mir.OpInvalid
				gone++
				delete(first, r^1)
				continue
			}
			forget(f, first, in)
			if zeroesRegister {
				first[r] = j
			}
		}
		if gone > 0 {
			f.Blocks[b].Insts = compact(insts, gone)
		}
	}
	return nil
}

// zeroesRegister returns the register that an instruction zeroes, and reports whether that is all
// it does.
func zeroesRegister(f *mir.Func, in *mir.Inst) (register int16, ok bool) {
	d := in.Dst[0]
	if in.Op != mir.OpMOV || in.NSrc != 1 || in.Src[0].Kind != mir.ArgZero || in.KeepsOld || d.Kind != mir.ArgValue || d.N != 1 || f.Values[d.Value].File != vreg.General || f.Regs[d.Value] < 0 {
		return -1, false
	}
	return f.Regs[d.Value] + int16(d.Word), true
}

// forget drops candidates for whose other half in reads or writes the register.
func forget(f *mir.Func, first map[int16]int, in *mir.Inst) {
	if len(first) == 0 {
		return
	}
	drop := func(a *mir.Arg) {
		if a.Kind != mir.ArgValue || f.Values[a.Value].File != vreg.General || f.Regs[a.Value] < 0 {
			return
		}
		for w := range max(a.N, 1) {
			delete(first, (f.Regs[a.Value]+int16(a.Word)+int16(w))^1)
		}
	}
	for i := range in.Dst {
		drop(&in.Dst[i])
	}
	for i := range in.Src[:in.NSrc] {
		drop(&in.Src[i])
	}
	for i := range in.Acc {
		drop(&in.Acc[i])
	}
}

// compact returns insts without the gone ones whose operation is OpInvalid.
func compact(insts []mir.Inst, gone int) []mir.Inst {
	out := make([]mir.Inst, 0, len(insts)-gone)
	for i := range insts {
		if insts[i].Op != mir.OpInvalid {
			out = append(out, insts[i])
		}
	}
	return out
}
