package cost

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/trace"
)

// AtomicCost is what global atomics cost one SM's share of L2, cycles. A slice takes the lanes
// of a line together: a time for the request and for each sector, and more for each further
// lane of one word. Consecutive bytes lie on one slice, so that few addresses keep few slices
// busy.
type AtomicCost struct {
	lane            float64 // at least, for each lane, where all SMs meet
	whole           float64 // at least, for each sector
	request, sector float64 // of a line, on one slice
	same, sameFloat float64 // each lane of a word that all SMs meet at, one after the other
	warp            float64 // each further lane of a word that only its warp uses
	slices          float64
}

// AtomicCost is the cost to one of so many active SMs.
func (m *Machine) AtomicCost(active float64) AtomicCost {
	d := m.Arch
	per := func(rate float64) float64 { return active / math.Max(rate, 1e-3) }
	return AtomicCost{
		lane: per(d.AtomicsPerCycle), whole: per(d.AtomicsApart) * atomicsASector,
		request: active * d.AtomicRequest, sector: active * d.AtomicSector,
		same: per(d.AtomicsSameAddress), sameFloat: per(d.AtomicsSameAddressFloat), warp: per(d.AtomicsWarpAddress),
		slices: math.Max(d.L2Slices, 1),
	}
}

// atomicsASector is the 32-bit atomics in a sector. Rates are measured in atomics of whole sectors. An atomic of
// one lane of a sector costs L2 as much as all eight. Of lanes 1, 2, 4, 8 and 32 words apart 98, 103, 102, 98 and
// 96 billion sectors a second are taken (deploy/calibrate reds.stride, 32 MiB).
const atomicsASector = 8

// Line is the cost of the part of request a that goes to one line, of which it uses sectors.
// The grid's atomics on this buffer fall on so many row segments, each on one slice. meet
// reports whether all CTAs' atomics meet at the same addresses, float whether they are
// floating-point.
func (c *AtomicCost) Line(a *trace.Access, sectors uint8, segments float64, meet, float bool) float64 {
	lines := float64(max(a.NLines, 1))
	// Segments are spread over the slices by a hash: of n on s slices those that
	// share the fullest slice take 1/n + 1/s of the time of all.
	share := 1/math.Max(segments, 1) + 1/c.slices
	cost := c.request + c.sector*float64(bits.OnesCount8(sectors))
	same, lanes := float64(max(a.MaxSame, 1)), float64(bits.OnesCount32(a.Mask))
	least := c.Mean(sectors)
	if !meet {
		return math.Max(cost*share, math.Max(lanes-float64(a.Words), 0)/lines*c.warp+least)
	}
	each := c.same
	if float {
		each = c.sameFloat
	}
	cost = (cost + (same-1)/lines*each) * share
	// The words of a buffer that is used as densely as this request uses its sectors.
	words := math.Max(segments*sectorsPerRowSegment*lanes/same/float64(max(a.Sectors, 1)), 1)
	return math.Max(math.Max(cost, same*each/words), math.Max(lanes*c.lane/lines, least))
}

// Mean is how long the part of a request that goes to sectors of one line holds all slices, in
// the mean, cycles.
func (c *AtomicCost) Mean(sectors uint8) float64 { return c.whole * float64(bits.OnesCount8(sectors)) }

// Elect is an atomic's access after the lanes have been summed and one lane adds for all
// (assemble.Program.IsElected).
func Elect(a *trace.Access) trace.Access {
	one := *a
	one.Mask, one.MaxSame, one.Words = a.Mask&-a.Mask, 1, 1
	return one
}

// sectorsPerRowSegment is the least number of sectors that atomics use of a row segment's
// granules, where a granule is two sectors.
const sectorsPerRowSegment = 8
