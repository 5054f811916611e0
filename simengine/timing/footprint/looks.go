package footprint

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// LookedUp is the share of what SMs ask for by an instruction that L2 looks up.
func (p *Plan) LookedUp(d *arch.Descriptor, pc int) float64 {
	if !cost.Joins(d) {
		return 1
	}
	return p.Looks[pc]
}

// looks is that share for a load of a group: by the turns in which CTAs read tiles where they are known, else by the
// CTAs in step.
func (p *Plan) looks(g *group, d *Device, load int, ctas float64) float64 {
	copied := d.Ahead != nil && d.Ahead[load]
	if g.sharers.CTAs > 0 {
		g.sharers.Copied = copied
		return g.sharers.LookedUp()
	}
	n := math.Min(p.LockstepSharers[load], p.Readers[load])
	if n <= 1 {
		return cost.TilesLookedUp(math.Min(p.Merged[load], d.PerGPC))
	}
	apart := 1.0
	for k, size := range d.Grid {
		if !p.DistinctAlong[load].Has(k) && 2*g.inStep[X+Direction(k)] > g.distinct[X+Direction(k)] {
			break
		}
		apart *= float64(size)
	}
	return d.sharers(n, apart, ctas, copied).LookedUp()
}

// sharers are n CTAs that read the same, so far apart.
func (d *Device) sharers(n, apart, ctas float64, copied bool) cost.Sharers {
	resident := math.Max(math.Min(d.Resident, ctas), 1)
	perSM := d.CTAsPerSM * resident / math.Max(d.Resident, 1)
	return cost.Sharers{CTAs: n, Apart: apart, Waves: ctas / resident, PerSM: perSM, Copied: copied}
}
