package arch

import (
	"slices"
	"strings"
)

// figure binds one number of a descriptor file to its place in the Descriptor.
type figure struct {
	name string
	unit string
	// Exactly one of the three is set: where the number goes.
	integer func(*Descriptor) *int
	real    func(*Descriptor) *float64
	flag    func(*Descriptor) *bool
	// zero says that 0 is a legal value ("not there").
	zero bool
	// absent says that a descriptor may do without, addition that its digest then does not know of it.
	absent, addition bool
}

func integer(name, unit string, at func(*Descriptor) *int) figure {
	return figure{name: name, unit: unit, integer: at}
}

func optional(name, unit string, at func(*Descriptor) *int) figure {
	return figure{name: name, unit: unit, integer: at, zero: true}
}

func real(name, unit string, at func(*Descriptor) *float64) figure {
	return figure{name: name, unit: unit, real: at}
}

func optionalReal(name, unit string, at func(*Descriptor) *float64) figure {
	return figure{name: name, unit: unit, real: at, zero: true}
}

// lacking is a figure of what not all GPUs have.
func lacking(f figure) figure {
	f.absent, f.addition = true, true
	return f
}

func flag(name string, at func(*Descriptor) *bool) figure {
	return figure{name: name, unit: "flag", flag: at, zero: true}
}

