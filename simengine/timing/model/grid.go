package model

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
)

// shape is how the CTAs of a grid fall on the SMs.
type shape struct {
	ctas     int64
	perSM    int64   // CTAs of the SM that has most
	resident int64   // CTAs it holds at a time
	active   float64 // SMs' worth of CTAs: ctas / perSM
}

func newShape(in *timing.Input) shape {
	n := int64(in.Grid[0]) * int64(in.Grid[1]) * int64(in.Grid[2])
	sms := int64(in.Arch.SMs)
	s := shape{ctas: n, perSM: (n + sms - 1) / sms}
	s.resident = min(int64(in.CTAsPerSM), s.perSM)
	s.active = float64(n) / float64(s.perSM)
	return s
}

// span is the time of a grid and the steady interval between completions.
type span struct {
	cycles, interval float64
	dispatch         bool // the launch rate sets the time
}

// span puts waves together: slots that fill one after another at the launch
// rate, whole waves at the steady interval, and the last partial one at its own.
func (s shape) span(f *timing.Figures, d *demand) span {
	launch := f.LaunchInterval * s.active
	n := float64(s.resident)
	full, rest := s.perSM/s.resident, s.perSM%s.resident
	interval := d.interval(n)
	wave := n * interval
	stagger := (n - 1) * launch
	cycles := float64(full)*wave - d.vacancy + stagger
	if rest > 0 {
		last := float64(rest)*d.interval(float64(rest)) - d.vacancy
		cycles = math.Max(cycles, float64(full)*wave+last+float64(rest-1)*launch)
	}
	most, _ := d.busiest()
	cycles = math.Max(cycles, float64(s.perSM)*most)
	paced := float64(s.perSM-1)*launch + d.alone
	p := span{cycles: f.ColdStart + math.Max(cycles, paced), interval: interval}
	p.dispatch = paced > cycles
	return p
}
