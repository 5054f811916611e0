package timing

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/reuse"
)

// pipe is an issue port of a sub-partition; an instruction holds it for its
// issue interval.
type pipe uint8

const (
	pipeNone pipe = iota
	pipeALU
	pipeFMA
	pipeIMAD
	pipeFP64
	pipeHalf
	pipeTensor
	pipeXU
	pipeUniform
	pipeBranch
	pipeMemory // entry into the memory input/output (MIO) queue
	numPipes
)

// classSpec is what the machine does with a class of instruction.
type classSpec struct {
	pipe     pipe
	interval int64 // steps (dram.Fraction a cycle) the pipe is held
	latency  int64 // cycles to a dependent instruction, fixed-latency classes
	kind     resultKind
}

// resultKind says which stall a consumer of the result shows.
type resultKind uint8

const (
	resultFixed resultKind = iota
	resultShort
	resultLong
	resultConstant
)

var resultStall = [...]StallReason{Wait, ShortScoreboard, LongScoreboard, IMCMiss}

// machine is a descriptor turned into what the clock needs: integers.
type machine struct {
	arch       *arch.Descriptor
	schedulers int
	issueWidth int
	classes    [assemble.NumClasses]classSpec
	predicate  int64 // latency of a predicate result

	queueDepth int   // MIO queue entries of a sub-partition, all but global and local memory
	lgDepth    int   // the same for global and local memory, with its part of what the memory pipe holds
	addressing int64 // steps a request holds the SM's load/store unit at least
	storeLine  int64 // steps a store holds it for each line
	waits      dram.Waits
	// linesPerPiece is the lines that DRAM keeps together.
	linesPerPiece uint64
	pairReads     float64 // steps of the issue slot that reading a pair of registers takes an fp64 instruction,
	memoryReads   float64 // and a register one of the memory pipe, beyond a cycle
	tensorReads   float64 // and one of the tensor cores in all
	productSlots  int64   // steps that a product with an upper word holds the issue slot
	threeReads    int64   // steps an FMA of three registers holds its pipe at least
	tagFirst      int64   // steps of the tag stage for the first line of a request
	tagNext       int64   // and for each further line
	dataPass      int64   // steps of one data-stage wavefront
	sharedPass    int64   // steps of one pass through the banks of shared memory
	fillSector    int64   // steps that a sector from L2 takes of the data stage

	latShared, latL1, latConst, latAtomicShared, latAtomicL2 int64
	latSwap                                                  int64 // a turn of the loop of assemble.Program.Swapped
	latBarrier, latFenceCTA, latFenceGPU, latL2              int64
	latBarrierWarp                                           int64 // steps the barrier unit takes a warp
	constPass                                                int64 // steps a distinct word of an indexed constant load

	// vacancy is the cycles from a CTA's last exit to its slot issuing again,
	// for a CTA of one warp; each further one adds vacancyWarp.
	vacancy, vacancyWarp float64
	coldStart            int64   // cycles before the first CTAs of a launch issue: caches start empty
	launchInterval       float64 // cycles between two CTA launches of the whole device
	dualFP32Int          bool
}

// minSectorsInFlight is how many sectors an L1 of any size can have on their
// way; a larger one as many as it has room for, since misses take their place in
// the data banks when they are sent: 4,096 scattered sectors of one SM are in
// flight without a stall, 8,192 are not (shared/silicon random_gather stall counters).
const minSectorsInFlight = 512

// storesInFlight is how many lines of stores an SM has on their way to L2.
const storesInFlight = 512

// emptyCTA is the cycles a CTA that only exits takes of arch.Launch.CTATurnaroundEmpty
// once its warps can issue.
const emptyCTA = 2

func newMachine(d *arch.Descriptor) (*machine, error) {
	m := &machine{arch: d, schedulers: d.SubPartitions, issueWidth: max(d.IssueWidth, 1), dualFP32Int: d.SharedFP32Int}
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
	m.vacancy = max(d.CTATurnaroundEmpty-emptyCTA, 0)
	m.coldStart = lat(arch.LatencyConstantMiss) + lat(arch.LatencyL2)
	m.vacancyWarp = d.CTATurnaroundWarp
	if d.CTALaunchRate > 0 {
		m.launchInterval = 1 / d.CTALaunchRate
	}
	if missing != "" {
		return nil, fmt.Errorf("timing: descriptor %q lacks %s", d.Name, missing)
	}
	return m, nil
}

