package cost

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// Machine is a descriptor turned into what the clock needs: integers.
type Machine struct {
	Arch       *arch.Descriptor
	Schedulers int
	IssueWidth int
	Classes    [assemble.NumClasses]classSpec
	Predicate  int64 // latency of a predicate result

	QueueDepth int   // MIO queue entries of a sub-partition, all but global and local memory
	LgDepth    int   // the same for global and local memory, with its part of what the memory pipe holds
	Addressing int64 // steps a request holds the SM's load/store unit at least
	storeLine  int64 // steps a store holds it for each line
	waits      dram.Waits
	// LinesPerRowSegment is the lines that DRAM keeps together.
	LinesPerRowSegment uint64
	pairReads          float64 // steps of the issue slot that reading a pair of registers takes an fp64 instruction,
	memoryReads        float64 // and a register one of the memory pipe, beyond a cycle
	tensorReads        float64 // and one of the tensor cores in all
	productSlots       int64   // steps that a product with an upper word holds the issue slot
	ThreeReads         int64   // steps an FMA of three registers holds its pipe at least
	tagFirst           int64   // steps of the tag stage for the first line of a request
	TagNext            int64   // and for each further line
	dataPass           int64   // steps of one data-stage wavefront
	SharedPass         int64   // steps of one pass through the banks of shared memory
	fillSector         int64   // steps that a sector from L2 takes of the data stage

	LatShared, LatL1, LatConst, LatAtomicShared, LatAtomicL2 int64
	LatCASRound                                              int64 // a turn of the loop of assemble.Program.Swapped
	LatBarrier, LatFenceCTA, LatFenceGPU, LatL2              int64
	LatBarrierWarp                                           int64 // steps the barrier unit takes a warp
	ConstPass                                                int64 // steps a distinct word of an indexed constant load

	// Vacancy is the cycles from a CTA's last exit to its slot issuing again,
	// for a CTA of one warp; each further one adds vacancyWarp.
	Vacancy, VacancyWarp float64
	ColdStart            int64   // cycles before the first CTAs of a launch issue: caches start empty
	LaunchInterval       float64 // cycles between two CTA launches of the whole device
	DualFP32Int          bool
}

// MinSectorsInFlight is how many sectors an L1 of any size can have on their
// way; a larger one as many as it has room for, since misses take their place in
// the data banks when they are sent: 4,096 scattered sectors of one SM are in
// flight without a stall, 8,192 are not (shared/silicon random_gather stall counters).
const MinSectorsInFlight = 512

// StoresInFlight is how many lines of stores an SM has on their way to L2.
const StoresInFlight = 512

// emptyCTA is the cycles a CTA that only exits takes of arch.Launch.CTATurnaroundEmpty
// once its warps can issue.
const emptyCTA = 2

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
	m.LgDepth = m.QueueDepth + max(d.LoadQueue/max(d.SubPartitions, 1), 0)
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
	m.LatAtomicShared, m.LatAtomicL2 = lat(arch.LatencyAtomicShared), lat(arch.LatencyAtomicL2)
	// 85 cycles, of the 95 that a turn takes (deploy/calibrate wavefronts.shared_sums, 1 warp).
	m.LatCASRound = m.LatShared + lat(arch.LatencyFMA) + m.LatAtomicShared + lat(arch.LatencyPredicate) + lat(arch.LatencyBranch)
	m.LatBarrier = lat(arch.LatencyBarrier)
	m.LatFenceCTA, m.LatFenceGPU = lat(arch.LatencyFenceCTA), lat(arch.LatencyFenceGPU)
	m.waits = dramWaits(d)
	m.LinesPerRowSegment = uint64(max(d.DRAMPieceBytes/cache.LineBytes, 1))
	m.LatL2 = lat(arch.LatencyL2)
	m.LatBarrierWarp = dram.Ticks(d.Latency[arch.LatencyBarrierWarp])
	m.ConstPass = dram.Ticks(1 / math.Max(d.ConstantsPerCycle, 1.0/32))
}
