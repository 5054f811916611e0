package code

import "github.com/warptune/warptune/simengine/ir"

// WarpsIndependent reports whether the slice neither waits for other warps nor reads what they may
// have written. It has no barriers, needs nothing from shared memory, and writes no device memory
// that it needs.
func (c *compiler) warpsIndependent() bool {
	for pc := range c.k.Instrs {
		in := &c.k.Instrs[pc]
		if isAsync(in.Op) {
			return false
		}
		switch in.Op {
		case ir.Bar, ir.BarRed, ir.ClusterBarrier:
			return false
		case ir.Ld, ir.Ldu, ir.Atom:
			if c.needed[pc] && (in.Space == ir.Shared || in.Space == ir.SharedCluster || in.Space == ir.Generic) {
				return false
			}
		}
	}
	return c.p.Rewritable
}

// WarpsIndependent reports whether what a warp executes does not depend on the other warps of its
// CTA.
func (p *Program) WarpsIndependent() bool { return p.independent }
