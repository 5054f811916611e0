package model

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
)

// demand is what a CTA asks of an SM.
type demand struct {
	busy, blocking [numResources]float64 // of one unit: a sub-partition's share
	alone          float64               // cycles with the SM to itself
	contended      float64               // mean DRAM contention delays in that
	vacancy        float64               // cycles its slot stays empty after it
	contention     float64               // such a delay when DRAM is fully busy
}

func newDemand(f *timing.Figures, m *memory, total *work, a alone, warps int) *demand {
	d := &demand{alone: a.time, contended: a.contended, contention: m.contention}
	for r := range resource(numResources) {
		d.busy[r], d.blocking[r] = total.busy[r], total.blocking[r]
		if r.ofSub() {
			d.busy[r] /= float64(f.Schedulers)
			d.blocking[r] = d.busy[r]
		}
	}
	d.busy[issueSlot] /= float64(f.IssueWidth)
	d.vacancy = f.Vacancy + f.VacancyWarp*float64(warps-1)
	return d
}

// busiest is the longest time a CTA needs of any resource.
func (d *demand) busiest() (most float64, at resource) {
	for r, b := range d.busy {
		if b > most {
			most, at = b, resource(r)
		}
	}
	return most, at
}

// interval is the mean time between the completions of CTAs when n are resident
// at a time: the SM is a closed network with n customers that queue for its
// units and then leave their slot empty for a while. A customer finds the
// others' queue as an independent observer of n-1 customers would, less half
// the service that is under way (Schweitzer's approximation for first come first
// served with constant service times).
func (d *demand) interval(n float64) float64 {
	most, _ := d.busiest()
	low, high := 0.0, n/(d.alone+d.vacancy)
	if most > 0 {
		high = math.Min(high, 1/most)
	}
	if n/d.lifetime(high, n) >= high {
		return 1 / high
	}
	for range 40 {
		x := (low + high) / 2
		if n/d.lifetime(x, n) > x {
			low = x
		} else {
			high = x
		}
	}
	return 1 / high
}

// lifetime is how long a CTA holds its slot when n CTAs are resident and rate
// of them finish a cycle.
func (d *demand) lifetime(rate, n float64) float64 {
	t := d.alone + d.vacancy
	others := (n - 1) / n
	for r, b := range d.busy {
		u := math.Min(rate*b, 1)
		seen := others * u
		queue := u * (1 - seen/2) / (1 - seen)
		t += d.blocking[r] * others * (queue - u/2)
	}
	return t + d.contended*d.contention*math.Min(rate*d.busy[dramBus], 1)
}
