package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// shape is the shape of the grid that is composed.
type shape struct{ timing.Shape }

// span is the time of a grid.
type span struct {
	cycles   float64
	ctas     float64 // resident on an SM on average
	dispatch bool    // the launch rate sets the time
}

// span is the time in which slots that fill one after another at the launch rate run their CTAs
// one after another. Each CTA takes as long as the rate of CTAs that results has them wait for
// each other: a fixed point, found by bisection.
func (s shape) span(f *cost.Figures, d *demand) span {
	launch := f.LaunchInterval * s.Active
	n := float64(s.PerSM)
	paced := (n-1)*launch + d.alone
	least := math.Max(math.Max(d.least(n), s.inStep(d, launch)), paced)
	low, high := least, least
	for s.filled(d, launch, high) > high {
		low, high = high, 2*high
	}
	for range 40 {
		if t := (low + high) / 2; s.filled(d, launch, t) > t {
			low = t
		} else {
			high = t
		}
	}
	p := span{cycles: f.ColdStart + high, dispatch: high < paced*1.02 && (n-1)*launch > d.alone}
	p.ctas = n / p.cycles * d.lifetime(n/high, float64(s.Resident))
	if s.PerSM > s.Resident && !p.dispatch {
		// Slots that wait for no launch are empty between CTAs only.
		p.ctas = math.Max(p.ctas, float64(s.Resident))
	}
	p.ctas = math.Max(math.Min(p.ctas, float64(s.Resident))-n/p.cycles*d.vacancy, 0)
	return p
}

// inStep is the least time of a grid whose CTAs start together. The first ones reach each part
// of the memory system at once, as far as the launch rate has not set them apart. CTAs of the
// first wave end together, too, so that those of a last partial wave have nothing to overlap
// with; later waves come apart.
func (s shape) inStep(d *demand, launch float64) float64 {
	n, full, rest := float64(s.Resident), float64(s.PerSM/s.Resident), s.PerSM%s.Resident
	least := d.least(float64(s.PerSM)) + math.Max(n*d.apart-(n-1)*launch, 0)
	if rest > 0 && full > 0 {
		before := full*n - (n-1)*(1-1/full)
		least = math.Max(least, d.least(before)+d.alone)
	}
	return least
}

// filled is when the last slot is done if the grid's CTAs finish at the rate that a span of t
// means.
func (s shape) filled(d *demand, launch, t float64) float64 {
	return s.end(launch, d.lifetime(float64(s.PerSM)/t, float64(s.Resident))) - d.vacancy
}

// lockstepFloor is the time of a grid whose CTAs wait for nothing but what they all wait for
// together, cycles; 0 where that is no more than each waits for by itself.
func (s shape) lockstepFloor(f *cost.Figures, d *demand) float64 {
	if d.lockstep <= d.alone {
		return 0
	}
	return f.ColdStart + s.end(f.LaunchInterval*s.Active, d.lockstep+d.vacancy) - d.vacancy
}

// end is when the last slot is free if each CTA holds one for so long.
func (s shape) end(launch, one float64) float64 {
	full, rest := float64(s.PerSM/s.Resident), float64(s.PerSM%s.Resident)
	end := float64(s.Resident-1)*launch + full*one
	if rest > 0 {
		end = math.Max(end, (rest-1)*launch+(full+1)*one)
	}
	return end
}