// A product of which the upper word is wanted goes imadPasses times through the pipe of
// 32-bit products: on the H200 it has half their rate (deploy/calibrate pipe.rate imad_hi,
// slots.beside mul_wide and mul_hi without sums), and is taken to elsewhere. The upper
// word alone is there after 9 cycles for their 4 (pipe.latency imad_hi). Of both words an
// address or a sum can be made imadWide cycles later than of a 32-bit product: two more in
// the issue slot, and one more that ptxas lets pass after that (of 9,957 loads by such an
// address in the machine code of datasets/h200-loops-and-doubles none comes sooner).
const (
	imadPasses = 2
	imadWide   = 3
)

func (m *machine) setClasses(lat, hold func(string) int64) {
	d := m.arch
	set := func(c assemble.Class, p pipe, lanes, latency string, k resultKind) {
		s := classSpec{pipe: p, kind: k}
		if lanes != "" {
			s.interval = hold(lanes)
		}
		if latency != "" {
			s.latency = lat(latency)
		}
		m.classes[c] = s
	}
	set(assemble.ALU, pipeALU, arch.LaneInt32, arch.LatencyALU, resultFixed)
	set(assemble.FMA, pipeFMA, arch.LaneFP32, arch.LatencyFMA, resultFixed)
	set(assemble.FMAHeavy, pipeIMAD, arch.LaneIMAD, arch.LatencyIMAD, resultFixed)
	set(assemble.IMADWide, pipeIMAD, arch.LaneIMAD, arch.LatencyIMAD, resultFixed)
	wide := &m.classes[assemble.IMADWide]
	high := *wide
	high.interval, high.latency = imadPasses*high.interval, imadPasses*high.latency+1
	m.classes[assemble.IMADHigh] = high
	wide.interval, wide.latency = high.interval, wide.latency+imadWide
	set(assemble.FP64, pipeFP64, arch.LaneFP64, arch.LatencyFP64, resultFixed)
	set(assemble.Half, pipeHalf, arch.LaneHalf, arch.LatencyHalf, resultFixed)
	m.setTensor()
	set(assemble.MUFU, pipeXU, arch.LaneMUFU, arch.LatencyMUFU, resultShort)
	set(assemble.XU, pipeXU, arch.LaneXU, arch.LatencyXU, resultShort)
	set(assemble.Uniform, pipeUniform, arch.LaneUniform, arch.LatencyUniform, resultFixed)
	set(assemble.S2R, pipeMemory, "", arch.LatencyS2R, resultShort)
	set(assemble.LDC, pipeMemory, "", arch.LatencyConstant, resultConstant)
	set(assemble.Load, pipeMemory, "", "", resultLong)
	set(assemble.Store, pipeMemory, "", "", resultFixed)
	set(assemble.Atomic, pipeMemory, "", "", resultLong)
	set(assemble.AsyncCopy, pipeMemory, "", "", resultFixed)
	set(assemble.Shuffle, pipeMemory, "", arch.LatencyShuffle, resultShort)
	set(assemble.Vote, pipeALU, arch.LaneInt32, arch.LatencyVote, resultFixed)
	set(assemble.Match, pipeXU, "", "", resultShort) // as long as MatchCost says
	set(assemble.Barrier, pipeNone, "", arch.LatencyBarrier, resultFixed)
	set(assemble.Fence, pipeNone, "", arch.LatencyFenceCTA, resultFixed)
	set(assemble.Branch, pipeBranch, arch.LaneBranch, arch.LatencyBranch, resultFixed)
	set(assemble.Exit, pipeBranch, arch.LaneBranch, arch.LatencyBranch, resultFixed)
	set(assemble.Control, pipeNone, "", "", resultFixed)
	set(assemble.Yield, pipeNone, "", "", resultFixed)
	issue := max(dram.Ticks(d.MemoryIssue), 1)
	for c := range m.classes {
		if m.classes[c].pipe == pipeMemory {
			m.classes[c].interval = issue
		}
	}
	m.predicate = lat(arch.LatencyPredicate)
}

