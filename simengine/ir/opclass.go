package ir

// AlwaysExecutes reports whether an instruction is executed whether or not its result is
// needed: accesses to memory, control flow, barriers and operations on mbarriers.
func (o Op) AlwaysExecutes() bool {
	switch o {
	case Ld, Ldu, St, Atom, Red, CpAsync, Tex, Suld, Sust, Bra, Brx, Exit, Trap, Bar, BarRed,
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
	case St, Atom, Red, CpAsync, Sust, BulkCopy, TensormapSet, TensormapCopy:
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

// Path is a piece of the code that a warp executes where the operands of some lane are not served by
// the inline code of a division, reciprocal or square root.
type Path uint8

// Paths. A warp that calls the routine executes PathEntered and, one after another,
// all others that some of its lanes take.
const (
	PathEntered   Path = iota // what all do that call it
	PathUndefined             // a result that is not a number
	PathLimit                 // a result that is zero or infinite because an operand is
	PathScaled                // an ordinary result, of operands that have to be scaled
	PathTiny                  // a denormal result, or one that overflows
	NumPaths
)

// HasSlowPath reports whether the machine code of an operation calls a routine for unusual operands.
// Divisions, reciprocals and square roots that round correctly do.
func HasSlowPath(in *Instr) bool {
	if in.Type != F32 && in.Type != F64 || in.Mod&(ModApprox|ModFull) != 0 {
		return false
	}
	return in.Op == Div || in.Op == Rcp || in.Op == Sqrt
}
