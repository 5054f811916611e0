package verify

import "github.com/warptune/warptune/simengine/ir"

// answered is a forward taint analysis. It returns the registers that may hold the result of an
// atomic on global memory, or a value computed from one: which CTA gets which result depends on
// timing. A state space is tainted as a whole.
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