// setTensor sets what tensor cores do, of whose instructions the assembler makes none where
// there are no figures of them.
func (m *machine) setTensor() {
	d := m.arch
	set := func(c assemble.Class, rate, longer, latency float64) {
		if rate > 0 {
			interval := max(dram.Ticks(float64(d.SubPartitions)*longer/rate), 1)
			m.classes[c] = classSpec{pipe: pipeTensor, interval: interval, latency: max(int64(math.Round(latency)), 1), kind: resultFixed}
		}
	}
	set(assemble.Tensor, d.TensorRate, 1, d.TensorLatency)
	set(assemble.TensorShort, d.TensorShortRate, 1, d.TensorShortLatency)
	set(assemble.TensorSingle, d.TensorRate, d.TensorSingle, d.TensorLatency)
	set(assemble.TensorSingleShort, d.TensorShortRate, d.TensorSingle, d.TensorShortLatency)
	set(assemble.TensorDouble, d.TensorDoubleRate, 1, d.TensorDoubleLatency)
	m.tensorReads = d.TensorReads * dram.Fraction
}

func (m *machine) setMemory(lat func(string) int64) {
	d := m.arch
	m.queueDepth = max(d.MemoryQueue, 1)
	m.lgDepth = m.queueDepth + max(d.LoadQueue/max(d.SubPartitions, 1), 0)
	m.addressing = dram.Ticks(32 / math.Max(d.Lanes[arch.LaneLSU], 1))
	perTag := 1 / math.Max(d.L1TagsPerCycle, 0.25)
	m.tagFirst, m.tagNext = dram.Ticks(d.L1TagOverhead+perTag), dram.Ticks(perTag)
	m.dataPass = dram.Ticks(128 / math.Max(d.L1BytesPerCycle, 1))
	m.fillSector = m.dataPass / (cache.LineBytes / cache.SectorBytes)
	m.sharedPass = dram.Ticks(float64(d.Banks*d.BankWidth) / math.Max(d.SharedBytesPerCycle, 1))
	m.storeLine = dram.Ticks(d.StoreLineCycles)
	m.threeReads = dram.Ticks(d.ThreeReads)
	m.pairReads, m.memoryReads = d.PairReads*dram.Fraction, d.MemoryReads*dram.Fraction
	m.productSlots = dram.Ticks(d.ProductSlots)
	m.latShared, m.latL1 = lat(arch.LatencyShared), lat(arch.LatencyL1)
	m.latConst = lat(arch.LatencyConstant)
	m.latAtomicShared, m.latAtomicL2 = lat(arch.LatencyAtomicShared), lat(arch.LatencyAtomicL2)
	// 85 cycles, of the 95 that a turn takes (deploy/calibrate wavefronts.shared_sums, 1 warp).
	m.latSwap = m.latShared + lat(arch.LatencyFMA) + m.latAtomicShared + lat(arch.LatencyPredicate) + lat(arch.LatencyBranch)
	m.latBarrier = lat(arch.LatencyBarrier)
	m.latFenceCTA, m.latFenceGPU = lat(arch.LatencyFenceCTA), lat(arch.LatencyFenceGPU)
	m.waits = dramWaits(d)
	m.linesPerPiece = uint64(max(d.DRAMPieceBytes/cache.LineBytes, 1))
	m.latL2 = lat(arch.LatencyL2)
	m.latBarrierWarp = dram.Ticks(d.Latency[arch.LatencyBarrierWarp])
	m.constPass = dram.Ticks(1 / math.Max(d.ConstantsPerCycle, 1.0/32))
}

