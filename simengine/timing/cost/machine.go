package cost

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// Machine is a GPU as the clock reads it: figures of an arch.Descriptor in integers.
// Latencies are cycles of an SM; a step is 1/dram.Fraction of a cycle.
type Machine struct {
	Arch       *arch.Descriptor
	Schedulers int // of an SM: its sub-partitions
	IssueWidth int // instructions a scheduler issues a cycle
	Classes    [assemble.NumClasses]ClassSpec
	Predicate  int64 // latency of an arithmetic result in a predicate register
	// DualFP32Int reports whether integer instructions take half an fp32 issue slot.
	DualFP32Int bool
	issueSlots
	memoryPath
	latencies
	launchCosts
	Async
}

// issueSlots is how long instructions hold the issue slot beyond a cycle, steps.
type issueSlots struct {
	pairReads    float64 // fp64: for each pair of registers it reads
	memoryReads  float64 // the memory pipe: for each register it reads
	tensorReads  float64 // tensor cores: for each register it reads, the first cycle included
	productSlots int64   // a multiplication with an upper word, the first cycle included
	ThreeReads   int64   // an FMA that fetches three registers holds its pipe this long at least
}

// memoryPath is the way of a request through an SM and what DRAM keeps together.
type memoryPath struct {
	QueueDepth  int   // entries of a sub-partition's MIO queue, global and local memory aside
	LGDepth     int   // entries for global and local memory, those of the memory pipe included
	Addressing  int64 // steps any request holds the SM's load/store unit at least
	storeLine   int64 // steps a store holds it for each line
	tagFirst    int64 // steps of L1's tag stage for the first line of a request
	TagNext     int64 // steps of it for each further line
	dataPass    int64 // steps of one wavefront of L1's data stage
	SharedPass  int64 // steps of one pass through the banks of shared memory
	fillSector  int64 // steps of the data stage for a sector that comes from L2
	textureQuad int64 // steps of the texture unit for a quad of lanes
	ConstPass   int64 // steps of the indexed constant cache for each distinct word
	waits       dram.Waits
	// LinesPerRowSegment is the lines of the part of a DRAM row that one opening brings
	// (arch.Descriptor.DRAMPieceBytes).
	LinesPerRowSegment uint64
}

// latencies are from issue to a dependent instruction, cycles.
type latencies struct {
	LatShared, LatL1, LatConst, LatAtomicShared, LatAtomicL2, LatL2 int64
	roundRest                                                       int64 // of WordWake, the test and the branch
	LatTexture                                                      int64 // of a fetch that L1 serves
	LatCASRound                                                     int64 // a round of the loop of CASLoop
	LatBarrier, LatFenceCTA, LatFenceGPU                            int64
	LatBarrierWarp                                                  int64 // steps: what the barrier unit takes for each warp
}

// launchCosts is what starting and replacing CTAs takes, cycles.
type launchCosts struct {
	// Vacancy is from a CTA's last exit to its slot issuing again, for a CTA of one warp;
	// each further warp adds VacancyWarp.
	Vacancy, VacancyWarp float64
	ColdStart            int64   // before the first CTAs of a launch issue: constant and instruction caches are empty
	LaunchInterval       float64 // between two CTA launches of the whole device
}

// MinSectorsInFlight is how many sectors an SM can have on their way from L2, whatever the size
// of its L1. A larger L1 allows as many as it has room for, since a miss takes its place in the data banks when it is
// sent. 4,096 scattered sectors of one SM are in flight without a stall, 8,192 are not (stall counters of
// shared/silicon random_gather).
const MinSectorsInFlight = 512

// StoresInFlight is how many lines of stores an SM has on their way to L2 at most.
const StoresInFlight = 512

// emptyCTA is the cycles that arch.Launch.CTATurnaroundEmpty includes for the CTA itself: its
// exit, once its warps can issue.
const emptyCTA = 2

