package code

import (
	"github.com/warptune/warptune/simengine/ir"
)

// findWaits notes whether warps wait for each other beside at barriers of the CTA. A slice in which they
// do follows that only if it reads shared memory that one warp or copy writes for another: then it
// blocks as Full mode does, and its loops are executed whole.
func (c *compiler) findWaits() {
	read, write := false, false
	for pc := range c.k.Instrs {
		in := &c.k.Instrs[pc]
		if c.p.Mode == Slice && !c.needed[pc] && in.Op != ir.MbarWait && in.Op != ir.ClusterBarrier {
			continue
		}
		switch in.Op {
		case ir.BulkCopy, ir.Wgmma:
			c.p.Tracks = c.p.Mode == Full
			write = write || in.Op == ir.BulkCopy && in.Bulk.To != ir.Global
		case ir.MbarWait, ir.ClusterBarrier:
			c.p.Waits = true
		case ir.Ld, ir.Atom:
			read = read || (in.Space == ir.Shared || in.Space == ir.SharedCluster || in.Space == ir.Generic) && !in.Mirrored()
		}
		write = write || in.Op.WritesMemory() && in.Op != ir.BulkCopy && in.Space != ir.Global && in.Space != ir.Local && !in.Mirrored()
	}
	c.p.Blocking = c.p.Mode == Full || c.p.Waits && read && write
}

// CanFilterRaces reports whether the filter serves for a kernel. It does not where strong accesses
// order accesses, which would look like races, nor where a second run of a CTA would not do the same
// as the first.
func (p *Program) CanFilterRaces() bool {
	if p.Mode != Slice || !p.Rewritable {
		return false
	}
	for pc := range p.Kernel.Instrs {
		in := &p.Kernel.Instrs[pc]
		if IsStrong(in) && (in.Space == ir.Shared || in.Space == ir.Generic) {
			return false
		}
	}
	return true
}

// IsStrong reports whether an access is part of the kernel's synchronisation.
func IsStrong(in *ir.Instr) bool {
	return in.Op == ir.Atom || in.Op == ir.Red || in.Mod&(ir.ModVolatile|ir.ModRelaxed|ir.ModAcquire|ir.ModRelease) != 0
}