// figures lists every number a descriptor must have. Lanes and latencies follow
// from laneKeys and latencyKeys under "lanes." and "latency.".
var figures = []figure{
	integer("sms", "count", func(d *Descriptor) *int { return &d.SMs }),
	integer("sub_partitions", "count", func(d *Descriptor) *int { return &d.SubPartitions }),
	real("clock", "MHz", func(d *Descriptor) *float64 { return &d.ClockMHz }),
	integer("issue_width", "instructions/cycle", func(d *Descriptor) *int { return &d.IssueWidth }),

	integer("max_threads", "threads", func(d *Descriptor) *int { return &d.MaxThreads }),
	integer("max_warps", "warps", func(d *Descriptor) *int { return &d.MaxWarps }),
	integer("max_ctas", "CTAs", func(d *Descriptor) *int { return &d.MaxCTAs }),
	integer("max_threads_per_cta", "threads", func(d *Descriptor) *int { return &d.MaxThreadsPerCTA }),
	optional("max_barriers", "barriers", func(d *Descriptor) *int { return &d.MaxBarriers }),
	integer("registers", "registers", func(d *Descriptor) *int { return &d.Registers }),
	integer("max_registers_per_cta", "registers", func(d *Descriptor) *int { return &d.MaxRegistersPerCTA }),
	integer("max_registers_per_thread", "registers", func(d *Descriptor) *int { return &d.MaxRegistersPerThread }),
	integer("register_unit", "registers", func(d *Descriptor) *int { return &d.RegisterUnit }),
	integer("warp_unit", "warps", func(d *Descriptor) *int { return &d.WarpUnit }),

	integer("shared_per_cta", "bytes", func(d *Descriptor) *int { return &d.SharedPerCTA }),
	integer("shared_per_cta_optin", "bytes", func(d *Descriptor) *int { return &d.SharedPerCTAOptIn }),
	integer("shared_unit", "bytes", func(d *Descriptor) *int { return &d.SharedUnit }),
	optional("shared_reserved", "bytes", func(d *Descriptor) *int { return &d.SharedReserved }),
	optional("unified_l1", "bytes", func(d *Descriptor) *int { return &d.UnifiedL1 }),
	optional("l1_dedicated", "bytes", func(d *Descriptor) *int { return &d.L1Dedicated }),
	integer("banks", "count", func(d *Descriptor) *int { return &d.Banks }),
	integer("bank_width", "bytes", func(d *Descriptor) *int { return &d.BankWidth }),
	real("shared_bandwidth", "bytes/cycle/SM", func(d *Descriptor) *float64 { return &d.SharedBytesPerCycle }),
	flag("bank_width_switch", func(d *Descriptor) *bool { return &d.BankWidthSwitch }),

	flag("shared_fp32_int", func(d *Descriptor) *bool { return &d.SharedFP32Int }),
	integer("memory_queue", "instructions", func(d *Descriptor) *int { return &d.MemoryQueue }),
	integer("load_queue", "instructions", func(d *Descriptor) *int { return &d.LoadQueue }),
	real("memory_issue", "cycles", func(d *Descriptor) *float64 { return &d.MemoryIssue }),
	real("three_reads", "cycles", func(d *Descriptor) *float64 { return &d.ThreeReads }),
	real("pair_reads", "cycles", func(d *Descriptor) *float64 { return &d.PairReads }),
	optionalReal("memory_reads", "cycles", func(d *Descriptor) *float64 { return &d.MemoryReads }),
	real("product_slots", "cycles", func(d *Descriptor) *float64 { return &d.ProductSlots }),

	optionalReal("tensor_rate", "products/cycle/SM", func(d *Descriptor) *float64 { return &d.TensorRate }),
	optionalReal("tensor_short_rate", "products/cycle/SM", func(d *Descriptor) *float64 { return &d.TensorShortRate }),
	optionalReal("tensor_double_rate", "products/cycle/SM", func(d *Descriptor) *float64 { return &d.TensorDoubleRate }),
	real("tensor_single", "ratio", func(d *Descriptor) *float64 { return &d.TensorSingle }),
	optionalReal("tensor_reads", "cycles", func(d *Descriptor) *float64 { return &d.TensorReads }),
	optionalReal("tensor_latency", "cycles", func(d *Descriptor) *float64 { return &d.TensorLatency }),
	optionalReal("tensor_short_latency", "cycles", func(d *Descriptor) *float64 { return &d.TensorShortLatency }),
	optionalReal("tensor_double_latency", "cycles", func(d *Descriptor) *float64 { return &d.TensorDoubleLatency }),

	real("constant_rate", "addresses/cycle/SM", func(d *Descriptor) *float64 { return &d.ConstantsPerCycle }),
	real("instruction_fetch", "cycles", func(d *Descriptor) *float64 { return &d.InstructionFetch }),

	real("l1_bandwidth", "bytes/cycle/SM", func(d *Descriptor) *float64 { return &d.L1BytesPerCycle }),
	real("l1_tags", "lines/cycle/SM", func(d *Descriptor) *float64 { return &d.L1TagsPerCycle }),
	optionalReal("l1_tag_overhead", "cycles", func(d *Descriptor) *float64 { return &d.L1TagOverhead }),
	real("store_line", "cycles", func(d *Descriptor) *float64 { return &d.StoreLineCycles }),
	integer("l1_mshrs", "count", func(d *Descriptor) *int { return &d.L1MSHRs }),
	integer("constant_cache", "bytes", func(d *Descriptor) *int { return &d.ConstantBytes }),
	integer("constant_l15_cache", "bytes", func(d *Descriptor) *int { return &d.ConstantL15Bytes }),
	integer("instruction_cache", "bytes", func(d *Descriptor) *int { return &d.InstructionBytes }),
	integer("l2_size", "bytes", func(d *Descriptor) *int { return &d.L2Bytes }),
	integer("l2_partitions", "count", func(d *Descriptor) *int { return &d.L2Partitions }),
	integer("l2_effective", "bytes", func(d *Descriptor) *int { return &d.L2EffectiveBytes }),
	real("l2_slices", "count", func(d *Descriptor) *float64 { return &d.L2Slices }),
	real("atomic_request", "cycles", func(d *Descriptor) *float64 { return &d.AtomicRequest }),
	real("atomic_sector", "cycles", func(d *Descriptor) *float64 { return &d.AtomicSector }),
	real("dram_wait_p1", "ratio", func(d *Descriptor) *float64 { return &d.DRAMWaits[0] }),
	real("dram_wait_p10", "ratio", func(d *Descriptor) *float64 { return &d.DRAMWaits[1] }),
	real("dram_wait_p25", "ratio", func(d *Descriptor) *float64 { return &d.DRAMWaits[2] }),
	real("dram_wait_p50", "ratio", func(d *Descriptor) *float64 { return &d.DRAMWaits[3] }),
	real("dram_wait_p75", "ratio", func(d *Descriptor) *float64 { return &d.DRAMWaits[4] }),
	real("dram_wait_p90", "ratio", func(d *Descriptor) *float64 { return &d.DRAMWaits[5] }),
	real("dram_wait_p99", "ratio", func(d *Descriptor) *float64 { return &d.DRAMWaits[6] }),
	real("l2_kept", "ratio", func(d *Descriptor) *float64 { return &d.L2Kept }),
	real("l2_kept_until", "ratio", func(d *Descriptor) *float64 { return &d.L2KeptUntil }),
	real("l2_bandwidth", "bytes/cycle", func(d *Descriptor) *float64 { return &d.L2BytesPerCycle }),
	optionalReal("l2_merged_bandwidth", "bytes/cycle", func(d *Descriptor) *float64 { return &d.L2MergedBytesPerCycle }),
	optionalReal("l2_merging_groups", "count", func(d *Descriptor) *float64 { return &d.L2MergingGroups }),
	real("l2_bandwidth_sm", "bytes/cycle/SM", func(d *Descriptor) *float64 { return &d.L2BytesPerCycleSM }),
	real("l2_write_bandwidth", "bytes/cycle", func(d *Descriptor) *float64 { return &d.L2WriteBytesPerCycle }),
	real("l2_write_bandwidth_sm", "bytes/cycle/SM", func(d *Descriptor) *float64 { return &d.L2WriteBytesPerCycleSM }),
	real("atomics", "operations/cycle", func(d *Descriptor) *float64 { return &d.AtomicsPerCycle }),
	real("atomics_apart", "operations/cycle", func(d *Descriptor) *float64 { return &d.AtomicsApart }),
	real("atomics_same_address", "operations/cycle", func(d *Descriptor) *float64 { return &d.AtomicsSameAddress }),
	real("atomics_same_address_float", "operations/cycle", func(d *Descriptor) *float64 { return &d.AtomicsSameAddressFloat }),
	real("atomics_warp_address", "operations/cycle", func(d *Descriptor) *float64 { return &d.AtomicsWarpAddress }),

	{name: "dram_size", unit: "bytes", integer: func(d *Descriptor) *int { return &d.DRAMBytes }, zero: true, absent: true},
	real("dram_bandwidth", "bytes/s", func(d *Descriptor) *float64 { return &d.DRAMBytesPerSecond }),
	real("dram_read_efficiency", "ratio", func(d *Descriptor) *float64 { return &d.DRAMReadEfficiency }),
	real("dram_write_efficiency", "ratio", func(d *Descriptor) *float64 { return &d.DRAMWriteEfficiency }),
	real("dram_mix_efficiency", "ratio", func(d *Descriptor) *float64 { return &d.DRAMMixEfficiency }),
	integer("dram_granule", "bytes", func(d *Descriptor) *int { return &d.DRAMGranule }),
	integer("dram_piece", "bytes", func(d *Descriptor) *int { return &d.DRAMPieceBytes }),
	real("dram_opening", "granules", func(d *Descriptor) *float64 { return &d.DRAMOpening }),

	real("launch_gap", "us", func(d *Descriptor) *float64 { return &d.LaunchGapUS }),
	real("cta_launch_rate", "CTAs/cycle", func(d *Descriptor) *float64 { return &d.CTALaunchRate }),
	real("cta_turnaround", "cycles", func(d *Descriptor) *float64 { return &d.CTATurnaround }),
	real("cta_turnaround_empty", "cycles", func(d *Descriptor) *float64 { return &d.CTATurnaroundEmpty }),
	real("cta_turnaround_warp", "cycles", func(d *Descriptor) *float64 { return &d.CTATurnaroundWarp }),

	lacking(real("managed_read", "bytes/s", func(d *Descriptor) *float64 { return &d.ManagedReadBytes })),
	lacking(real("managed_written", "bytes/s", func(d *Descriptor) *float64 { return &d.ManagedWrittenBytes })),
	lacking(real("managed_first", "bytes/s", func(d *Descriptor) *float64 { return &d.ManagedFirstBytes })),
	lacking(real("managed_fault", "us", func(d *Descriptor) *float64 { return &d.ManagedFaultUS })),
	lacking(real("managed_together", "ratio", func(d *Descriptor) *float64 { return &d.ManagedTogether })),
	lacking(real("texture_quads", "quads/cycle/SM", func(d *Descriptor) *float64 { return &d.TextureQuads })),
	lacking(real("texture_latency", "cycles", func(d *Descriptor) *float64 { return &d.TextureLatency })),

	lacking(real("wgmma_columns", "columns/cycle/SM", func(d *Descriptor) *float64 { return &d.WgmmaColumns })),
	lacking(real("wgmma_least", "cycles", func(d *Descriptor) *float64 { return &d.WgmmaLeast })),
	lacking(real("wgmma_latency_shared", "cycles", func(d *Descriptor) *float64 { return &d.WgmmaLatencyShared })),
	lacking(real("wgmma_latency_registers", "cycles", func(d *Descriptor) *float64 { return &d.WgmmaLatencyRegisters })),
	lacking(real("bulk_latency", "cycles", func(d *Descriptor) *float64 { return &d.BulkLatency })),
	lacking(real("bulk_issue", "cycles", func(d *Descriptor) *float64 { return &d.BulkIssue })),
	lacking(real("bulk_rate", "bytes/cycle/SM", func(d *Descriptor) *float64 { return &d.BulkBytesPerCycle })),
	lacking(real("bulk_store_latency", "cycles", func(d *Descriptor) *float64 { return &d.BulkStoreLatency })),
	lacking(real("bulk_store_issue", "cycles", func(d *Descriptor) *float64 { return &d.BulkStoreIssue })),
	lacking(real("mbarrier_handover", "cycles", func(d *Descriptor) *float64 { return &d.MbarrierHandover })),
	lacking(real("mbarrier_remote", "cycles", func(d *Descriptor) *float64 { return &d.MbarrierRemote })),
	lacking(real("mbarrier_wait", "cycles", func(d *Descriptor) *float64 { return &d.MbarrierWait })),
	lacking(real("mbarrier_arrive", "cycles", func(d *Descriptor) *float64 { return &d.MbarrierArrive })),
	lacking(real("fence_proxy", "cycles", func(d *Descriptor) *float64 { return &d.FenceProxy })),
	lacking(real("cluster_barrier", "cycles", func(d *Descriptor) *float64 { return &d.ClusterBarrier })),
	lacking(real("cluster_barrier_release", "cycles", func(d *Descriptor) *float64 { return &d.ClusterBarrierRelease })),
	lacking(real("cluster_load_latency", "cycles", func(d *Descriptor) *float64 { return &d.ClusterLoadLatency })),
	lacking(real("cluster_load_rate", "bytes/cycle/SM", func(d *Descriptor) *float64 { return &d.ClusterLoadBytesPerCycle })),
	lacking(real("cluster_store_rate", "bytes/cycle/SM", func(d *Descriptor) *float64 { return &d.ClusterStoreBytesPerCycle })),
	lacking(real("setmaxnreg", "cycles", func(d *Descriptor) *float64 { return &d.Setmaxnreg })),
	lacking(real("uniform_result", "cycles", func(d *Descriptor) *float64 { return &d.UniformResult })),
	lacking(real("l2_lookup_bandwidth", "bytes/cycle", func(d *Descriptor) *float64 { return &d.L2LookupBytesPerCycle })),
	lacking(real("clock_tensor", "MHz", func(d *Descriptor) *float64 { return &d.ClockTensor })),
	lacking(real("clock_tensor_full", "MHz", func(d *Descriptor) *float64 { return &d.ClockTensorFull })),
	lacking(integer("clusters_2", "clusters", func(d *Descriptor) *int { return &d.Clusters2 })),
	lacking(integer("clusters_4", "clusters", func(d *Descriptor) *int { return &d.Clusters4 })),
	lacking(integer("clusters_8", "clusters", func(d *Descriptor) *int { return &d.Clusters8 })),
	lacking(integer("clusters_16", "clusters", func(d *Descriptor) *int { return &d.Clusters16 })),
}

