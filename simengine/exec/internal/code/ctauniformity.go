package code

import "github.com/warptune/warptune/simengine/ir"

// ctaUniformity is in what the CTAs of any launch of a kernel are the same. It is a forward
// data-flow analysis: what is computed from the CTA's index, or loaded from memory, may differ.
type ctaUniformity struct {
	path   bool // they execute the same blocks and leave out the same iterations
	shared bool // and access the same addresses in shared memory
	data   bool // what they execute, or where they access memory, depends on what is in global memory
}

// findUniformity analyses the instructions that the slice executes.
func (c *compiler) findUniformity() ctaUniformity {
	differ := ir.NewBitSet(len(c.k.Regs)) // registers that may be others in another CTA
	carry := false
	for changed := true; changed; {
		changed = false
		for pc := range c.k.Instrs {
			in := &c.k.Instrs[pc]
			if !c.needed[pc] || len(in.Dst) == 0 && in.Mod&ir.ModCarryOut == 0 || !c.differs(pc, differ) && !(carry && in.Mod&ir.ModCarryIn != 0) {
				continue
			}
			if in.Mod&ir.ModCarryOut != 0 && !carry {
				carry, changed = true, true
			}
			for _, r := range in.Dst {
				if r != ir.NoReg && !differ.Has(r) {
					differ.Add(r)
					changed = true
				}
			}
		}
	}
	a := ctaUniformity{path: true, shared: true}
	for pc := range c.k.Instrs {
		a.restrict(c, pc, differ)
	}
	for i := range c.p.Loops {
		l := &c.p.Loops[i]
		for _, r := range l.Deciding() {
			a.path = a.path && !differ.Has(r)
		}
	}
	a.shared = a.shared && a.path
	for pc := range c.k.Instrs {
		if in := &c.k.Instrs[pc]; c.needed[pc] && in.Op == ir.Ld && in.Space == ir.Global {
			a.data = true
		}
	}
	return a
}

// differs reports whether the result of an instruction may differ between CTAs. differ is the
// registers that may.
func (c *compiler) differs(pc int, differ ir.BitSet) bool {
	in := &c.k.Instrs[pc]
	switch in.Op {
	case ir.MbarWait:
		return false // it is true at once
	case ir.GetCTARank:
		return true
	}
	for i := range in.Src {
		if s := &in.Src[i]; s.Kind == ir.OperandSpecial && (namesCTA(s.Special) || s.Special.IsClock()) {
			return true
		}
	}
	return in.ReadsAny(differ)
}

// namesCTA reports whether a special register tells CTAs apart.
func namesCTA(s ir.Special) bool {
	switch s {
	case ir.CTAIdX, ir.CTAIdY, ir.CTAIdZ, ir.ClusterIdX, ir.ClusterIdY, ir.ClusterIdZ,
		ir.ClusterCTAIdX, ir.ClusterCTAIdY, ir.ClusterCTAIdZ, ir.ClusterCTARank:
		return true
	}
	return false
}

// restrict takes away what an instruction does not let CTAs have in common. What a load finds in
// memory may differ.
func (a *ctaUniformity) restrict(c *compiler, pc int, differ ir.BitSet) {
	in := &c.k.Instrs[pc]
	other := in.ReadsAny(differ)
	switch in.Op {
	case ir.Bra, ir.Brx, ir.Exit, ir.Trap, ir.Bar, ir.BarRed, ir.BarWarp:
		a.path = a.path && !other
	case ir.CpAsync:
		if c.needed[pc] {
			*a = ctaUniformity{}
		}
		address := ir.Instr{Guard: in.Guard, Src: in.Src[:1]}
		a.shared = a.shared && !address.ReadsAny(differ)
	case ir.MbarInit, ir.MbarInval, ir.MbarArrive, ir.MbarExpect, ir.MbarWait, ir.CpAsyncArrive:
		a.shared = a.shared && !other
	case ir.BulkCopy, ir.BulkPrefetch, ir.TensormapSet, ir.TensormapCopy:
		a.shared = false
	case ir.Tex, ir.Suld, ir.Sust:
		if c.needed[pc] {
			*a = ctaUniformity{}
		}
	case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red:
		constant := in.Space == ir.ParamSpace || in.Space == ir.Const
		if c.needed[pc] && (!constant || other) || in.Space == ir.Generic {
			*a = ctaUniformity{}
		}
		if in.Space == ir.Shared || in.Space == ir.SharedCluster {
			address := ir.Instr{Guard: in.Guard, Src: in.Src[:1]}
			a.shared = a.shared && !address.ReadsAny(differ)
		}
	}
}

// SamePath reports whether all CTAs of any launch execute the same blocks, with the same Work.
func (p *Program) SamePath() bool { return p.uniform.path }

// DataDecides reports whether what CTAs execute, or where they access memory, depends on what is in global memory.
func (p *Program) DataDecides() bool { return p.uniform.data }

// SameShared reports whether all CTAs of any launch access the same addresses in shared memory.
func (p *Program) SameShared() bool { return p.uniform.shared }
