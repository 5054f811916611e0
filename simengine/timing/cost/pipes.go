package cost

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// Pipe is an issue port of a sub-partition. An instruction holds it for its issue interval.
type Pipe uint8

// The issue ports. Classes of PipeNone hold none.
const (
	PipeNone Pipe = iota
	PipeALU
	PipeFMA
	PipeIMAD
	PipeFP64
	PipeHalf
	PipeTensor
	PipeXU
	PipeUniform
	PipeBranch
	PipeMemory // entry into the memory input/output (MIO) queue
	NumPipes
)

// ClassSpec is what the machine does with a class of instruction.
type ClassSpec struct {
	Pipe     Pipe
	Interval int64 // steps (dram.Fraction a cycle) the pipe is held
	Latency  int64 // cycles to a dependent instruction, fixed-latency classes
	Kind     ResultKind
}

// ResultKind says which stall reason a consumer of the result shows while it waits.
type ResultKind uint8

// Results by what produces them: arithmetic of fixed latency; shared memory, the transcendental
// unit and other MIO units; global and local memory; the indexed constant cache.
const (
	ResultFixed ResultKind = iota
	ResultShort
	ResultLong
	ResultConstant
)

// A 32-bit multiplication whose upper word is wanted (mul.hi, mul.wide) goes imadPasses times through the pipe of
// 32-bit multiplications. On the H200 it has half their rate (deploy/calibrate pipe.rate imad_hi, slots.beside
// mul_wide and mul_hi without additions). Other GPUs are taken to be alike. The upper word alone is there after 9
// cycles, for 4 of a 32-bit multiplication (pipe.latency imad_hi).
//
// An address or a sum can use both words imadWide cycles later than the result of a 32-bit multiplication: two more
// in the issue slot, and one more that ptxas leaves after that. Of 9,957 loads by such an address in the machine code
// of datasets/h200-loops-and-doubles none comes sooner.
const (
	imadPasses = 2
	imadWide   = 3
)

func (m *Machine) setClasses(lat, hold func(string) int64) {
	d := m.Arch
	set := func(c assemble.Class, p Pipe, lanes, latency string, k ResultKind) {
		s := ClassSpec{Pipe: p, Kind: k}
		if lanes != "" {
			s.Interval = hold(lanes)
		}
		if latency != "" {
			s.Latency = lat(latency)
		}
		m.Classes[c] = s
	}
	set(assemble.ALU, PipeALU, arch.LaneInt32, arch.LatencyALU, ResultFixed)
	set(assemble.FMA, PipeFMA, arch.LaneFP32, arch.LatencyFMA, ResultFixed)
	set(assemble.FMAHeavy, PipeIMAD, arch.LaneIMAD, arch.LatencyIMAD, ResultFixed)
	set(assemble.IMADWide, PipeIMAD, arch.LaneIMAD, arch.LatencyIMAD, ResultFixed)
	wide := &m.Classes[assemble.IMADWide]
	high := *wide
	high.Interval, high.Latency = imadPasses*high.Interval, imadPasses*high.Latency+1
	m.Classes[assemble.IMADHigh] = high
	wide.Interval, wide.Latency = high.Interval, wide.Latency+imadWide
	set(assemble.FP64, PipeFP64, arch.LaneFP64, arch.LatencyFP64, ResultFixed)
	set(assemble.Half, PipeHalf, arch.LaneHalf, arch.LatencyHalf, ResultFixed)
	m.setTensor()
	set(assemble.MUFU, PipeXU, arch.LaneMUFU, arch.LatencyMUFU, ResultShort)
	set(assemble.XU, PipeXU, arch.LaneXU, arch.LatencyXU, ResultShort)
	set(assemble.Uniform, PipeUniform, arch.LaneUniform, arch.LatencyUniform, ResultFixed)
	set(assemble.S2R, PipeMemory, "", arch.LatencyS2R, ResultShort)
	set(assemble.LDC, PipeMemory, "", arch.LatencyConstant, ResultConstant)
	set(assemble.Load, PipeMemory, "", "", ResultLong)
	set(assemble.Store, PipeMemory, "", "", ResultFixed)
	set(assemble.Atomic, PipeMemory, "", "", ResultLong)
	set(assemble.AsyncCopy, PipeMemory, "", "", ResultFixed)
	set(assemble.Shuffle, PipeMemory, "", arch.LatencyShuffle, ResultShort)
	set(assemble.Vote, PipeALU, arch.LaneInt32, arch.LatencyVote, ResultFixed)
	set(assemble.Match, PipeXU, "", "", ResultShort) // as long as MatchCost says
	set(assemble.Barrier, PipeNone, "", arch.LatencyBarrier, ResultFixed)
	set(assemble.Fence, PipeNone, "", arch.LatencyFenceCTA, ResultFixed)
	set(assemble.Branch, PipeBranch, arch.LaneBranch, arch.LatencyBranch, ResultFixed)
	set(assemble.Exit, PipeBranch, arch.LaneBranch, arch.LatencyBranch, ResultFixed)
	set(assemble.Control, PipeNone, "", "", ResultFixed)
	set(assemble.Yield, PipeNone, "", "", ResultFixed)
	m.Classes[assemble.Wgmma] = ClassSpec{Pipe: PipeTensor, Interval: 1} // as long as Machine.Wgmma says
	set(assemble.Bulk, PipeNone, "", "", ResultFixed)
	set(assemble.Mbarrier, PipeMemory, "", "", ResultFixed)
	set(assemble.MbarWait, PipeMemory, "", "", ResultFixed)
	set(assemble.ClusterBarrier, PipeNone, "", "", ResultFixed)
	issue := max(dram.Ticks(d.MemoryIssue), 1)
	for c := range m.Classes {
		if m.Classes[c].Pipe == PipeMemory {
			m.Classes[c].Interval = issue
		}
	}
	m.Predicate = lat(arch.LatencyPredicate)
}

