package mir

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Conflict says whether two accesses must stay in order.
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

func IsBranch(op Op) bool {
	c := op.Class()
	return c == Branch || c == Exit || op == OpTRAP
}
