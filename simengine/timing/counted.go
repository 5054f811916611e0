package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing/cache"
)

// Nsight Compute's names of the counters that say what units have to do.
const (
	countInstructions = "smsp__inst_executed.sum"
	countWavefronts   = "l1tex__data_pipe_lsu_wavefronts.sum"
	countShared       = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
	countL2Read       = "lts__t_sectors_op_read.sum"
	countL2ReadHits   = "lts__t_sectors_op_read_lookup_hit.sum"
	countL2Written    = "lts__t_sectors_op_write.sum"
	countL2ToL1       = "l1tex__m_xbar2l1tex_read_bytes.sum"
	countL1ToL2       = "l1tex__m_l1tex2xbar_write_bytes.sum"
	countDRAMRead     = "dram__bytes_read.sum"
	countDRAMWritten  = "dram__bytes_write.sum"
	countCycles       = "sm__cycles_elapsed.max"
	countTime         = "gpu__time_duration.sum" // nanoseconds

	globalSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
	localSectors  = "l1tex__t_sectors_pipe_lsu_mem_local_op_"
	globalAsked   = "l1tex__t_requests_pipe_lsu_mem_global_op_"
)

// pipeCounts are the pipes whose instructions are counted, and how many lanes a cycle each takes.
var pipeCounts = [...]struct {
	bound       Bound
	name, lanes string
}{
	{BoundALU, "sm__inst_executed_pipe_alu.sum", arch.LaneInt32},
	{BoundFMA, "sm__inst_executed_pipe_fma.sum", arch.LaneFP32},
	{BoundFP64, "sm__inst_executed_pipe_fp64.sum", arch.LaneFP64},
	{BoundXU, "sm__inst_executed_pipe_xu.sum", arch.LaneXU},
}

// pipeHold is how many cycles of a sub-partition's pipe of so many lanes an instruction takes.
func pipeHold(d *arch.Descriptor, lanes string) float64 {
	return 32 * float64(d.SubPartitions) / math.Max(d.Lanes[lanes], 1)
}

// Counted is how near units of a device come to their peaks by counters of a launch of so many CTAs, and which
// units the counters tell of: of those that are not there nothing is said.
func Counted(d *arch.Descriptor, counters map[string]float64, ctas float64) (s Shares, known [NumBounds]bool) {
	w := Work{CTAs: ctas}
	known[BoundLaunch] = ctas > 0
	get := func(b Bound, names ...string) (sum float64) {
		for _, name := range names {
			v, ok := counters[name]
			known[b] = known[b] || ok
			sum += v
		}
		return sum
	}
	w.Instructions = get(BoundIssue, countInstructions)
	for _, p := range pipeCounts {
		w.Pipe[p.bound] = get(p.bound, p.name) * pipeHold(d, p.lanes)
	}
	w.Shared = counters[countShared]
	if w.Wavefronts = get(BoundLSU, countWavefronts); !known[BoundLSU] {
		w.Wavefronts = get(BoundLSU, countShared)
		for _, op := range [...]string{"ld.sum", "st.sum"} {
			w.Wavefronts += math.Max(counters[globalAsked+op], counters[globalSectors+op]*cache.SectorBytes/cache.LineBytes)
		}
	}
	w.L2Read = get(BoundL2, globalSectors+"ld.sum") + counters[localSectors+"ld.sum"] - counters[globalSectors+"ld_lookup_hit.sum"]
	if v, ok := counters[countL2Read]; ok { // of what is local L1 may have had some
		w.L2Read = math.Min(w.L2Read, v)
	}
	w.L2Written = counters[globalSectors+"st.sum"] + counters[localSectors+"st.sum"]
	if v, ok := counters[countL2Written]; ok { // stores to one sector that follow each other closely are one here
		w.L2Written = v / WriteLookups(d.L2EffectiveBytes, d.L2Bytes)
	}
	w.DRAMRead, w.DRAMWritten = get(BoundDRAM, countDRAMRead), get(BoundDRAM, countDRAMWritten)
	s = w.Shares(d, counters[countCycles])
	// DRAM's clock is not the SMs', whose may have been lower than the descriptor's.
	if ns := counters[countTime]; ns > 0 {
		s[BoundDRAM] *= counters[countCycles] / (ns / 1000 * d.ClockMHz)
	}
	return s, known
}

// Among is the shares of those units that are marked.
func (s Shares) Among(known [NumBounds]bool) Shares {
	for b := range s {
		if !known[b] {
			s[b] = 0
		}
	}
	return s
}