// setTensor sets what tensor cores do, of whose instructions the assembler makes none where
// there are no figures of them.
func (m *Machine) setTensor() {
	d := m.Arch
	set := func(c assemble.Class, rate, longer, latency float64) {
		if rate > 0 {
			interval := max(dram.Ticks(float64(d.SubPartitions)*longer/rate), 1)
			m.Classes[c] = ClassSpec{Pipe: PipeTensor, Interval: interval, Latency: max(int64(math.Round(latency)), 1), Kind: ResultFixed}
		}
	}
	set(assemble.Tensor, d.TensorRate, 1, d.TensorLatency)
	set(assemble.TensorShort, d.TensorShortRate, 1, d.TensorShortLatency)
	set(assemble.TensorSingle, d.TensorRate, d.TensorSingle, d.TensorLatency)
	set(assemble.TensorSingleShort, d.TensorShortRate, d.TensorSingle, d.TensorShortLatency)
	set(assemble.TensorDouble, d.TensorDoubleRate, 1, d.TensorDoubleLatency)
	m.tensorReads = d.TensorReads * dram.Fraction
}

var PipeBounds = map[Pipe]timing.Bound{
	PipeALU: timing.BoundALU, PipeFMA: timing.BoundFMA, PipeIMAD: timing.BoundIMAD, PipeFP64: timing.BoundFP64, PipeHalf: timing.BoundHalf, PipeTensor: timing.BoundTensor, PipeXU: timing.BoundXU,
}

// WritesPredicate reports whether an instruction's result is a predicate and nothing else, which guards and branches wait
// for. Carries come with a sum, and are there for the next sum as soon as that: ptxas has it 4 cycles later at the earliest
// (1,702 pairs of 75 programs for sm_80, sm_90 and sm_90a, deploy/calibrate/ptxas/carries.py).
func WritesPredicate(in *assemble.Instr) bool {
	some := false
	for _, d := range in.Dst {
		if d.Count > 0 && d.First < assemble.PredBase {
			return false
		}
		some = some || d.Count > 0
	}
	return some
}

// SelectsBy reports whether an instruction takes the predicates that it reads as operands: selections, comparisons and
// logic of predicates. A comparison's result is there for these as soon as for any arithmetic. What guards, branches,
// copies and votes read comes later (LatencyPredicate). By the stall counts of ptxas 12.8 for sm_90a these are 4 and 13
// cycles at the least (2,602 and 2,141 pairs of 70 programs, deploy/calibrate/ptxas/carries.py).
func SelectsBy(in *assemble.Instr) bool { return in.Class == assemble.ALU && !in.Guarded }
