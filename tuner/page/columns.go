package page

import (
	"math"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Counters under Nsight Compute's names that columns are made of.
const (
	countDRAMRead    = "dram__bytes_read.sum"
	countDRAMWritten = "dram__bytes_write.sum"
	countL2Read      = "lts__t_sectors_op_read.sum"
	countL2Written   = "lts__t_sectors_op_write.sum"
	countL2ToL1      = "l1tex__m_xbar2l1tex_read_bytes.sum"
	countL1ToL2      = "l1tex__m_l1tex2xbar_write_bytes.sum"
	countShared      = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
	countWavefronts  = "l1tex__data_pipe_lsu_wavefronts.sum"
	countTime        = "gpu__time_duration.sum" // nanoseconds
	countWarp        = "smsp__inst_executed.sum"
	countThread      = "smsp__thread_inst_executed.sum"
	countLoadSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
	countLoads       = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
	countStoreSector = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
	countStores      = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
	countConflictsLd = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
	countConflictsSt = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
	countDRAMShare   = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
	countIssueShare  = "smsp__issue_active.avg.pct_of_peak_sustained_active"
	countL1Hits      = "l1tex__t_sector_hit_rate.pct"
	countL2Hits      = "lts__t_sector_hit_rate.pct"
	countWaves       = "launch__waves_per_multiprocessor"
	countSampling    = "warptune__sampling_error"
	sectorBytes      = 32
	lineBytes        = 128
)

// flopCounts are the simulator's counters of operations by the unit (Arch.Compute) that does them. Level model has none.
var flopCounts = []struct{ unit, name string }{
	{"fp32", "warptune__flop_fp32.sum"}, {"fp64", "warptune__flop_fp64.sum"}, {"half", "warptune__flop_half.sum"},
	{"tensor cores, fp16", "warptune__flop_tensor_fp16.sum"}, {"tensor cores, bf16", "warptune__flop_tensor_bf16.sum"}, {"tensor cores, tf32", "warptune__flop_tensor_tf32.sum"},
	{"tensor cores, fp64", "warptune__flop_tensor_fp64.sum"}, {"tensor cores, fp8", "warptune__flop_tensor_fp8.sum"}, {"tensor cores, int8", "warptune__flop_tensor_int8.sum"},
}

// flop is all operations of a configuration, NaN where none are counted.
func flop(r *Result) float64 {
	n := 0.0
	for _, c := range flopCounts {
		n += r.Outcome.Metrics[c.name]
	}
	return unknownZero(n)
}

// tableMetrics are all that a table is made of.
var tableMetrics = append(flopMetrics(), []string{
	countDRAMRead, countDRAMWritten, countL2ToL1, countL1ToL2, countWavefronts, countTime, countWarp, countThread, countLoadSectors, countLoads,
	countStoreSector, countStores, countConflictsLd, countConflictsSt, countDRAMShare, countIssueShare, countL1Hits, countL2Hits, countWaves, countSampling,
}...)

func flopMetrics() (names []string) {
	for _, c := range flopCounts {
		names = append(names, c.name)
	}
	return names
}

// valueColumn is a column of what came out, and how it is got.
type valueColumn struct {
	Column
	// number gives a number, NaN where it is not known; text a name: one of them.
	number func(*Result) float64
	text   func(*Result) string
	always bool // also of configurations that are not valid
	ratio  bool // rounded, as shares are
}

// counter is a column of one counter times a factor.
func counter(name string, times float64) func(*Result) float64 {
	return func(r *Result) float64 { return metric(&r.Outcome, name) * times }
}

// metric is a counter, NaN where it is not there.
func metric(o *tuner.Outcome, names ...string) (sum float64) {
	for _, name := range names {
		v, ok := o.Metrics[name]
		if !ok {
			return math.NaN()
		}
		sum += v
	}
	return sum
}

// over is a ratio of counters, NaN where there is none.
func over(above, below []string) func(*Result) float64 {
	return func(r *Result) float64 {
		b := metric(&r.Outcome, below...)
		if b == 0 {
			return math.NaN()
		}
		return metric(&r.Outcome, above...) / b
	}
}

// validityOf is what became of a trial.
func validityOf(r *Result) string {
	if r.Abandoned {
		return "abandoned"
	}
	return r.Outcome.Validity.String()
}

// valueColumns are the columns of a table beside its parameters.
func valueColumns() []valueColumn {
	number := func(name, title, unit, better, help string, shown bool, f func(*Result) float64) valueColumn {
		return valueColumn{Column: Column{Name: name, Title: title, Unit: unit, Kind: "real", Help: help, Better: better, Shown: shown}, number: f}
	}
	whole := func(name, title, unit, better, help string, shown bool, f func(*Result) float64) valueColumn {
		c := number(name, title, unit, better, help, shown, f)
		c.Kind = "integer"
		return c
	}
	text := func(name, title, help string, shown bool, f func(*Result) string) valueColumn {
		return valueColumn{Column: Column{Name: name, Title: title, Kind: "text", Help: help, Shown: shown}, text: f}
	}
	ratio := func(c valueColumn) valueColumn { c.ratio = true; return c }
	always := func(c valueColumn) valueColumn { c.always = true; return c }
	return []valueColumn{
		always(whole("trial", "Trial", "", "", "the trial's number in its sweep", false, func(r *Result) float64 { return float64(r.Seq) })),
		always(text("validity", "Validity", "correct, or why it is not valid", false, validityOf)),
		number("time_us", "Time", "us", "less", "predicted, from start to start of launches back to back", true, func(r *Result) float64 { return r.Outcome.TimeUS }),
		number("gpu_time_us", "GPU time", "us", "less", "predicted, on the GPU alone (gpu__time_duration.sum)", false, counter(countTime, 1e-3)),
		number("sampling_error", "Sampling error", "share", "less", "by which the time may be off as only some CTAs are simulated", false, func(r *Result) float64 { return r.Outcome.Metrics[countSampling] }),
		whole("registers", "Registers", "count", "", "a thread", true, func(r *Result) float64 { return float64(r.Outcome.Registers) }),
		whole("spill_bytes", "Spilled", "bytes", "less", "registers spilled, a thread", true, func(r *Result) float64 { return float64(r.Outcome.SpillBytes) }),
		whole("shared_bytes", "Shared memory", "bytes", "", "a CTA, static and dynamic", true, func(r *Result) float64 { return float64(r.Outcome.Shared) }),
		whole("carve_out_bytes", "Carve-out", "bytes", "", "of shared memory, an SM", false, func(r *Result) float64 { return float64(r.Outcome.CarveOut) }),
		number("occupancy", "Occupancy", "share", "", "theoretical: warps an SM holds, of the most", true, func(r *Result) float64 { return r.Outcome.Occupancy }),
		text("limiter", "Limiter", "what limits occupancy", true, func(r *Result) string { return r.Outcome.Limiter }),
		text("bound", "Bound", "what bounds the time", true, func(r *Result) string { return r.Outcome.Bound }),
		number("dram_bytes", "DRAM traffic", "bytes", "less", "read and written, a launch", false, func(r *Result) float64 { return metric(&r.Outcome, countDRAMRead, countDRAMWritten) }),
		number("l2_bytes", "L2 traffic", "bytes", "less", "between the SMs and L2, a launch", false, func(r *Result) float64 { return metric(&r.Outcome, countL2ToL1, countL1ToL2) }),
		number("l1_bytes", "L1 and shared traffic", "bytes", "less", "128 bytes a wavefront, a launch", false, counter(countWavefronts, lineBytes)),
		number("dram_share", "DRAM, of peak", "share", "", "bandwidth used, as a share of the peak", false, counter(countDRAMShare, 0.01)),
		number("issue_share", "Issue, of peak", "share", "", "issue slots that are used", false, counter(countIssueShare, 0.01)),
		number("l1_hit_share", "L1 hit rate", "share", "more", "of the sectors looked up", false, counter(countL1Hits, 0.01)),
		number("l2_hit_share", "L2 hit rate", "share", "more", "of the sectors looked up", false, counter(countL2Hits, 0.01)),
		number("warp_instructions", "Instructions", "count", "less", "of warps, executed in a launch", false, counter(countWarp, 1)),
		number("flop", "Operations", "flop", "", "floating-point operations of all kinds, or integer ones of tensor cores, in a launch: a fused multiply-add is two", false, flop),
		ratio(number("active_lanes", "Active lanes", "count", "more", "of 32, of an instruction in the mean", false, over([]string{countThread}, []string{countWarp}))),
		number("bank_conflicts", "Bank conflicts", "count", "less", "of loads from and stores to shared memory", false, func(r *Result) float64 { return metric(&r.Outcome, countConflictsLd, countConflictsSt) }),
		ratio(number("load_sectors", "Sectors a load", "count", "less", "32-byte sectors a request of a load from global memory", false, over([]string{countLoadSectors}, []string{countLoads}))),
		ratio(number("store_sectors", "Sectors a store", "count", "less", "32-byte sectors a request of a store to global memory", false, over([]string{countStoreSector}, []string{countStores}))),
		ratio(number("waves", "Waves", "count", "", "of CTAs over the device", false, counter(countWaves, 1))),
		number("floor_us", "Floor", "us", "", "a time that it is not below at any level", false, func(r *Result) float64 { return unknownZero(r.Outcome.FloorUS) }),
		whole("checked_ctas", "CTAs checked", "count", "more", "executed and looked at for faults", false, func(r *Result) float64 { return unknownOf(r, float64(r.Outcome.Checked.CTAs)) }),
		whole("ctas", "CTAs", "count", "", "of the grid", false, func(r *Result) float64 { return unknownOf(r, float64(r.Outcome.Checked.Of)) }),
		always(text("level", "Level", "of the simulation: only the last one of a sweep is ranked", false, func(r *Result) string { return r.Level })),
		always(whole("attempts", "Attempts", "count", "", "how often it was given to a worker", false, func(r *Result) float64 { return float64(r.Attempts) })),
		always(text("reused", "Reused", "answered by a result stored earlier", false, func(r *Result) string {
			if r.Reused {
				return "yes"
			}
			return "no"
		})),
	}
}

func unknownZero(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

func unknownOf(r *Result, v float64) float64 {
	if !r.Outcome.Checked.Recorded() {
		return math.NaN()
	}
	return v
}

// kindOf is a column's kind for values of a kind.
func kindOf(k search.Kind) string {
	switch k {
	case search.Int:
		return "integer"
	case search.Float:
		return "real"
	case search.Bool:
		return "truth"
	}
	return "text"
}
