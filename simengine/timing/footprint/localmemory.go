package footprint

import "math"

// outlived is the share of local memory written back between two CTAs of a place:
// beside it, what CTAs of all places touch and store meanwhile goes through L2.
func (d *Device) outlived(touched, written, ctas float64) float64 {
	share := math.Min(d.Resident/ctas, 1)
	return 1 - d.kept(dirtyWhole, dirtyUntil, (share*(touched+written))/2+d.Scratch)
}

// LocalStores is the share of stores to local memory that reach DRAM when each place
// is stored times over by a CTA.
func (p *Plan) LocalStores(times float64) float64 {
	return p.Local + math.Max(p.Outlived-p.Local, 0)/math.Max(times, 1)
}
