package makespan

import (
	"container/heap"
	"math"
	"slices"
)

// Device is what CTAs are placed on, and what a CTA of the mean length asks of an SM.
type Device struct {
	SMs, Resident int     // Resident CTAs an SM holds at a time
	Alone         float64 // cycles of such a CTA with the SM to itself
	Busy          float64 // cycles of the SM's busiest unit that it takes
}

// mostPlaced is how many CTAs are placed one by one, at least a wave: of longer grids the last, after
// waves of which no SM is done later than others.
const mostPlaced = 8192

// Skew is the time until a grid's last SM is done over what SMs take of as many CTAs of
// the mean length, at least 1. CTAs that start together are dealt to the SMs in turns
// (deploy/calibrate launch.apart), each later one goes to the SM that has room first. CTAs of an SM share it
// evenly: each takes as long as it does alone, or, if that is longer, as its unit is
// busy with all of them. Known are CTAs spread evenly over the grid.
func Skew(grid [3]int, known []Known, d Device) float64 {
	if len(known) < fewest || d.Alone <= 0 {
		return 1
	}
	n, wave := int64(grid[0])*int64(grid[1])*int64(grid[2]), int64(d.SMs*d.Resident)
	first := int64(0)
	if over := n - max(mostPlaced, wave); over > 0 {
		first = (over + wave - 1) / wave * wave
	}
	placed := newLengths(grid, known).of(first, n-first)
	before := 0.0 // cycles of the waves that are not placed
	if first > 0 {
		left := float64(n)
		for _, l := range placed {
			left -= l
		}
		before = math.Max(left, 0) / float64(wave) * d.pace(d.Resident)
	}
	return math.Max((before+d.place(placed))/d.even(n), 1)
}

// Left is how many times as long CTAs of the mean length hold a slot, each of which the next one
// takes at once, as one wave of CTAs of these lengths does in the mean whose slots stay empty when they are done:
// the long ones then have the SM to themselves for a while.
func (d Device) Left(lengths []float64) float64 {
	mean := 0.0
	for _, l := range lengths {
		mean += l / float64(len(lengths))
	}
	s := &sm{}
	for _, l := range lengths {
		s.ends = append(s.ends, l/mean)
	}
	held := 0.0
	for range lengths {
		s.wait(&d)
		s.finish()
		held += s.now / float64(len(lengths))
	}
	return d.pace(len(lengths)) / held
}

// Waves is as how many full waves n CTAs of the mean length on an SM take.
func (d Device) Waves(n int64) float64 { return d.even(n*int64(d.SMs)) / d.pace(d.Resident) }

// pace is the cycles of a CTA of the mean length that shares an SM with n-1 others.
func (d *Device) pace(n int) float64 { return math.Max(d.Alone, float64(n)*d.Busy) }

// even is when SMs are done with n CTAs of the mean length.
func (d *Device) even(n int64) float64 {
	perSM := (n + int64(d.SMs) - 1) / int64(d.SMs)
	full, rest := perSM/int64(d.Resident), perSM%int64(d.Resident)
	t := float64(full) * d.pace(d.Resident)
	if rest > 0 {
		t += d.pace(int(rest))
	}
	return t
}

// sm is an SM that works on CTAs.
type sm struct {
	ends  []float64 // of its CTAs, in the length that each has done then since the start
	done  float64   // what each that is there all the time has done by now
	now   float64   // cycles
	next  float64   // when the first of its CTAs ends
	later int       // CTAs that it got after the first wave
}

// sms are in the order in which CTAs end on them; of those that end together, one that got
// fewer later ones is first.
type sms []*sm

func (s sms) Len() int { return len(s) }
func (s sms) Less(i, j int) bool {
	return s[i].next < s[j].next || s[i].next == s[j].next && s[i].later < s[j].later
}
func (s sms) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *sms) Push(any)     {}
func (s *sms) Pop() any     { return nil }

// place is when the last SM is done with CTAs of these lengths.
func (d *Device) place(lengths []float64) float64 {
	all := make(sms, d.SMs)
	for i := range all {
		all[i] = &sm{}
	}
	waiting := lengths
	for r := 0; r < d.Resident && len(waiting) > 0; r++ {
		for i := 0; i < d.SMs && len(waiting) > 0; i++ {
			all[i].ends = append(all[i].ends, waiting[0])
			waiting = waiting[1:]
		}
	}
	for _, s := range all {
		s.wait(d)
	}
	heap.Init(&all)
	end := 0.0
	for !math.IsInf(all[0].next, 1) {
		s := all[0]
		end = s.next
		s.finish()
		if len(waiting) > 0 {
			s.ends = append(s.ends, s.done+waiting[0])
			waiting = waiting[1:]
			s.later++
		}
		s.wait(d)
		heap.Fix(&all, 0)
	}
	return end
}

// wait says when the first of an SM's CTAs ends.
func (s *sm) wait(d *Device) {
	s.next = math.Inf(1)
	if len(s.ends) > 0 {
		s.next = s.now + (slices.Min(s.ends)-s.done)*d.pace(len(s.ends))
	}
}

// finish takes the CTA that ends first.
func (s *sm) finish() {
	i := slices.Index(s.ends, slices.Min(s.ends))
	s.now, s.done = s.next, s.ends[i]
	s.ends = slices.Delete(s.ends, i, i+1)
}