// dramContentionRead and dramContentionMix are dram.Spec.Contention for reads
// alone and for as many writes, fit with shareBurst to the 64 points of
// deploy/calibrate bandwidth.in_flight while every read waited alike (mean error
// 3.5 % then). With the waits that were measured it is 7.9 % (see the test): where
// few bytes are under way short CTAs come out up to 14 % slower than they are.
const (
	dramContentionRead = 60
	dramContentionMix  = 330
)

// shareSlack is dram.Spec.Slack: about the lifetime of a short CTA, over which
// the phases of the SMs' CTAs are independent of each other.
const (
	shareSlack = 2048
	shareBurst = 2
)

// writeBacklogBytes is how much data stores of one SM may have waiting for
// DRAM in L2 before further stores are held: an eighth of the SM's part of L2.
func (m *machine) writeBacklogBytes() float64 {
	return float64(m.arch.L2Bytes) / float64(m.arch.SMs) / 8
}

// share is the memory system as one of active SMs sees it (active may be
// fractional: the grid's CTAs over the CTAs of the SM that has most), when the
// grid's traffic is what plan says.
func (m *machine) share(active float64, plan *reuse.Plan) dram.Spec {
	d, writeShare := m.arch, plan.WriteShare()
	perSM := 1 / math.Max(active, 1)
	l2Write := d.L2WriteBytesPerCycle
	if l2Write <= 0 {
		l2Write = d.L2BytesPerCycle
	}
	port := d.L2BytesPerCycleSM
	if port <= 0 {
		port = d.L2BytesPerCycle * perSM
	}
	way := d.L2WriteBytesPerCycleSM
	if way <= 0 {
		way = port
	}
	s := dram.Spec{
		Granule:    m.granule(),
		L2Read:     math.Min(d.L2BytesPerCycle*perSM, port),
		L2Write:    math.Min(l2Write*perSM, way),
		Port:       port,
		DRAM:       d.DRAMBytesPerCycle() * d.DRAMEfficiency(writeShare) * m.pieceEfficiency(plan.PieceShare) * perSM,
		L2Latency:  int64(math.Round(d.Latency[arch.LatencyL2])),
		FarLatency: int64(math.Round(d.Latency[arch.LatencyL2Far])),
		Waits:      m.waits,
		WriteBack:  plan.WriteBack.Time,
	}
	s.Contention = int64(dramContentionRead + (dramContentionMix-dramContentionRead)*math.Min(2*writeShare, 1))
	if d.L2Slices > 0 {
		s.Contended = active * contendedHold / d.L2Slices
	}
	s.Slack, s.Burst = shareSlack, shareBurst
	s.FarLatency = max(s.FarLatency, s.L2Latency)
	s.WriteBacklog = int64(m.writeBacklogBytes() / s.DRAM)
	return s
}

// contendedHold is how long a granule holds its slice of L2, cycles, that DRAM is asked for
// while another request stores another part of its line: with it threads that update 2, 4 and
// 8 rows in place of 6,000, 6,008 and 6,024 words, which do not begin with a line, come within
// 8 % in the mean of what an H200 takes, 1.3 to 1.8 times as long as of 6,016 and 6,144 or into another
// buffer (deploy/calibrate inplace.rows). It holds up those that touch other lines, too
// (inplace.pairs).
const contendedHold = 18.0

// dramWaits are the descriptor's waits in cycles.
func dramWaits(d *arch.Descriptor) dram.Waits {
	waits := d.DRAMWaits
	for i := range waits {
		waits[i] *= d.Latency[arch.LatencyDRAM]
	}
	return dram.NewWaits(arch.DRAMPercentiles[:], waits[:])
}

// pieceEfficiency is the share of the streaming DRAM rate that is left when only
// part of each piece that DRAM opens is used.
func (m *machine) pieceEfficiency(share float64) float64 {
	whole := float64(m.granule()) / math.Max(float64(m.arch.DRAMPieceBytes), 1)
	return 1 / (1 + m.arch.DRAMOpening*math.Max(whole/math.Max(share, whole)-whole, 0))
}

// granule is the unit of L2 and DRAM traffic: 64 bytes where DRAM moves 64.
func (m *machine) granule() int {
	if m.arch.DRAMGranule == 64 {
		return 64
	}
	return 32
}
