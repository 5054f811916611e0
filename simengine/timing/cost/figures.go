package cost

import (
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// YieldCycles is how long a warp that yields issues nothing: an iteration of a loop with a
// yield takes 98 cycles for 52 (H100, deploy/calibrate yields). Where all other warps wait it
// takes 51 more, which are not counted.
const YieldCycles = 46

// Figures are those of Machine in cycles, as floating-point numbers: what the analytic level
// reads.
type Figures struct {
	Schedulers, IssueWidth int
	Granule                int // bytes that stores and DRAM move at a time
	LinesPerRowSegment     uint64
	SharedFP32Int          bool // integer instructions take half an fp32 slot
	Classes                [assemble.NumClasses]ClassFigures
	Holds
	Latencies
	Launches
	AsyncFigures
	m *Machine
}

// AsyncFigures are those of Async, cycles.
type AsyncFigures struct {
	BulkIssue, BulkStoreIssue, BulkExtra, BulkStored, BulkSector float64
	StoreByte                                                    float64 // of one SM's way to L2
	Arrive, Remote, Wake, Wait, Arrival                          float64
	FenceProxy, Setmaxnreg, UniformResult, WgmmaFence            float64
	ClusterBarrier, ClusterRelease, ClusterLoad                  float64
	ClusterStorePass                                             float64
}

// WgmmaFigures is WgmmaCost in cycles.
type WgmmaFigures struct{ Hold, Shared, Latency, Next float64 }

// Wgmma is Machine.Wgmma.
func (f *Figures) Wgmma(in *ir.Instr) WgmmaFigures {
	c := f.m.Wgmma(in)
	return WgmmaFigures{cycles(c.Hold), cycles(c.Shared), float64(c.Latency), float64(c.Next)}
}

func asyncFigures(a *Async, d *arch.Descriptor) AsyncFigures {
	f := AsyncFigures{
		BulkIssue: float64(a.BulkIssue), BulkStoreIssue: float64(a.BulkStoreIssue), BulkExtra: float64(a.BulkExtra), BulkStored: float64(a.BulkStored), BulkSector: cycles(a.BulkSector),
		Arrive: float64(a.Arrive), Remote: float64(a.Remote), Wake: float64(a.Wake), Wait: float64(a.Wait), Arrival: float64(a.Arrival),
		FenceProxy: float64(a.FenceProxy), UniformResult: float64(a.UniformResult), Setmaxnreg: float64(a.Setmaxnreg), WgmmaFence: float64(a.WgmmaFence),
		ClusterBarrier: float64(a.ClusterBarrier), ClusterRelease: float64(a.ClusterRelease), ClusterLoad: float64(a.ClusterLoad),
		ClusterStorePass: cycles(a.ClusterStorePass),
	}
	if d.L2WriteBytesPerCycleSM > 0 {
		f.StoreByte = 1 / d.L2WriteBytesPerCycleSM
	}
	return f
}

// Holds is how long a unit is held, cycles.
type Holds struct {
	Addressing   float64 // the load/store unit, by any request at least
	DataPass     float64 // it, by a wavefront of L1's data stage
	SharedPass   float64 // it, by a pass through the banks of shared memory
	ConstantPass float64 // the indexed constant cache, by each distinct word
}

// Latencies are those of a request alone on the machine, cycles.
type Latencies struct {
	Predicate                                    float64 // least one of an arithmetic result in a predicate
	Shared, L1, Constant, AtomicShared, AtomicL2 float64
	CASRound                                     float64 // of a round of CASLoop
	WordWake, WordArrival                        float64 // Machine.WordWake
	// Barrier is what the last warp to arrive waits, BarrierWarp what the barrier unit takes
	// for each warp.
	Barrier, BarrierWarp float64
	// Fence is within the CTA, FenceDevice beyond it when nothing is under way.
	Fence, FenceDevice float64
}

// Launches is what starting and replacing CTAs takes, cycles.
type Launches struct {
	// Vacancy is the time from a CTA's last exit to its slot issuing again for a CTA of one
	// warp; each further warp adds VacancyWarp.
	Vacancy, VacancyWarp float64
	ColdStart            float64 // before the first CTAs of a launch issue
	LaunchInterval       float64 // between two CTA launches of the whole device
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

// FiguresOf derives the figures of a GPU; its errors are those of NewMachine.
func FiguresOf(d *arch.Descriptor) (*Figures, error) {
	m, err := NewMachine(d)
	if err != nil {
		return nil, err
	}
	f := &Figures{
		Schedulers: m.Schedulers, IssueWidth: m.IssueWidth, Granule: m.Granule(), LinesPerRowSegment: m.LinesPerRowSegment,
		SharedFP32Int: m.DualFP32Int, m: m,
		Holds: Holds{
			Addressing: cycles(m.Addressing), DataPass: cycles(m.dataPass),
			SharedPass: cycles(m.SharedPass), ConstantPass: cycles(m.ConstPass),
		},
		Latencies: Latencies{
			Predicate: float64(m.Predicate), Shared: float64(m.LatShared), L1: float64(m.LatL1), Constant: float64(m.LatConst),
			AtomicShared: float64(m.LatAtomicShared), AtomicL2: float64(m.LatAtomicL2), CASRound: float64(m.LatCASRound),
			WordWake: float64(m.WordWake()), WordArrival: float64(m.WordArrival()),
			Barrier: float64(m.LatBarrier), BarrierWarp: cycles(m.LatBarrierWarp),
			Fence: float64(m.LatFenceCTA), FenceDevice: float64(m.LatFenceGPU),
		},
		Launches: Launches{
			Vacancy: m.Vacancy, VacancyWarp: m.VacancyWarp, ColdStart: float64(m.ColdStart), LaunchInterval: m.LaunchInterval,
		},
	}
	f.AsyncFigures = asyncFigures(&m.Async, d)
	for c := range f.Classes {
		s := &m.Classes[c]
		f.Classes[c] = ClassFigures{Busy: PipeBounds[s.Pipe], Port: uint8(s.Pipe), Hold: cycles(s.Interval), Latency: float64(s.Latency)}
	}
	return f, nil
}

func cycles(steps int64) float64 { return float64(steps) / dram.Fraction }

// PartialLinePasses is the passes of L1's data stage for each sector that comes from L2 into a
// line of which others are not asked for, and StoredSectorPasses those for each sector stored,
// beyond the wavefronts of the requests themselves. What fits counter
// l1tex__data_pipe_lsu_wavefronts of 563 launches best (data sets project-a to -d and
// loops-and-doubles) is 0.05 to 0.08 and 0.03 to 0.05; the latter is 0.06 where all is whole
// lines (adam, axpy_stride, black_scholes).
const PartialLinePasses, StoredSectorPasses = 0.07, 0.05

// Slots is how long an instruction holds the issue slot, cycles.
func (f *Figures) Slots(in *assemble.Instr) float64 {
	return cycles(f.m.Slots(in))
}

// Request is how long a request of a class, with so many lines and data-stage passes, holds the
// load/store unit, cycles. bypass reports whether it bypasses L1.
func (f *Figures) Request(class assemble.Class, bypass bool, lines, passes int64) float64 {
	return cycles(f.m.RequestCost(class, bypass, lines, passes))
}

// Fill is how long a sector that arrives from L2 holds the data banks, cycles. copied reports
// whether cp.async brings it, bypass whether it bypasses L1.
func (f *Figures) Fill(copied, bypass bool) float64 { return cycles(f.m.FillSteps(copied, bypass)) }

// Arch is the GPU.
func (f *Figures) Arch() *arch.Descriptor { return f.m.Arch }

// CopyHeld is Machine.CopyHeld.
func (f *Figures) CopyHeld(readers, merged, together float64) [MostSectors + 1]float64 {
	return f.m.CopyHeld(readers, merged, together)
}

// LoadHeld is Machine.LoadHeld.
func (f *Figures) LoadHeld(readers float64) [MostSectors + 1]float64 { return f.m.LoadHeld(readers) }

// Atomic is what an atomic costs one of so many active SMs.
func (f *Figures) Atomic(active float64) AtomicCost { return f.m.AtomicCost(active) }

// Share is L2 and DRAM as one of so many active SMs sees them, for traffic like t.
func (f *Figures) Share(active float64, t Traffic) dram.Spec {
	return f.m.Share(active, t)
}
