package assemble

import "github.com/warptune/warptune/simengine/ir"

// conflict says whether two accesses must stay in order.
func conflict(a, b *inst) bool {
	if a.nc || b.nc {
		return false
	}
	if a.vol || b.vol {
		return true
	}
	load := func(x *inst) bool { return x.op.class() == Load }
	if load(a) && load(b) {
		return false
	}
	if a.space != b.space && a.space != ir.Generic && b.space != ir.Generic {
		return false
	}
	if a.memVar >= 0 && b.memVar >= 0 && a.memVar != b.memVar {
		return false
	}
	if a.memVal == b.memVal && (a.memVal != noValue || a.memVar == b.memVar) {
		return a.memOff < b.memOff+int64(b.width) && b.memOff < a.memOff+int64(a.width)
	}
	return true
}

func isBranch(op mop) bool {
	c := op.class()
	return c == Branch || c == Exit || op == opTRAP
}
