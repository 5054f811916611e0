package cost

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// What remains of dram.Spec that no descriptor has: the mean waits of a read for other SMs' requests, cycles, when DRAM
// is fully busy. They were fitted to loops of loads by all SMs of an H100, with 2 to 32 warps an SM (deploy/calibrate
// gangs.loop). Loads of a line by each quarter of a warp wait 8, 32, 78, 152, 361 and 621 cycles more than on an idle DRAM
// where it is busy for 0.2, 0.39, 0.55, 0.67, 0.83 and 0.91 of the time. That is the longest of four, and some of it is for
// the SM's own. With as much that is stored it is 105, 236, 411 and 603 where it is busy for 0.2, 0.34, 0.59 and 0.76.
const (
	dramQueue      = 250 // that grows with how busy DRAM is to the power of 3.5: queues at its channels
	dramTurnaround = 290 // that grows in proportion, where as much is written as read: DRAM turns around
)

// shareSlack is dram.Spec.Slack: about the lifetime of a short CTA, over which
// the phases of the SMs' CTAs are independent of each other.
const (
	shareSlack = 2048
	shareBurst = 2
)

// writeBacklogBytes is how much data of one SM's stores may wait in L2 for DRAM before further
// stores wait: an eighth of the SM's part of L2.
func (m *Machine) writeBacklogBytes() float64 {
	return float64(m.Arch.L2Bytes) / float64(m.Arch.SMs) / 8
}

// Share is L2 and DRAM as one of active SMs sees them, for traffic like t. active may be
// fractional: the grid's CTAs over those of the SM that has most.
func (m *Machine) Share(active float64, t Traffic) dram.Spec {
	d, writeShare := m.Arch, t.WriteShare
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
		Granule:    m.Granule(),
		L2Read:     math.Min(d.L2BytesPerCycle*perSM, port),
		L2Write:    math.Min(l2Write*perSM, way),
		Port:       port,
		DRAM:       d.DRAMBytesPerCycle() * d.DRAMEfficiency(writeShare) * m.rowSegmentEfficiency(t.RowSegmentShare) * (1 - t.Uneven) * perSM,
		L2Latency:  int64(math.Round(d.Latency[arch.LatencyL2])),
		FarLatency: int64(math.Round(d.Latency[arch.LatencyL2Far])),
		Waits:      m.waits,
		WriteBack:  t.WriteBack,
		Apart:      t.Apart,
	}
	s.Turnaround, s.Queue = dramTurnaround*math.Min(2*writeShare, 1), dramQueue
	if d.L2Slices > 0 {
		s.Contended = active * contendedHold / d.L2Slices
	}
	s.Slack, s.Burst, s.InStep = shareSlack, shareBurst, t.InStep
	s.FarLatency = max(s.FarLatency, s.L2Latency)
	if s.FarLatency > s.L2Latency {
		s.Crossing = farHalf
	}
	s.WriteBacklog = int64(m.writeBacklogBytes() / s.DRAM)
	return s
}

// contendedHold is how long a granule that comes from DRAM holds its slice of L2, cycles, while
// another request stores to another part of its line (false sharing). With it, threads that update 2, 4 and 8 rows in
// place come within 8 % in the mean of an H200 (deploy/calibrate inplace.rows). The rows are of 6,000, 6,008 and
// 6,024 words, which do not begin with a line. That takes 1.3 to 1.8 times as long as rows of 6,016 and 6,144 words,
// or into another buffer. Requests for other lines are held up, too (inplace.pairs).
const contendedHold = 18.0

// farHalf is the share of lines that are at home in the farther half of L2.
const farHalf = 0.5

// dramWaits are the descriptor's waits in cycles.
func dramWaits(d *arch.Descriptor) dram.Waits {
	waits := d.DRAMWaits
	for i := range waits {
		waits[i] *= d.Latency[arch.LatencyDRAM]
	}
	return dram.NewWaits(arch.DRAMPercentiles[:], waits[:])
}

// rowSegmentEfficiency is the share of the streaming DRAM rate that is left when only a share
// of each row segment that DRAM opens is used.
func (m *Machine) rowSegmentEfficiency(share float64) float64 {
	whole := float64(m.Granule()) / math.Max(float64(m.Arch.DRAMPieceBytes), 1)
	return 1 / (1 + m.Arch.DRAMOpening*math.Max(whole/math.Max(share, whole)-whole, 0))
}

// Granule is the unit of L2 and DRAM traffic, bytes: 64 where DRAM moves 64, else 32.
func Granule(d *arch.Descriptor) int {
	if d.DRAMGranule == 64 {
		return 64
	}
	return 32
}

func (m *Machine) Granule() int { return Granule(m.Arch) }

// Granules is how many granules of a size the sectors of one line lie in.
func Granules(size int, sectors uint8) int {
	if size == 64 {
		sectors = (sectors | sectors>>1) & 0b0101
	}
	return bits.OnesCount8(sectors)
}

// Traffic is what the cost of DRAM depends on beside how many bytes it moves.
type Traffic struct {
	// WriteShare is the share of the bytes that are written.
	WriteShare float64
	// RowSegmentShare is the share of each row segment that DRAM opens which is read.
	RowSegmentShare float64
	// WriteBack is how many times as long a stored granule takes DRAM as one of a stream.
	WriteBack float64
	// Apart is the share of what is stored that CTAs store to parts of sectors of which L2 has nothing.
	Apart float64
	// Uneven is the share of the rate that is lost because SMs do not end together.
	Uneven float64
	// InStep: SMs ask L2 at the same moments as each other.
	InStep bool
}
