package cost

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// coalesceExponent: where r SMs of a group read the same lines in step, r^coalesceExponent
// times one SM's requests reach L2 for each. Measured 0.65, 0.46 to 0.57, 0.40 and 0.38 of the
// requests for 2, 4, 8 and 16 SMs (deploy/calibrate merged.read, 16, 32, 66 and 132 sharers;
// lts__t_sectors_srcunit_tex_op_read).
const coalesceExponent = -0.42

// L2Coalesce is what L2's request coalescer leaves of requests for the same data. A group of SMs sends one request
// for a line that several ask for at about the same time; the others wait for it. The GPU has
// arch.Descriptor.L2MergingGroups of them. Where readers CTAs run at a time and read the same in step, requests is
// the share that reaches L2, and held the share of the time that they hold its slices. How CTAs fall on groups is not
// known: they are taken to fall evenly.
func (m *Machine) L2Coalesce(readers float64) (requests, held float64) {
	d := m.Arch
	r := math.Min(readers, float64(d.SMs)) / math.Max(d.L2MergingGroups, 1)
	if d.L2MergedBytesPerCycle <= d.L2BytesPerCycle || r <= 1 {
		return 1, 1
	}
	requests = math.Pow(r, coalesceExponent)
	return requests, math.Max(requests, d.L2BytesPerCycle/d.L2MergedBytesPerCycle)
}

// LoadHeld is how long a load holds L2's slices, of what it takes by itself, by the sectors that it asks for of a line.
func (m *Machine) LoadHeld(readers float64) (held [MostSectors + 1]float64) {
	_, one := m.L2Coalesce(readers)
	for n := range held {
		held[n] = one
	}
	return held
}

const copyExponent = -0.2

// CopyHeld is how long a copy to shared memory holds L2's slices, as a share of what a load of data of its own takes.
// So many CTAs read the same, merged of them in one GPC at about the same time, and together of those that follow each
// other in the grid, 0 where that is not known. held is by the sectors that are copied of a line.
func (m *Machine) CopyHeld(readers, merged, together float64) (held [MostSectors + 1]float64) {
	d := m.Arch
	whole := 1.0
	switch {
	case d.L2LookupBytesPerCycle <= 0:
	case together > 0 && d.BulkBytesPerCycle > 0:
		return m.tileHeld(readers, together)
	default:
		whole = m.copyHeld(readers, merged)
	}
	for n := range held {
		held[n] = whole
		if n > 0 && n < 4 && d.L2LookupBytesPerCycle > 0 {
			held[n] *= (float64(n) + copyHeader) / (4 + copyHeader) / math.Max(float64(n)/4, dram.LeastRead)
		}
	}
	return held
}

// Tiles that CTAs share come faster than data of their own where those share them that follow each other in the grid.
// Those go to one GPC after another, so that different GPCs ask for a line at about the same time. Where the CTAs of one
// GPC share, eight apart, it makes no difference. Bytes a cycle of each of 132 SMs of an H200 that copy tiles and do
// nothing else (deploy/calibrate tiles.copied, rows of 128 bytes, one CTA an SM; of their own data 37):
//
//	tile      256 x 32  256 x 64  128 x 128  64 x 128  64 x 256
//	rows of tiles one after the other:
//	shared    A by 128  A by 64   A by 32    A by 32   A by 16     CTAs that follow each other
//	            75        64        45         40        36
//	columns of eight tiles one after the other:
//	shared    B by 8    B by 8    B by 8     B by 8    B by 8
//	            39        41        50         52        64
//
// So data that r CTAs in a row share cost an SM as long as its own way in takes, and beside that an r-th of what other
// data do. That is the first power of r, and 1.5 lookups a line. CTAs that multiply between copies are less in step:
// launches of shared/hopper have the power tileTogether and, of what any CTAs share, tileLookups. From 0.2 to 0.4 the
// power is about as good there and for the data sets triton-wgmma-a to -d. With 0.3 and 0.4 a product of 4096 cubed
// (docs/TRITON.md) has its fastest configuration first.
//
// Rows of half a line come at 37 to 41 bytes a cycle, whoever shares them (timing.CopiedBytes).
//
// tilesFromL2 is what the ways in of all SMs of an H200 take, of what its L2 looks up. An H100's L2 has 80 slices, not 96.
// Its SMs get 0.82 to 0.84 of what those of an H200 get of tiles with rows of 128 bytes, whoever shares them (samerows.tiles
// and copied.tiles, 128 by 32 and 64 by 128). One alone gets 0.98 (tma.tile_rate).
const (
	tileTogether = 0.4
	tileLookups  = 1.25
	tilesFromL2  = 1.757
)

func (m *Machine) tileHeld(readers, together float64) (held [MostSectors + 1]float64) {
	d := m.Arch
	own := math.Max(lookupsOf(readers), tileLookups) / d.L2LookupBytesPerCycle
	port := math.Min(1/math.Min(float64(d.SMs)*d.BulkBytesPerCycle, tilesFromL2*d.L2LookupBytesPerCycle), own)
	whole := d.L2BytesPerCycle * (port + (own-port)*math.Pow(math.Max(together, 1), -tileTogether))
	least := d.L2BytesPerCycle / timing.CopiedBytes(d)
	for n := range held {
		part := math.Max(float64(n)/4, dram.LeastRead)
		held[n] = math.Max(whole*math.Max(float64(n)/4, 0.25), least) / part
	}
	return held
}

// MostSectors is the most sectors of a line that are asked for at a time, half of them twice.
const MostSectors = 8

const copyHeader = 1.4

// copyHeld is the share of copies of which it is not known who shares them. L2 looks up 6,100 bytes a cycle of an H100.
// What is at home in the farther half of L2 is looked up twice by the first who reads it from there. Of data of their
// own all SMs copy two thirds of that (deploy/calibrate tma.bulk_rate from L2, 132 CTAs: 31 bytes a cycle of each).
// copyExponent is coalesceExponent for tiles: their CTAs are not as much in step as those of merged.read. Rows of half a
// line come at 40 bytes a cycle at most, others at 49.
func (m *Machine) copyHeld(readers, merged float64) float64 {
	d := m.Arch
	lookups := lookupsOf(readers) * math.Pow(math.Max(math.Min(merged, float64(d.SMs)/math.Max(d.L2MergingGroups, 1)), 1), copyExponent)
	return d.L2BytesPerCycle / d.L2LookupBytesPerCycle * math.Max(lookups, timing.CopyLeast)
}

// lookupsOf is how often L2 looks up a line that so many CTAs read: what is at home in its farther half is looked up
// twice by the first of them.
func lookupsOf(readers float64) float64 { return 1 + 1/(math.Max(readers, 1)+1) }
