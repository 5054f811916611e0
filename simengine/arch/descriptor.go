package arch

// Number is one figure of a descriptor with where it comes from.
type Number struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`
	// Verified is false for figures nobody re-read or measured: datasheet
	// values quoted from memory, and values carried over from a related part.
	Verified bool `json:"verified"`
}

// Descriptor is one GPU. All sizes are bytes, all latencies SM cycles, all
// bandwidths bytes per SM cycle for the whole device unless the name says
// otherwise. It is immutable after Load and Parse; its maps and slices are
// shared and must not be written.
type Descriptor struct {
	Name    string   // "h200"
	Aliases []string // other accepted spellings
	Title   string   // "NVIDIA H200 SXM"
	CC      [2]int   // compute capability
	Digest  string   // sha-256 of the descriptor's canonical content, hex

	Shape
	Residency
	SharedMemory
	Pipes
	Memory
	Launch
	Asynchronous

	// Latency in SM cycles from issue to a dependent instruction's issue, by
	// the Latency… keys; every key is present and positive.
	Latency map[string]float64

	// Numbers holds every figure of the file by its name there, with its source.
	Numbers map[string]Number
}

// Shape is what the device consists of.
type Shape struct {
	SMs           int
	SubPartitions int     // schedulers an SM, each with its part of the register file
	ClockMHz      float64 // SM clock the latencies and rates are turned into time with
	IssueWidth    int     // instructions a scheduler can issue in a cycle: 2 on Kepler and Pascal, else 1
	DualIssue     bool    // IssueWidth > 1: the second instruction must be independent of the first
}

// Residency limits what one SM holds at a time.
type Residency struct {
	MaxThreads, MaxWarps, MaxCTAs int
	MaxThreadsPerCTA              int
	MaxBarriers                   int // hardware barriers an SM, 0 = not a limit of its own
	Registers, MaxRegistersPerCTA int
	MaxRegistersPerThread         int
	RegisterUnit                  int // registers a warp's allocation is rounded up to
	WarpUnit                      int // warps a CTA's register check is rounded up to
}

// SharedMemory is the shared memory of an SM, its allocation rules and its banks.
type SharedMemory struct {
	SharedPerCTA      int   // largest static allocation that ptxas takes
	SharedPerCTAOptIn int   // largest dynamic allocation after opting in
	SharedUnit        int   // granularity of a CTA's allocation
	SharedReserved    int   // taken by the system per CTA, beside what the kernel asks for
	CarveOuts         []int // legal shared memory sizes of an SM, ascending, the 0 size included where it exists
	UnifiedL1         int   // L1 + shared memory of an SM when unified, 0 when split
	L1Dedicated       int   // L1/texture cache of an SM when split, 0 when unified
	Banks             int
	BankWidth         int  // bytes; Kepler 8, see BankWidthSwitch
	BankWidthSwitch   bool // of two modes, 4 and 8 bytes, the 4-byte one is the default
	// SharedBytesPerCycle is what all banks of an SM together deliver; a pass
	// through them takes Banks x BankWidth of it.
	SharedBytesPerCycle float64
}

// Pipes holds lanes a cycle and SM, by the Lane… keys; every key is present and
// positive. A warp instruction occupies its pipe for 32/lanes cycles of the SM,
// the lanes being spread evenly over the sub-partitions.
type Pipes struct {
	Lanes map[string]float64
	// SharedFP32Int says that half of the fp32 lanes are the int32 lanes
	// (compute capability 8.6, 8.9): int32 work takes fp32 issue slots.
	SharedFP32Int bool
	// MemoryQueue is how many memory instructions a sub-partition queues in
	// front of the SM's memory pipe before its warps stall.
	MemoryQueue int
	// LoadQueue is how many loads beyond those wait in the SM's memory pipe
	// itself, from all sub-partitions; stores wait in their sub-partition.
	LoadQueue int
	// MemoryIssue is the cycles between two memory instructions of one
	// sub-partition entering the SM's memory pipe.
	MemoryIssue float64
	// ThreeReads is how long an FMA that reads three registers holds its pipe at
	// least: the register file delivers two a cycle, one from each of two banks.
	// An operand that the instruction before read in the same place is kept.
	ThreeReads float64
	// PairReads is how long an instruction of the fp64 pipe holds its scheduler's issue slot for each pair of
	// registers that it reads, at least a cycle in all. Until it has read them no other pipe of the sub-partition
	// is given work.
	PairReads float64
	// MemoryReads is how much longer than a cycle an instruction of the memory pipe holds
	// the issue slot for each register that it reads, address and data.
	MemoryReads float64
	// TensorRate is MMAs an SM does in a cycle whose A takes four registers of a lane (m16n8k16 of halves, m16n8k8
	// of tf32, m16n8k32 of bytes). TensorShortRate is of those whose A takes two or one, and TensorDoubleRate of
	// those of doubles (m8n8k4). Each is 0 where there are no tensor cores for them.
	TensorRate, TensorShortRate, TensorDoubleRate float64
	// TensorSingle is how many times as long a product with sums in single precision takes.
	TensorSingle float64
	// TensorReads is how long such a product holds the issue slot for each register that it reads.
	TensorReads float64
	// TensorLatency, TensorShortLatency and TensorDoubleLatency are the cycles until its result
	// can be added to.
	TensorLatency, TensorShortLatency, TensorDoubleLatency float64
	// ProductSlots is how long a product of which the upper word is wanted holds the issue
	// slot, cycles.
	ProductSlots float64
	// ConstantsPerCycle is the distinct constant addresses an SM reads in a
	// cycle: a warp's indexed load takes one turn for each.
	ConstantsPerCycle float64
	// TextureQuads is the quads of lanes that an SM's texture units serve in a cycle, TextureLatency the cycles from
	// there to a result from L1, of which turns and words of the fetch take more; 0 where they were not measured.
	TextureQuads, TextureLatency float64
	// InstructionFetch is the cycles an instruction of a warp takes when the
	// straight-line code exceeds Memory.InstructionBytes.
	InstructionFetch float64
}

// DRAMPercentiles are the percentiles at which Memory.DRAMWaits is given.
var DRAMPercentiles = [...]float64{1, 10, 25, 50, 75, 90, 99}

// Memory is the path from an SM's L1 to DRAM.
type Memory struct {
	L1BytesPerCycle float64 // one SM, loads that hit
	// Tag lookups of a request to n distinct lines take
	// n/L1TagsPerCycle + L1TagOverhead cycles, at least 1.
	L1TagsPerCycle   float64
	L1TagOverhead    float64
	StoreLineCycles  float64 // how long a store holds the load/store unit for each line it writes
	L1MSHRs          int     // lines (or sectors) in flight from one SM
	ConstantBytes    int     // first-level constant cache of an SM
	ConstantL15Bytes int     // second-level constant cache of an SM
	InstructionBytes int     // first-level instruction cache of a sub-partition
	L2Bytes          int
	L2Partitions     int // halves with a slow link between them: 2 on A100, H100 and later
	L2EffectiveBytes int // capacity for data that all SMs read
	// L2Slices is how many parts of L2 take requests side by side. One takes
	// AtomicRequest + n*AtomicSector cycles for the lanes of an atomic that fall on
	// n sectors of a line, each on words of its own.
	L2Slices, AtomicRequest, AtomicSector float64
	// DRAMWaits is how long reads of single lines wait for an idle DRAM, at
	// DRAMPercentiles of them, in parts of latency.dram: rows that are open or not,
	// refreshes, and which half of the chip.
	DRAMWaits [len(DRAMPercentiles)]float64
	// L2Kept is the share of L2Bytes up to which a launch finds everything that
	// the previous one touched, L2KeptUntil that from which it finds nothing.
	L2Kept, L2KeptUntil float64
	L2BytesPerCycle     float64 // all slices together, hits
	// L2MergedBytesPerCycle is what all SMs get together of lines that several of a group ask for at about the same
	// time, of which L2 serves one. L2MergingGroups is into how many groups SMs fall. 0: nothing is known of it,
	// and each request counts.
	L2MergedBytesPerCycle float64
	L2MergingGroups       float64
	L2BytesPerCycleSM     float64 // one SM's port, loads
	// L2WriteBytesPerCycle is what all slices together take in stores that hit.
	L2WriteBytesPerCycle   float64
	L2WriteBytesPerCycleSM float64 // one SM's port, stores
	// AtomicsPerCycle is 32-bit read-modify-writes a cycle of all slices together on
	// distinct addresses of lines that are added to again at once, AtomicsApart of
	// lines that are not; AtomicsSameAddress on one address.
	AtomicsPerCycle    float64
	AtomicsApart       float64
	AtomicsSameAddress float64
	// AtomicsSameAddressFloat is the same for floating-point additions, and
	// AtomicsWarpAddress for lanes of one address that only their warp uses.
	AtomicsSameAddressFloat float64
	AtomicsWarpAddress      float64

	DRAMBytes          int     // size of device memory, no less than can be allocated; 0: not said
	DRAMBytesPerSecond float64 // peak
	// ManagedReadBytes, ManagedWrittenBytes and ManagedFirstBytes are the bytes of managed memory a second that a kernel's
	// faults bring: pages of the host that are read, such that are written, and pages that nobody has touched before.
	// ManagedFaultUS is what a launch with any faults takes beside, microseconds. ManagedTogether is the time of several
	// buffers' faults, of that of one after another. 0 where they were not measured.
	ManagedReadBytes, ManagedWrittenBytes, ManagedFirstBytes, ManagedFaultUS float64
	ManagedTogether                                                          float64
	// Achieved share of the peak of long streams by what they do: reads only,
	// writes only, equal reads and writes. DRAMEfficiency interpolates.
	DRAMReadEfficiency, DRAMWriteEfficiency, DRAMMixEfficiency float64
	DRAMGranule                                                int // bytes of the smallest DRAM access
	// DRAMPieceBytes is how many bytes in a row DRAM moves for one opening;
	// opening holds it as long as moving DRAMOpening granules, as far as other
	// banks do not hide it.
	DRAMPieceBytes int
	DRAMOpening    float64
}

// Launch is the cost of starting grids and CTAs.
type Launch struct {
	LaunchGapUS   float64 // between back-to-back launches of an empty kernel, start to start, microseconds
	CTALaunchRate float64 // CTAs a cycle, whole grid
	CTATurnaround float64 // cycles a store-only one-element CTA of one warp holds its slot, launch to replacement
	// CTATurnaroundEmpty is the same for a CTA that only exits: what launching
	// and retiring cost beside the CTA's instructions. Each warp after the first
	// adds CTATurnaroundWarp.
	CTATurnaroundEmpty float64
	CTATurnaroundWarp  float64
}

// Asynchronous is what runs beside the warps: warpgroup MMAs, bulk copies, mbarriers, clusters. All figures
// are 0 where the GPU has none of it. Latencies are SM cycles.
type Asynchronous struct {
	// WgmmaColumns is the columns of B (N) that an SM multiplies by a tile of A in a cycle. A product of m64nNk16
	// of halves, or as many bytes of other types, takes N/WgmmaColumns cycles, and no fewer than WgmmaLeast where A
	// is in registers. Where A is in shared memory it is read at the rate of its banks, as B is.
	WgmmaColumns, WgmmaLeast float64
	// WgmmaLatencyShared and WgmmaLatencyRegisters, by where A is, are from issue to result, the
	// product's own cycles aside.
	WgmmaLatencyShared, WgmmaLatencyRegisters float64
	// BulkLatency is from the issue of a bulk copy of a line that is in L2 to the going on of who waits for it,
	// BulkIssue the cycles that the thread takes to issue one where lanes take turns. BulkBytesPerCycle is what one SM
	// copies from L2.
	BulkLatency, BulkIssue, BulkBytesPerCycle float64
	// BulkStoreLatency is from the issue of a store of a line to the going on of who waits for its end,
	// BulkStoreIssue what its thread takes to issue one.
	BulkStoreLatency, BulkStoreIssue float64
	// MbarrierHandover is from an arrival to the going on of another warp of the CTA, MbarrierRemote of another
	// CTA of the cluster (released at its scope); MbarrierWait what a wait takes for what has been, MbarrierArrive
	// an arrival.
	MbarrierHandover, MbarrierRemote, MbarrierWait, MbarrierArrive float64
	// FenceProxy is a fence between ordinary and bulk accesses to shared memory.
	FenceProxy float64
	// ClusterBarrier is an arrival at the barrier of a cluster and the wait for the others, ClusterBarrierRelease
	// with what was written before released.
	ClusterBarrier, ClusterBarrierRelease float64
	// ClusterLoadLatency is that of a word of another CTA's shared memory; ClusterLoadBytesPerCycle and
	// ClusterStoreBytesPerCycle what an SM loads from and stores to others'.
	ClusterLoadLatency, ClusterLoadBytesPerCycle, ClusterStoreBytesPerCycle float64
	// Setmaxnreg is a change of a warp's registers.
	Setmaxnreg float64
	// Clusters2 to Clusters16 are how many clusters of so many CTAs, of one CTA an SM, the device holds:
	// a cluster is in one GPC.
	Clusters2, Clusters4, Clusters8, Clusters16 int
	// UniformResult is from the issue of an instruction of the uniform datapath to that of one that needs its result.
	UniformResult float64
	// L2LookupBytesPerCycle is what L2's slices look up of copies to shared memory in a cycle.
	L2LookupBytesPerCycle float64
	// ClockTensor is the SM clock, MHz, when tensor cores are used for a small part of the time, ClockTensorFull
	// when they are busy all the time on all SMs; 0: as without them.
	ClockTensor, ClockTensorFull float64
}

// Keys of Pipes.Lanes.
const (
	LaneFP32    = "fp32"    // FADD, FMUL, FFMA
	LaneInt32   = "int32"   // IADD3, LOP3, ISETP, SEL, MOV
	LaneShift   = "shift"   // SHF
	LaneIMAD    = "imad"    // IMAD and its moves
	LaneFP64    = "fp64"    // DADD, DMUL, DFMA
	LaneHalf    = "half"    // HADD2, HFMA2: lanes of two elements each
	LaneMUFU    = "mufu"    // MUFU: reciprocal, root, sine, exp2, log2
	LaneXU      = "xu"      // conversions between types, POPC, FLO, BREV
	LaneLSU     = "lsu"     // address lanes of the load/store pipe
	LaneShuffle = "shuffle" // SHFL
	LaneUniform = "uniform" // the uniform datapath: warp instructions x 32
	LaneBranch  = "branch"  // BRA, BSYNC, EXIT: warp instructions x 32
)

// Keys of Descriptor.Latency.
const (
	LatencyALU          = "alu"
	LatencyFMA          = "fma"
	LatencyIMAD         = "imad"
	LatencyFP64         = "fp64"
	LatencyHalf         = "half"
	LatencyMUFU         = "mufu"
	LatencyXU           = "xu"
	LatencyPredicate    = "predicate" // a compare's result to the branch or guard that reads it
	LatencyBranch       = "branch"
	LatencyUniform      = "uniform"
	LatencyShared       = "shared"
	LatencyL1           = "l1"
	LatencyL2           = "l2"     // nearer half
	LatencyL2Far        = "l2_far" // other half; equal to l2 on a part with one
	LatencyDRAM         = "dram"
	LatencyConstant     = "constant"      // hit in the first level, indexed (LDC)
	LatencyConstantL15  = "constant_l15"  // hit in the second level
	LatencyConstantMiss = "constant_miss" // served by L2
	LatencyShuffle      = "shuffle"
	LatencyVote         = "vote"
	LatencyBarrier      = "barrier"      // BAR.SYNC of a CTA with one warp
	LatencyBarrierWarp  = "barrier_warp" // what each further warp adds to it
	LatencyS2R          = "s2r"
	LatencyAtomicShared = "atomic_shared"
	LatencyAtomicL2     = "atomic_l2" // returning atomic on a global address
	LatencyFenceCTA     = "fence_cta"
	LatencyFenceGPU     = "fence_gpu"
)

// L1Bytes is the L1 cache left to one SM with carveOut bytes of shared memory.
func (d *Descriptor) L1Bytes(carveOut int) int {
	if d.UnifiedL1 == 0 {
		return d.L1Dedicated
	}
	return max(d.UnifiedL1-carveOut, 0)
}

// DRAMBytesPerCycle is the peak DRAM bandwidth in bytes an SM cycle.
func (d *Descriptor) DRAMBytesPerCycle() float64 {
	return d.DRAMBytesPerSecond / (d.ClockMHz * 1e6)
}

// DRAMEfficiency is the share of the peak that a long stream reaches when
// writeShare (0…1) of its bytes are written, linear between the three measured
// points 0, 1/2 and 1.
func (d *Descriptor) DRAMEfficiency(writeShare float64) float64 {
	w := min(max(writeShare, 0), 1)
	if w <= 0.5 {
		return d.DRAMReadEfficiency + (d.DRAMMixEfficiency-d.DRAMReadEfficiency)*w*2
	}
	return d.DRAMMixEfficiency + (d.DRAMWriteEfficiency-d.DRAMMixEfficiency)*(w-0.5)*2
}

// Microseconds turns SM cycles into microseconds at the descriptor's clock.
func (d *Descriptor) Microseconds(cycles float64) float64 { return cycles / d.ClockMHz }
