package ir

// Asynchronous instructions (PTX ISA, sections on mbarrier, cp.async.bulk, tensormap and wgmma), and
// their operands in Instr.Src. An address is an OperandAddr. Operands in brackets may be missing.
//
//	Wgmma            the registers of A, or one descriptor; the descriptor of B; the registers of the
//	                 accumulators, those of Dst; scale-d, a predicate or an immediate
//	WgmmaWait        an immediate
//	MbarInit         the mbarrier's address; its count
//	MbarInval        address
//	MbarArrive       address; [count; with ModTx the bytes]; Dst the state, NoReg where none is given
//	MbarExpect       address; bytes
//	MbarWait         address; the phase's state, or with ModParity its parity; [a time]; Dst a predicate
//	CpAsyncArrive    address; ModAll: .noinc
//	BulkCopy         where to; where from; see Bulk
//	BulkPrefetch     where from; see Bulk
//	BulkWait         an immediate
//	FenceProxy       of tensor maps (Space ParamSpace) with ModAcquire: the map's address; 128. Else Space says
//	                 between which accesses and asynchronous ones, Generic: all; with ModAll .alias; with
//	                 ModRelease and Space Shared fence.mbarrier_init
//	TensormapSet     the map's address; [an ordinal;] the value; Field says what it replaces
//	TensormapCopy    the destination's address; the source's, in shared memory; 128
//	Setmaxnreg       an immediate
//	ClusterBarrier   none; the order is ModRelaxed, ModAcquire or ModRelease
//	Mapa, GetCTARank as PTX has them
//	CreatePolicy     none: what the policy is made of is read and dropped, as are policies where they are used
//
// The mbarriers' addresses are of Space Shared, SharedCluster, where they may be at another CTA, or Generic.
// That of a BulkCopy is of the space To. Tensor maps' addresses are generic.

// Bulk describes a BulkCopy or BulkPrefetch. Of bytes the operands after the addresses are the size
// [; the mbarrier's address][; the mask of CTAs]. Of a box of a tensor the address in device memory is
// the tensor map's, and Dims coordinates, innermost first, follow the addresses.
type Bulk struct {
	To, From  Space  // Shared, SharedCluster or Global; To of a prefetch is Global
	Dims      int    // of the tensor, 1 to 5; 0: bytes
	Barrier   bool   // it completes at an mbarrier, by bytes; else its thread's bulk groups know it
	Multicast bool   // to the CTAs of a mask
	Reduce    AtomOp // cp.reduce: what is done with the elements, of Type; AtomNone: they are replaced
}

// Async reports whether an operation is one of those below, but for those that only compute a value.
func (o Op) Async() bool { return o >= Wgmma && o < NumOps && o != GetCTARank && o != CreatePolicy }

// Coordinates returns the coordinates of a tensor's box.
func (in *Instr) Coordinates() []Operand {
	from := 2
	if in.Op == BulkPrefetch {
		from = 1
	}
	return in.Src[from : from+in.Bulk.Dims]
}

// RankShift is the bit from which on an address of shared memory of a cluster has the rank of its CTA plus one. 0 is the
// CTA that uses the address.
const RankShift = 24

// FencesBeyondCTA reports whether an instruction waits until the rest of the device sees what its threads wrote: a fence
// of a scope beyond the CTA, or what releases at one.
func (in *Instr) FencesBeyondCTA() bool {
	return in.Op == Membar && in.Scope > ScopeCTA || in.ReleasesBeyondCTA()
}

// ReleasesBeyondCTA reports whether an instruction is a store, an atomic or an arrival at an mbarrier with release
// semantics at a scope beyond the CTA. Before the instruction ptxas makes MEMBAR.ALL.GPU and ERRBAR, and
// MEMBAR.ALL.CTA before these for an mbarrier (13.0.88, sm_90a).
func (in *Instr) ReleasesBeyondCTA() bool {
	return (in.Op == MbarArrive || in.Op == St || in.Op == Atom || in.Op == Red) && in.Mod&ModRelease != 0 && in.Scope > ScopeCTA
}

// Mbarrier returns the address of the mbarrier at which a BulkCopy completes; nil: none.
func (in *Instr) Mbarrier() *Operand {
	switch {
	case in.Op != BulkCopy || !in.Bulk.Barrier:
		return nil
	case in.Bulk.Dims > 0:
		return &in.Src[2+in.Bulk.Dims]
	}
	return &in.Src[3]
}

// MapField is a field of a tensor map that TensormapSet replaces.
type MapField uint8

// Fields of tensor maps.
const (
	MapAddress MapField = iota + 1
	MapRank
	MapBox
	MapShape
	MapStride
	MapElementStride
	MapElement
	MapInterleave
	MapSwizzle
	MapFill
)
