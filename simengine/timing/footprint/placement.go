package footprint

import (
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cache"
)

// Placement is which CTAs of a grid share an SM. Those that start together are as far apart as
// there are SMs: of two that follow each other on an H200's SM half are 132 apart, and nearly
// all 80 to 140 (deploy/calibrate launch.apart). Later ones go to whichever SM has room, and
// are anywhere among as many.
type Placement struct {
	grid          [3]int64
	CTAs          int64
	resident, sms int64
}

// NewPlacement is the placement of a launch of which an SM holds resident CTAs.
func NewPlacement(in *timing.Input, resident int64) Placement {
	g := [3]int64{int64(in.Grid[0]), int64(in.Grid[1]), int64(in.Grid[2])}
	return Placement{g, g[0] * g[1] * g[2], resident, int64(in.ActiveSMs())}
}

// At is the place in the grid of the n-th CTA of an SM.
func (p *Placement) At(n int64) [3]int64 {
	id := n * p.sms
	if n >= p.resident {
		id += int64(cache.Hash(uint64(n)) >> 16 % uint64(p.sms))
	}
	id %= p.CTAs
	return [3]int64{id % p.grid[0], id / p.grid[0] % p.grid[1], id / p.grid[0] / p.grid[1]}
}

// Key identifies the data that the n-th CTA of an SM reads, if CTAs have data of their own
// along some axes only: two CTAs with one key read the same.
func (p *Placement) Key(n int64, along Axes) (key int64) {
	for k, c := range p.At(n) {
		key *= p.grid[k]
		if along.Has(k) {
			key += c
		}
	}
	return key
}

// Sharers is how many CTAs that an SM holds at a time read the same, in the mean, if CTAs have
// data of their own along some axes only. perSM is how many CTAs an SM runs in all.
func (p *Placement) Sharers(along Axes, perSM int64) float64 {
	const mostWaves = 4
	ctas := min(perSM, mostWaves*p.resident)
	distinct := 0
	keys := make(map[int64]bool, p.resident)
	for n := range ctas {
		if n%p.resident == 0 {
			clear(keys)
		}
		if k := p.Key(n, along); !keys[k] {
			keys[k] = true
			distinct++
		}
	}
	return float64(ctas) / float64(distinct)
}
