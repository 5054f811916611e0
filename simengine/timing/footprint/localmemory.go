package footprint

import "math"

// outlived is the share of dead local memory that is written back between two CTAs of one
// place: meanwhile half of what the other CTAs touch and store goes through L2 beside it.
func (d *Device) outlived(touched, written, ctas float64) float64 {
	share := math.Min(d.Resident/ctas, 1)
	return 1 - d.kept(dirtyWhole, dirtyUntil, (share*(touched+written))/2+d.Scratch)
}

// LocalStores is the share of stores to local memory that reach DRAM when a CTA stores to each
// place so many times.
func (p *Plan) LocalStores(times float64) float64 {
	return p.Local + math.Max(p.Outlived-p.Local, 0)/math.Max(times, 1)
}
