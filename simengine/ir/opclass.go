package ir

// AlwaysExecutes reports whether an instruction is executed whether or not its result is
// needed: accesses to memory, control flow, barriers and operations on mbarriers.
func (o Op) AlwaysExecutes() bool {
	switch o {
	case Ld, Ldu, St, Atom, Red, CpAsync, Bra, Brx, Exit, Trap, Bar, BarRed,
		MbarInit, MbarInval, MbarArrive, MbarExpect, MbarWait, CpAsyncArrive, BulkCopy, BulkPrefetch, BulkCommit, BulkWait, ClusterBarrier:
		return true
	}
	return false
}

// ReadsAny reports whether an instruction reads a register of a set, its guard included.
func (in *Instr) ReadsAny(set BitSet) bool {
	var buf [8]Reg
	for _, r := range in.AppendUses(buf[:0]) {
		if set.Has(r) {
			return true
		}
	}
	return false
}

// WritesMemory reports whether an instruction writes shared, local or device memory. Mbarriers
// do not count.
func (o Op) WritesMemory() bool {
	switch o {
	case St, Atom, Red, CpAsync, BulkCopy, TensormapSet, TensormapCopy:
		return true
	}
	return false
}

// Mirrored reports whether a load or store of local memory also moves a register that holds the same
// as its place (sroa.Mirror): the last source of the load, the destination of the store.
func (in *Instr) Mirrored() bool {
	return in.Op == Ld && len(in.Src) == 2 || in.Op == St && len(in.Dst) == 1
}

// Ends reports an instruction that control never passes.
func Ends(in *Instr) bool {
	switch in.Op {
	case Exit, Trap, Bra, Brx:
		return in.Guard == NoReg
	}
	return false
}