// NewMachine derives the figures of a GPU. It names what the descriptor lacks in its error.
func NewMachine(d *arch.Descriptor) (*Machine, error) {
	m := &Machine{Arch: d, Schedulers: d.SubPartitions, IssueWidth: max(d.IssueWidth, 1), DualFP32Int: d.SharedFP32Int}
	if d.SMs < 1 || d.SubPartitions < 1 || d.ClockMHz <= 0 || d.L2BytesPerCycle <= 0 || d.DRAMBytesPerSecond <= 0 {
		return nil, fmt.Errorf("timing: descriptor %q lacks SMs, sub-partitions, clock or bandwidths", d.Name)
	}
	var missing string
	lat := func(key string) int64 {
		v, ok := d.Latency[key]
		if !ok {
			missing = "latency " + key
		}
		return max(int64(math.Round(v)), 1)
	}
	hold := func(key string) int64 {
		v := d.Lanes[key]
		if v <= 0 {
			missing = "lanes " + key
			v = 1
		}
		return max(dram.Ticks(32*float64(d.SubPartitions)/v), 1)
	}
	m.setClasses(lat, hold)
	m.setMemory(lat)
	m.Async = asyncOf(d, m.LatL2)
	m.Vacancy = max(d.CTATurnaroundEmpty-emptyCTA, 0)
	m.ColdStart = lat(arch.LatencyConstantMiss) + lat(arch.LatencyL2)
	m.VacancyWarp = d.CTATurnaroundWarp
	if d.CTALaunchRate > 0 {
		m.LaunchInterval = 1 / d.CTALaunchRate
	}
	if missing != "" {
		return nil, fmt.Errorf("timing: descriptor %q lacks %s", d.Name, missing)
	}
	return m, nil
}

func (m *Machine) setMemory(lat func(string) int64) {
	d := m.Arch
	m.QueueDepth = max(d.MemoryQueue, 1)
	m.LGDepth = m.QueueDepth + max(d.LoadQueue/max(d.SubPartitions, 1), 0)
	m.Addressing = dram.Ticks(32 / math.Max(d.Lanes[arch.LaneLSU], 1))
	perTag := 1 / math.Max(d.L1TagsPerCycle, 0.25)
	m.tagFirst, m.TagNext = dram.Ticks(d.L1TagOverhead+perTag), dram.Ticks(perTag)
	m.dataPass = dram.Ticks(128 / math.Max(d.L1BytesPerCycle, 1))
	m.fillSector = m.dataPass / (cache.LineBytes / cache.SectorBytes)
	m.SharedPass = dram.Ticks(float64(d.Banks*d.BankWidth) / math.Max(d.SharedBytesPerCycle, 1))
	m.storeLine = dram.Ticks(d.StoreLineCycles)
	m.ThreeReads = dram.Ticks(d.ThreeReads)
	m.pairReads, m.memoryReads = d.PairReads*dram.Fraction, d.MemoryReads*dram.Fraction
	m.productSlots = dram.Ticks(d.ProductSlots)
	m.LatShared, m.LatL1 = lat(arch.LatencyShared), lat(arch.LatencyL1)
	m.LatConst = lat(arch.LatencyConstant)
	m.setTexture(d)
	m.LatAtomicShared, m.LatAtomicL2 = lat(arch.LatencyAtomicShared), lat(arch.LatencyAtomicL2)
	// Comes to 85 of the 95 cycles that a round takes (deploy/calibrate wavefronts.shared_sums, 1 warp).
	m.LatCASRound = m.LatShared + lat(arch.LatencyFMA) + m.LatAtomicShared + lat(arch.LatencyPredicate) + lat(arch.LatencyBranch)
	m.roundRest = lat(arch.LatencyPredicate) + lat(arch.LatencyBranch)
	m.LatBarrier = lat(arch.LatencyBarrier)
	m.LatFenceCTA, m.LatFenceGPU = lat(arch.LatencyFenceCTA), lat(arch.LatencyFenceGPU)
	m.waits = dramWaits(d)
	m.LinesPerRowSegment = uint64(max(d.DRAMPieceBytes/cache.LineBytes, 1))
	m.LatL2 = lat(arch.LatencyL2)
	m.LatBarrierWarp = dram.Ticks(d.Latency[arch.LatencyBarrierWarp])
	m.ConstPass = dram.Ticks(1 / math.Max(d.ConstantsPerCycle, 1.0/32))
}
