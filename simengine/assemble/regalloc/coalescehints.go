package regalloc

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Chains of multiply-adds that share a register.

// coalesceHints returns, by value, the value that should take over its register: the result of the
// multiply-add that reads it last. ptxas keeps such chains in one register, which decides the banks
// of their other operands (ptxas corpus, sm_90).
func coalesceHints(f *mir.Func, ranges []liveRange) []vreg.Value {
	next := make([]vreg.Value, len(f.Values))
	for v := range next {
		next[v] = vreg.None
	}
	for _, b := range f.Order {
		for i := range f.Blocks[b].Insts {
			in := &f.Blocks[b].Insts[i]
			if (in.Op != mir.OpFFMA && in.Op != mir.OpIMADWIDE) || in.KeepsOld || in.Dst[0].Kind != mir.ArgValue {
				continue
			}
			d := in.Dst[0].Value
			if len(ranges[d].all) != 1 {
				continue
			}
			for _, k := range [...]int{2, 0, 1} {
				a := &in.Src[k]
				if a.Kind != mir.ArgValue || f.Values[a.Value].File != vreg.General || f.Values[a.Value].Words != f.Values[d].Words || len(ranges[a.Value].all) != 1 || next[a.Value] != vreg.None {
					continue
				}
				if ranges[a.Value].all[0].to == ranges[d].all[0].from {
					next[a.Value] = d
					break
				}
			}
		}
	}
	return next
}
