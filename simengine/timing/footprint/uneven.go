package footprint

import "math"

// Uneven ends: where DRAM has more to do than it can, it serves some SMs more than others, 0.88 to 1.3 times the mean. A
// grid whose CTAs all start together and take equal parts of the work then ends unevenly: of 512 MB copied by CTAs in a
// loop the first of them ends after 0.44 of the time, the mean one after 0.79, and those left do not keep DRAM busy.
// Loops copy at 0.94 of the rate of CTAs that each copy a tile, whatever the order of tiles. CTAs that draw the next tile
// lose nothing. Loops that only read lose 0.015, such that only write 0.033, and copies of 64 MB, which L2 takes the most
// of, 0.01 (deploy/calibrate fronts.stream, fronts.ends, fronts.sms).
const (
	unevenReads, unevenMix, unevenWrites = 0.015, 0.06, 0.033
)

// uneven is the share of DRAM's rate that a grid loses at its end. Of several waves it is the last one's.
func (d *Device) uneven(p *Plan, ctas float64) float64 {
	bytes := p.ReadBytes + p.WriteBytes
	if d.Resident == 0 || bytes <= float64(d.L2Bytes) {
		return 0
	}
	w := p.WriteShare()
	lost := unevenReads + (unevenMix-unevenReads)*2*w
	if w > 0.5 {
		lost = unevenMix + (unevenWrites-unevenMix)*(2*w-1)
	}
	return lost * (1 - float64(d.L2Bytes)/bytes) / math.Max(ctas/d.Resident, 1)
}
