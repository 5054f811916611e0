package mir

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Conflict reports whether two accesses must stay in order: whether they may touch the same bytes
// and one of them writes.
func Conflict(a, b *Inst) bool {
	if a.NonCoherent || b.NonCoherent {
		return false
	}
	if a.Volatile || b.Volatile {
		return true
	}
	load := func(x *Inst) bool { return x.Op.Class() == Load }
	if load(a) && load(b) {
		return false
	}
	if a.Space != b.Space && a.Space != ir.Generic && b.Space != ir.Generic {
		return false
	}
	if a.MemVar >= 0 && b.MemVar >= 0 && a.MemVar != b.MemVar {
		return false
	}
	if a.MemBase == b.MemBase && (a.MemBase != vreg.None || a.MemVar == b.MemVar) {
		return a.MemOffset < b.MemOffset+int64(b.Width) && b.MemOffset < a.MemOffset+int64(a.Width)
	}
	return true
}

// IsBranch reports whether an operation ends a block.
func IsBranch(op Op) bool {
	c := op.Class()
	return c == Branch || c == Exit || op == OpTRAP
}