// laneKeys are the pipes every descriptor gives a width for.
var laneKeys = []string{
	LaneFP32, LaneInt32, LaneShift, LaneIMAD, LaneFP64, LaneHalf, LaneMUFU, LaneXU,
	LaneLSU, LaneShuffle, LaneUniform, LaneBranch,
}

// latencyKeys are the latencies every descriptor gives.
var latencyKeys = []string{
	LatencyALU, LatencyFMA, LatencyIMAD, LatencyFP64, LatencyHalf, LatencyMUFU, LatencyXU,
	LatencyPredicate, LatencyBranch, LatencyUniform,
	LatencyShared, LatencyL1, LatencyL2, LatencyL2Far, LatencyDRAM,
	LatencyConstant, LatencyConstantL15, LatencyConstantMiss,
	LatencyShuffle, LatencyVote, LatencyBarrier, LatencyBarrierWarp, LatencyS2R,
	LatencyAtomicShared, LatencyAtomicL2, LatencyFenceCTA, LatencyFenceGPU,
}

const (
	lanePrefix    = "lanes."
	latencyPrefix = "latency."
	laneUnit      = "lanes/cycle/SM"
	latencyUnit   = "cycles"
	carveOutName  = "carve_outs"
	carveOutUnit  = "KiB"
)

