// Package arch describes GPU architectures: data files with a source for every
// number, and the CUDA rules that follow from them without any timing: register
// and shared memory allocation granularity, occupancy and its limiter, and the
// shared memory carve-out the driver picks.
//
// It holds no model of time; package timing reads its descriptors.
package arch

// Number is one figure of a descriptor with where it comes from.
type Number struct {
	Value  float64
	Unit   string
	Source string
	// Verified is false for figures nobody re-read or measured.
	Verified bool
}

// Descriptor is one GPU. All sizes are bytes, all latencies SM cycles, all
// bandwidths bytes per SM cycle for the whole device unless the name says
// otherwise. It is immutable after Load.
type Descriptor struct {
	Name    string   // "h200"
	Aliases []string // other accepted spellings
	Title   string   // "NVIDIA H200 SXM"
	CC      [2]int   // compute capability
	Digest  string   // sha-256 of the descriptor's canonical content

	// Shape.
	SMs           int
	SubPartitions int // schedulers an SM
	ClockMHz      float64
	DualIssue     bool // Kepler: two independent instructions a scheduler and cycle

	// Residency limits of one SM.
	MaxThreads, MaxWarps, MaxCTAs   int
	MaxThreadsPerCTA                int
	Registers, MaxRegistersPerCTA   int
	MaxRegistersPerThread           int
	RegisterUnit                    int   // registers a warp's allocation is rounded to
	WarpUnit                        int   // warps a CTA's register check is rounded to
	SharedPerCTA, SharedPerCTAOptIn int   // bytes
	SharedUnit, SharedReserved      int   // bytes: granularity; system use per CTA
	CarveOuts                       []int // legal shared memory sizes of an SM, bytes, ascending
	UnifiedL1                       int   // bytes of L1 + shared when unified, 0 when split
	L1Dedicated                     int   // bytes of L1/texture cache when split

	// Pipes: lanes a cycle and SM.
	Lanes map[string]float64 // fp32, int32, imad, fp64, half, mufu, xu, lsu, shuffle, uniform, branch
	// Latency in cycles: alu, fma, imad, fp64, mufu, xu, shared, l1, l2, dram,
	// constant, constant_miss, shuffle, barrier, s2r, atomic_shared, atomic_l2, ...
	Latency map[string]float64

	// Memory system.
	BankWidth                                                  int     // shared memory bank width, bytes
	L1BytesPerCycle                                            float64 // one SM
	L1TagsPerCycle                                             float64 // lines looked up a cycle
	L2Bytes                                                    int
	L2EffectiveBytes                                           int     // capacity one SM's data sees
	L2BytesPerCycle                                            float64 // all slices together
	L2BytesPerCycleSM                                          float64 // one SM's port
	DRAMBytesPerSecond                                         float64 // peak
	DRAMReadEfficiency, DRAMWriteEfficiency, DRAMMixEfficiency float64
	DRAMGranule                                                int // bytes

	// Launch.
	LaunchGapUS   float64 // between back-to-back launches
	CTALaunchRate float64 // CTAs a cycle, whole grid
	CTATurnaround float64 // cycles from a CTA's last exit to its slot running again

	// Numbers holds every figure of the file by name, with its source.
	Numbers map[string]Number
}
