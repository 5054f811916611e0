package verify

import "github.com/warptune/warptune/simengine/ir"

// answered are the registers that may hold what an atomic on global memory answered, or
// what was computed of it: which CTA gets which answer is chance. What goes through
// memory is followed through shared and local memory as a whole.
func answered(k *ir.Kernel) ir.BitSet {
	set := ir.NewBitSet(len(k.Regs))
	var through [256]bool // by state space
	var room [16]ir.Reg
	for again := true; again; {
		again = false
		add := func(in *ir.Instr) {
			for _, r := range in.AppendDefs(room[:0]) {
				if !set.Has(r) {
					set.Add(r)
					again = true
				}
			}
		}
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			global := in.Space == ir.Global || in.Space == ir.Generic
			switch {
			case in.Op == ir.Atom && global:
				add(in)
			case in.Op == ir.Ld && (in.Space == ir.Shared || in.Space == ir.Local) && through[in.Space]:
				add(in)
			case in.Op == ir.St && (in.Space == ir.Shared || in.Space == ir.Local):
				for _, o := range in.Src[1:] {
					if o.Kind == ir.OperandReg && set.Has(o.Reg) && !through[in.Space] {
						through[in.Space], again = true, true
					}
				}
			default:
				for _, r := range in.AppendUses(room[:0]) {
					if set.Has(r) {
						add(in)
						break
					}
				}
			}
		}
	}
	return set
}
