package regalloc

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Register banks. General registers lie in two banks, of even and of odd numbers. An instruction
// that reads all of its operands from one bank takes a cycle longer, and ptxas avoids that, for two
// operands too (ptxas corpus, sm_90). Stores do not count in PTX for one architecture (shared launches of
// bulk_stream, sm_90a: address and data of a store are in one bank as often as not).

// readers lists, for every one-word general value, the instructions that read it together with
// another general register.
type readers struct {
	end   []int32 // end of each value's part of insts
	insts []*mir.Inst
}

// of returns the readers of value v.
func (r *readers) of(v vreg.Value) []*mir.Inst {
	if v == 0 {
		return r.insts[:r.end[0]]
	}
	return r.insts[r.end[v-1]:r.end[v]]
}

// readersOf collects the readers of every value.
func readersOf(f *mir.Func) *readers {
	r := &readers{end: make([]int32, len(f.Values)+1)}
	eachReader(f, func(v vreg.Value, _ *mir.Inst) { r.end[v]++ })
	sum := int32(0)
	for v := range r.end {
		sum, r.end[v] = sum+r.end[v], sum
	}
	r.insts = make([]*mir.Inst, sum)
	eachReader(f, func(v vreg.Value, in *mir.Inst) {
		r.insts[r.end[v]] = in
		r.end[v]++
	})
	return r
}

// eachReader calls visit for every one-word general value that an instruction reads together with
// another general value.
func eachReader(f *mir.Func, visit func(v vreg.Value, in *mir.Inst)) {
	for _, b := range f.Order {
		for i := range f.Blocks[b].Insts {
			in := &f.Blocks[b].Insts[i]
			if f.Target.Specific && in.Op.Class() == mir.Store {
				continue
			}
			n := 0
			for j := range in.Src[:in.NSrc] {
				if a := &in.Src[j]; a.Kind == mir.ArgValue && f.Values[a.Value].File == vreg.General {
					n++
				}
			}
			if n < 2 {
				continue
			}
			for j := range in.Src[:in.NSrc] {
				if a := &in.Src[j]; a.Kind == mir.ArgValue && f.Values[a.Value].File == vreg.General && f.Values[a.Value].Words == 1 {
					visit(a.Value, in)
				}
			}
		}
	}
}

// bankClash reports whether register r for value v would make an instruction read all its operands
// from one bank. assigned is the first register of each value so far, -1 none.
func bankClash(f *mir.Func, v vreg.Value, r int, readers *readers, assigned []int16) bool {
	for _, in := range readers.of(v) {
		clash := true
		for j := range in.Src[:in.NSrc] {
			a := &in.Src[j]
			if a.Kind != mir.ArgValue || a.Value == v || f.Values[a.Value].File != vreg.General {
				continue
			}
			if assigned[a.Value] < 0 || (int(assigned[a.Value])+int(a.Word))%2 != r%2 {
				clash = false
				break
			}
		}
		if clash {
			return true
		}
	}
	return false
}
