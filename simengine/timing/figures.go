package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/reuse"
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
	LinesPerPiece          uint64
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
	Swap float64
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
	m                    *machine
}

// ClassFigures is what the machine does with a class of instruction.
type ClassFigures struct {
	// Busy is the resource whose issue port the class holds, BoundInvalid for
	// branches, uniform and memory instructions, which hold Port all the same.
	Busy Bound
	Port uint8   // issue port of the sub-partition, 0 none
	Hold float64 // cycles the port is held
	// Latency of a result that does not depend on memory.
	Latency float64
}

// NumPorts is one more than the largest ClassFigures.Port.
const NumPorts = int(numPipes)

// FiguresOf reads a descriptor.
func FiguresOf(d *arch.Descriptor) (*Figures, error) {
	m, err := newMachine(d)
	if err != nil {
		return nil, err
	}
	f := &Figures{
		Schedulers: m.schedulers, IssueWidth: m.issueWidth, Granule: m.granule(), LinesPerPiece: m.linesPerPiece, Predicate: float64(m.predicate),
		Addressing: cycles(m.addressing), DataPass: cycles(m.dataPass), SharedPass: cycles(m.sharedPass), ConstantPass: cycles(m.constPass),
		Shared: float64(m.latShared), L1: float64(m.latL1), Constant: float64(m.latConst),
		AtomicShared: float64(m.latAtomicShared), AtomicL2: float64(m.latAtomicL2), Swap: float64(m.latSwap),
		Barrier: float64(m.latBarrier), BarrierWarp: cycles(m.latBarrierWarp), Fence: float64(m.latFenceCTA), FenceDevice: float64(m.latFenceGPU),
		Vacancy: m.vacancy, VacancyWarp: m.vacancyWarp, ColdStart: float64(m.coldStart),
		LaunchInterval: m.launchInterval, SharedFP32Int: m.dualFP32Int, m: m,
	}
	for c := range f.Classes {
		s := &m.classes[c]
		f.Classes[c] = ClassFigures{Busy: pipeBounds[s.pipe], Port: uint8(s.pipe), Hold: cycles(s.interval), Latency: float64(s.latency)}
	}
	return f, nil
}

func cycles(steps int64) float64 { return float64(steps) / dram.Fraction }

// Straying is the turns of L1's data stage for a sector that comes into a line of which others are not asked for,
// Storing those for a sector stored beyond the store's own.
const Straying, Storing = straying, storing

// Slots is how long an instruction holds the issue slot, cycles.
func (f *Figures) Slots(in *assemble.Instr) float64 {
	return cycles(f.m.slots(in))
}

// Request is how long a request of a class with lines holds the load/store unit; past says
// that it passes L1 by.
func (f *Figures) Request(class assemble.Class, past bool, lines, passes int64) float64 {
	return cycles(f.m.requestCost(class, past, lines, passes))
}

// Fill is how long a sector that comes into L1, or is copied to shared memory, past L1 or through it, takes of
// the data banks.
func (f *Figures) Fill(copied, past bool) float64 { return cycles(f.m.fill(copied, past)) }

// Merge is what SMs ask of L2 where so many CTAs that run at a time read the same in step: the share of
// the requests that reach it, and of the time that they hold its slices.
func (f *Figures) Merge(readers float64) (requests, held float64) { return f.m.merge(readers) }

// Atomic is what an atomic costs one of active SMs.
func (f *Figures) Atomic(active float64) AtomicCost { return f.m.atomicCost(active) }

// Share is the memory system as one of active SMs sees it, when the grid's traffic
// is what plan says.
func (f *Figures) Share(active float64, plan *reuse.Plan) dram.Spec {
	return f.m.share(active, plan)
}

// Validate reports everything that is wrong with an input at once.
func (in *Input) Validate() error { return in.validate() }

// LedPart is how long CTAs that keep step wait for DRAM, of what one waits for data of
// its own: the nearest to it sets the pace. A step of 1, 2, 4, 33 and 132 CTAs that read
// the same takes 714, 711, 704, 627 and 612 cycles (deploy/calibrate together.end).
func LedPart(readers float64) float32 {
	const few, many, least = 4, 33, 0.88
	at := math.Log(readers/few) / math.Log(many/few)
	return float32(1 - (1-least)*math.Max(math.Min(at, 1), 0))
}
