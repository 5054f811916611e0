package cost

import (
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// YieldCycles is how long a warp that yields issues nothing, whether it has other lanes that can go on
// or not: an iteration of a loop takes 98 cycles for 52, and 51 more, which are not counted, where all others
// wait (H100, deploy/calibrate yields).
const YieldCycles = 46

// Figures is a descriptor as the clock reads it, for other levels of the
// simulator over the same front end. Times are SM cycles.
type Figures struct {
	Schedulers, IssueWidth int
	Granule                int // bytes that stores and DRAM move at a time
	LinesPerRowSegment     uint64
	Classes                [assemble.NumClasses]ClassFigures
	// Predicate is the least latency of an arithmetic result in a predicate.
	Predicate float64
	// Addressing is how long any request holds the load/store unit at least,
	// DataPass one data-stage wavefront, ConstantPass a distinct constant word.
	// SharedPass is a pass through the banks of shared memory.
	Addressing, DataPass, SharedPass, ConstantPass float64
	// Latencies of a request alone on the machine.
	Shared, L1, Constant, AtomicShared, AtomicL2 float64
	// Swap is a turn of the loop that an atomic of assemble.Program.Swapped is.
	CASRound float64
	// Barrier is what the last warp to arrive waits, BarrierWarp what the
	// barrier unit takes for each.
	Barrier, BarrierWarp float64
	// Fence is within the CTA, FenceDevice beyond it when nothing is under way.
	Fence, FenceDevice float64
	// Vacancy is the time from a CTA's last exit to its slot issuing again for a
	// CTA of one warp; each further one adds VacancyWarp.
	Vacancy, VacancyWarp float64
	ColdStart            float64 // before the first CTAs of a launch issue
	LaunchInterval       float64 // between two CTA launches of the whole device
	SharedFP32Int        bool    // integer instructions take half an fp32 slot
	m                    *Machine
}

// ClassFigures is what the machine does with a class of instruction.
type ClassFigures struct {
	// Busy is the resource whose issue port the class holds, BoundInvalid for
	// branches, uniform and memory instructions, which hold Port all the same.
	Busy timing.Bound
	Port uint8   // issue port of the sub-partition, 0 none
	Hold float64 // cycles the port is held
	// Latency of a result that does not depend on memory.
	Latency float64
}

// NumPorts is one more than the largest ClassFigures.Port.
const NumPorts = int(NumPipes)

// FiguresOf reads a descriptor.
func FiguresOf(d *arch.Descriptor) (*Figures, error) {
	m, err := NewMachine(d)
	if err != nil {
		return nil, err
	}
	f := &Figures{
		Schedulers: m.Schedulers, IssueWidth: m.IssueWidth, Granule: m.Granule(), LinesPerRowSegment: m.LinesPerRowSegment, Predicate: float64(m.Predicate),
		Addressing: cycles(m.Addressing), DataPass: cycles(m.dataPass), SharedPass: cycles(m.SharedPass), ConstantPass: cycles(m.ConstPass),
		Shared: float64(m.LatShared), L1: float64(m.LatL1), Constant: float64(m.LatConst),
		AtomicShared: float64(m.LatAtomicShared), AtomicL2: float64(m.LatAtomicL2), CASRound: float64(m.LatCASRound),
		Barrier: float64(m.LatBarrier), BarrierWarp: cycles(m.LatBarrierWarp), Fence: float64(m.LatFenceCTA), FenceDevice: float64(m.LatFenceGPU),
		Vacancy: m.Vacancy, VacancyWarp: m.VacancyWarp, ColdStart: float64(m.ColdStart),
		LaunchInterval: m.LaunchInterval, SharedFP32Int: m.DualFP32Int, m: m,
	}
	for c := range f.Classes {
		s := &m.Classes[c]
		f.Classes[c] = ClassFigures{Busy: PipeBounds[s.Pipe], Port: uint8(s.Pipe), Hold: cycles(s.Interval), Latency: float64(s.Latency)}
	}
	return f, nil
}

func cycles(steps int64) float64 { return float64(steps) / dram.Fraction }

// PartialLinePasses is the turns of L1's data stage for each sector that comes from L2 into a line of which others are not
// asked for: loads drawn over rows of a sparse matrix are counted 0.20 to 0.24 more a sector, loads of whole
// lines none (spmv_ell, spmv_csr and gemv, deploy/calibrate/validation/third and further), sums into L2 drawn over a grid
// 0.20 (deposit, eleventh) and of whole lines hardly any (embedding_grad, eighth).
const PartialLinePasses = 0.22

// Slots is how long an instruction holds the issue slot, cycles.
func (f *Figures) Slots(in *assemble.Instr) float64 {
	return cycles(f.m.Slots(in))
}

// Request is how long a request of a class with lines holds the load/store unit; past says
// that it passes L1 by.
func (f *Figures) Request(class assemble.Class, past bool, lines, passes int64) float64 {
	return cycles(f.m.RequestCost(class, past, lines, passes))
}

// Fill is how long a sector that comes into L1, or is copied to shared memory, past L1 or through it, takes of
// the data banks.
func (f *Figures) Fill(copied, past bool) float64 { return cycles(f.m.FillSteps(copied, past)) }

// L2Coalesce is what SMs ask of L2 where so many CTAs that run at a time read the same in step: the share of
// the requests that reach it, and of the time that they hold its slices.
func (f *Figures) L2Coalesce(readers float64) (requests, held float64) {
	return f.m.L2Coalesce(readers)
}

// Atomic is what an atomic costs one of active SMs.
func (f *Figures) Atomic(active float64) AtomicCost { return f.m.AtomicCost(active) }

// Share is the memory system as one of active SMs sees it, when the grid's traffic
// is t.
func (f *Figures) Share(active float64, t Traffic) dram.Spec {
	return f.m.Share(active, t)
}
