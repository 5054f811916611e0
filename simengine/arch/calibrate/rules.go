package calibrate

import "math"

// rule computes one figure of a descriptor from results; NaN where they do not
// hold what it needs. from names the measurement for the figure's source.
type rule struct {
	figure string
	from   string
	value  func(Results) float64
}

// rules is every figure the suite gives. Rates are turned into cycles with the
// SM clock the suite measured.
var rules = []rule{
	{"sms", "device.sms", func(r Results) float64 { return r.where("device.sms").first() }},
	{"clock", "clock.sm", func(r Results) float64 { return math.Round(clock(r)) }},
	{"l2_size", "device.l2_size", func(r Results) float64 { return r.where("device.l2_size").first() }},
	{"dram_bandwidth", "device.dram_bandwidth", func(r Results) float64 { return r.where("device.dram_bandwidth").first() }},

	{"lanes.fp32", "pipe.rate ffma", lanes("ffma")},
	{"lanes.int32", "pipe.rate lop3", lanes("lop3")},
	{"lanes.shift", "pipe.rate shf", lanes("shf")},
	{"lanes.imad", "pipe.rate imad", lanes("imad")},
	{"lanes.fp64", "pipe.rate dfma", lanes("dfma")},
	{"lanes.half", "pipe.rate hfma2", lanes("hfma2")},
	{"lanes.mufu", "pipe.rate mufu_ex2", lanes("mufu_ex2")},
	{"lanes.xu", "pipe.rate popc", lanes("popc")},
	{"lanes.shuffle", "pipe.rate shfl", lanes("shfl")},
	// A root in single precision has a barrier's two ends and a branch between, and no
	// other pipe is as busy: MUFU 8 cycles of its 12.9.
	{"lanes.branch", "pipe.rate sqrt, its three branches", func(r Results) float64 {
		return nominal(3 * 32 * r.where("pipe.rate", "op", "sqrt").most())
	}},
	{"shared_bandwidth", "wavefronts.slope shared_ld 32, 16 warps", func(r Results) float64 {
		return nominal(32 * 128 / r.where("wavefronts.slope", "kind", "shared_ld", "stride", 32, "warps", 16).first())
	}},
	{"lanes.lsu", "wavefronts.stride shared_ld 1", func(r Results) float64 { return nominal(32 / stride(r, "shared_ld")) }},

	{"latency.alu", "pipe.latency lop3", latency("lop3")},
	{"latency.fma", "pipe.latency ffma", latency("ffma")},
	{"latency.imad", "pipe.latency imad", latency("imad")},
	{"latency.fp64", "pipe.latency dfma", latency("dfma")},
	{"latency.half", "pipe.latency hfma2", latency("hfma2")},
	{"latency.mufu", "pipe.latency mufu_ex2", latency("mufu_ex2")},
	{"latency.xu", "pipe.latency popc", latency("popc")},
	{"latency.shuffle", "pipe.latency shfl", latency("shfl")},
	{"latency.vote", "pipe.latency ballot less lop3", func(r Results) float64 { return latency("ballot")(r) - latency("lop3")(r) }},
	{"latency.shared", "latency.shared", func(r Results) float64 { return math.Round(r.where("latency.shared").first()) }},
	{"latency.l1", "latency.global, smallest footprint", func(r Results) float64 { return math.Round(r.where("latency.global").by("bytes").first()) }},
	{"latency.l2", "latency.l2_first_touch, nearer", func(r Results) float64 { near, _ := halves(r); return near }},
	{"latency.l2_far", "latency.l2_first_touch, farther", func(r Results) float64 { _, far := halves(r); return far }},
	{"latency.dram", "latency.dram_fresh", func(r Results) float64 { return math.Round(r.where("latency.dram_fresh").median()) }},
	{"latency.constant", "latency.constant, smallest footprint, less lop3", func(r Results) float64 { return constant(r, constantLevels(r)[0]) }},
	{"latency.constant_l15", "latency.constant, second level, less lop3", func(r Results) float64 { return constant(r, constantLevels(r)[1]) }},
	{"latency.barrier", "latency.barrier 1", func(r Results) float64 { return math.Round(r.where("latency.barrier", "warps", 1).first()) }},
	{"latency.barrier_warp", "latency.barrier 32 less 1, over 31", func(r Results) float64 {
		return tenth((r.where("latency.barrier", "warps", 32).first() - r.where("latency.barrier", "warps", 1).first()) / 31)
	}},
	{"latency.atomic_shared", "latency.atomic shared", func(r Results) float64 { return math.Round(r.where("latency.atomic", "space", "shared").first()) }},
	{"latency.atomic_l2", "latency.atomic global", func(r Results) float64 { return math.Round(r.where("latency.atomic", "space", "global").first()) }},
	{"latency.fence_cta", "latency.fence cta none", func(r Results) float64 { return fence(r, "cta") }},
	{"latency.fence_gpu", "latency.fence gpu none", func(r Results) float64 { return fence(r, "gpu") }},

	{"constant_cache", "latency.constant, last footprint of the first level", func(r Results) float64 { return constantEnd(r, 0) }},
	{"constant_l15_cache", "latency.constant, last footprint of the second level", func(r Results) float64 { return constantEnd(r, 1) }},
	{"constant_rate", "wavefronts.constant_slope 32, 16 warps", func(r Results) float64 {
		return hundredth(32 / r.where("wavefronts.constant_slope", "distinct", 32, "warps", 16).first())
	}},
	{"memory_queue", "queues.issued global_st, one sub-partition", func(r Results) float64 { return math.Round(queued(r, "global_st", 1)) }},
	{"load_queue", "queues.issued global_ld, all sub-partitions, less global_st", func(r Results) float64 {
		return math.Round(queued(r, "global_ld", subPartitions) - subPartitions*math.Round(queued(r, "global_st", 1)))
	}},
	{"three_reads", "registers.rate apart, 16 warps, median", func(r Results) float64 {
		return hundredth(subPartitions / r.where("registers.rate", "pattern", "apart", "warps", 16).median())
	}},
	{"pair_reads", "pipe.rate dfma_3pairs, 16 warps, a pair", func(r Results) float64 {
		return nominal(subPartitions / r.where("pipe.rate", "op", "dfma_3pairs", "warps", 16).first() / 3)
	}},
	{"memory_reads", "slots.beside 20 sums, loads and stores, a register beyond a cycle, mean", memoryReads},
	{"product_slots", "slots.beside 20 sums, mul_wide", func(r Results) float64 { return hundredth(besides(r, "mul_wide").held) }},
	{"tensor_rate", "tensor.rate m16n8k16, sums in single precision, 8 chains, most", func(r Results) float64 { return hundredth(tensor(r, "tensor.rate", deep).most()) }},
	{"tensor_short_rate", "tensor.rate m16n8k8, sums in single precision, 8 chains, most", func(r Results) float64 { return hundredth(tensor(r, "tensor.rate", shallow).most()) }},
	{"tensor_double_rate", "tensor.rate m8n8k4 of doubles, 8 chains, most", func(r Results) float64 { return hundredth(tensor(r, "tensor.rate", doubles).most()) }},
	{"tensor_single", "tensor.rate m16n8k16, sums as halves over sums in single precision, most", func(r Results) float64 {
		return math.Round(tensor(r, "tensor.rate", halfSums).most() / tensor(r, "tensor.rate", deep).most())
	}},
	{"tensor_reads", "tensor.beside m16n8k16, 2 and 8 fmul, as many as it takes alone, a register", tensorReads},
	{"tensor_latency", "tensor.latency m16n8k16", func(r Results) float64 { return math.Round(r.where("tensor.latency", "op", deep).first()) }},
	{"tensor_short_latency", "tensor.latency m16n8k8", func(r Results) float64 { return math.Round(r.where("tensor.latency", "op", shallow).first()) }},
	{"tensor_double_latency", "tensor.latency m8n8k4 of doubles", func(r Results) float64 { return math.Round(r.where("tensor.latency", "op", doubles).first()) }},
	{"instruction_cache", "icache.body 1 warp, last body at full rate", instructionCache},
	{"instruction_fetch", "icache.body 1 warp, first body beyond the cache", instructionFetch},

	{"l1_bandwidth", "wavefronts.stride global_ld 1", func(r Results) float64 { return nominal(128 / stride(r, "global_ld")) }},
	{"l1_tags", "wavefronts.lines global_ld 32 less 8, over 24", func(r Results) float64 { return nominal(24 / (lines(r, 32) - lines(r, 8))) }},
	{"l1_tag_overhead", "wavefronts.lines global_ld 16 less 16 lines' turns", func(r Results) float64 {
		return hundredth(lines(r, 16) - 16/nominal(24/(lines(r, 32)-lines(r, 8))))
	}},
	{"store_line", "wavefronts.slope global_st 32, 16 warps, a line", func(r Results) float64 {
		return hundredth(r.where("wavefronts.slope", "kind", "global_st", "stride", 32, "warps", 16).first() / 32)
	}},
	{"l2_effective", "bandwidth.read_shared, footprint where it falls", l2Effective},
	{"l2_slices", "meetings.atomic consecutive, 64 and 4096 addresses of 128 bytes", func(r Results) float64 { _, _, slices := slices(r); return math.Round(slices) }},
	{"atomic_request", "meetings.atomic consecutive, 64 addresses of 4 and of 128 bytes", func(r Results) float64 { request, _, _ := slices(r); return hundredth(request) }},
	{"atomic_sector", "meetings.atomic consecutive, 64 addresses of 4 and of 128 bytes", func(r Results) float64 { _, sector, _ := slices(r); return hundredth(sector) }},
	{"dram_wait_p1", waited, func(r Results) float64 { return dramWait(r, 1) }},
	{"dram_wait_p10", waited, func(r Results) float64 { return dramWait(r, 10) }},
	{"dram_wait_p25", waited, func(r Results) float64 { return dramWait(r, 25) }},
	{"dram_wait_p50", waited, func(r Results) float64 { return dramWait(r, 50) }},
	{"dram_wait_p75", waited, func(r Results) float64 { return dramWait(r, 75) }},
	{"dram_wait_p90", waited, func(r Results) float64 { return dramWait(r, 90) }},
	{"dram_wait_p99", waited, func(r Results) float64 { return dramWait(r, 99) }},
	{"l2_kept", "residency.dram_read read, line through a quarter and three quarters, at none", func(r Results) float64 { return kept(r, 0) }},
	{"l2_kept_until", "residency.dram_read read, line through a quarter and three quarters, at all", func(r Results) float64 { return kept(r, 1) }},
	{"l2_bandwidth", "bandwidth.read_shared, half the effective size", func(r Results) float64 {
		return perCycle(r, r.where("bandwidth.read_shared").between("bytes", 8<<20, l2Effective(r)).median())
	}},
	{"l2_merged_bandwidth", "merged.read, all SMs, 1024 loops less 64", merged},
	{"l2_bandwidth_sm", "bandwidth.l2_read_sms 1", func(r Results) float64 { return perCycle(r, r.where("bandwidth.l2_read_sms", "sms", 1).first()) }},
	{"l2_write_bandwidth", "bandwidth.write_divided, up to the effective size", func(r Results) float64 {
		return perCycle(r, r.where("bandwidth.write_divided").between("bytes", 8<<20, l2Effective(r)).median())
	}},
	{"l2_write_bandwidth_sm", "bandwidth.l2_write_sms 1", func(r Results) float64 {
		return nominal(perCycle(r, r.where("bandwidth.l2_write_sms", "sms", 1).first()))
	}},
	{"atomics", "atomic.global red coalesced", func(r Results) float64 { return perCycle(r, atomics(r, "coalesced")) }},
	{"atomics_apart", "reds.scatter add.u32, 16 lines, 32 MiB", func(r Results) float64 { return perCycle(r, apart(r)) }},
	{"atomics_same_address_float", "atomic.meet add.f32 32 one_address", func(r Results) float64 { return hundredth(meet(r, "add.f32", "one_address") * 1e3 / clock(r)) }},
	{"atomics_warp_address", "atomic.meet add.u32 32 address_per_warp", func(r Results) float64 { return math.Round(meet(r, "add.u32", "address_per_warp") * 1e3 / clock(r)) }},
	{"atomics_same_address", "atomic.global red one_address", func(r Results) float64 { return hundredth(atomics(r, "one_address") * 1e3 / clock(r)) }},
	{"dram_read_efficiency", "bandwidth.mix 1 0 and bandwidth.in_flight loads only, most", func(r Results) float64 {
		return efficiency(r, append(r.where("bandwidth.mix", "reads", 1, "writes", 0), r.where("bandwidth.in_flight", "store", 0)...))
	}},
	{"dram_write_efficiency", "bandwidth.mix 0 1, most", func(r Results) float64 {
		return efficiency(r, r.where("bandwidth.mix", "reads", 0, "writes", 1))
	}},
	{"dram_mix_efficiency", "bandwidth.mix 1 1 and bandwidth.in_flight with stores, most", func(r Results) float64 {
		return efficiency(r, append(r.where("bandwidth.mix", "reads", 1, "writes", 1), r.where("bandwidth.in_flight", "store", 1)...))
	}},
	{"dram_piece", "rows.pieces read, smallest within 5 % of the best", func(r Results) float64 { return piece(r) }},
	{"dram_opening", "rows.stride read, a granule of each piece over all of them", opening},

	{"launch_gap", "launch.gap, median", func(r Results) float64 { return hundredth(r.where("launch.gap").median()) }},
	{"cta_launch_rate", "launch.pace empty, up to 8 warps", func(r Results) float64 {
		return math.Round(1e6/(r.where("launch.pace", "kernel", "empty").between("warps", 1, 8).median()*clock(r))) / 1e3
	}},
	{"cta_turnaround", "launch.turnaround store 1 1", func(r Results) float64 { return math.Round(turnaround(r, "store", 1)) }},
	{"cta_turnaround_empty", "launch.turnaround empty 1 1", func(r Results) float64 { return math.Round(turnaround(r, "empty", 1)) }},
	{"cta_turnaround_warp", "launch.turnaround empty 1, 32 less 1 warps, over 31", func(r Results) float64 {
		return tenth((turnaround(r, "empty", 32) - turnaround(r, "empty", 1)) / 31)
	}},
}
