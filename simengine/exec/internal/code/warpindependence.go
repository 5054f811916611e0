package code

import "github.com/warptune/warptune/simengine/ir"

// warpsApart reports whether the slice of a warp neither waits for other warps nor needs what they may have written,
// and whether it at most meets them at barriers of all. The slice needs nothing from shared memory, and writes no device
// memory that it needs. In Slice mode waits for mbarriers end at once.
func (c *compiler) warpsApart() (independent, onlyMeet bool) {
	waits := false
	for pc := range c.k.Instrs {
		in := &c.k.Instrs[pc]
		waits = waits || isAsync(in.Op)
		switch in.Op {
		case ir.BarRed, ir.TensormapSet, ir.TensormapCopy:
			return false, false
		case ir.Bar:
			if len(in.Src) > 1 { // of a part of the CTA
				return false, false
			}
			waits = true
		case ir.ClusterBarrier:
			waits = true
		case ir.Ld, ir.Ldu, ir.Atom:
			if c.needed[pc] && (in.Space == ir.Shared || in.Space == ir.SharedCluster || in.Space == ir.Generic) {
				return false, false
			}
		}
	}
	return c.p.Rewritable && !waits, c.p.Rewritable && !c.p.Blocking
}

// WarpsIndependent reports whether what a warp executes does not depend on the other warps of its
// CTA.
func (p *Program) WarpsIndependent() bool { return p.independent }

// WarpsOnlyMeet is WarpsIndependent but for barriers of all warps, at which the warps that are executed wait for each
// other.
func (p *Program) WarpsOnlyMeet() bool { return p.onlyMeet }