// UnitOf is the unit a figure's number must carry, "" for an unknown figure.
func UnitOf(name string) string {
	if key, ok := strings.CutPrefix(name, lanePrefix); ok {
		return unitIfKnown(laneKeys, key, laneUnit)
	}
	if key, ok := strings.CutPrefix(name, latencyPrefix); ok {
		return unitIfKnown(latencyKeys, key, latencyUnit)
	}
	for i := range figures {
		if figures[i].name == name {
			return figures[i].unit
		}
	}
	return ""
}

// Legal reports whether a figure may have a value.
func Legal(name string, value float64) bool {
	legal := UnitOf(name) != ""
	d := &Descriptor{Pipes: Pipes{Lanes: map[string]float64{}}, Latency: map[string]float64{}}
	assign(d, name, Number{Value: value}, func(string, ...any) { legal = false })
	return legal
}

func unitIfKnown(keys []string, key, unit string) string {
	for _, k := range keys {
		if k == key {
			return unit
		}
	}
	return ""
}

// mayLack reports whether a descriptor may do without a figure.
func mayLack(name string) bool {
	return slices.ContainsFunc(figures, func(f figure) bool { return f.name == name && f.absent })
}

// isAddition reports whether digests of descriptors without a figure leave it out.
func isAddition(name string) bool {
	return slices.ContainsFunc(figures, func(f figure) bool { return f.name == name && f.addition })
}

// figureNames lists every figure a descriptor has, in the file's order.
func figureNames() []string {
	names := make([]string, 0, len(figures)+len(laneKeys)+len(latencyKeys))
	for i := range figures {
		names = append(names, figures[i].name)
	}
	for _, k := range laneKeys {
		names = append(names, lanePrefix+k)
	}
	for _, k := range latencyKeys {
		names = append(names, latencyPrefix+k)
	}
	return names
}
