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

// mostPlaced is how many CTAs are placed one by one, at least a wave. Of longer grids these are
// the last ones: in the waves before, no SM is taken to be later than others.
const mostPlaced = 8192

// Skew is the time until a grid's last SM is done, over what it would be if all CTAs were of
// the mean length. It is below 1 where the longest come first, and at least 1 where lengths do not go by the place. CTAs that start together are dealt to the SMs in turns
// (deploy/calibrate launch.apart), each later one goes to the SM that has room first. On an SM
// the oldest CTA goes first: each goes on as fast as it does alone, as long as older ones leave
// it the SM's busiest unit. known are CTAs spread evenly over the grid.
func Skew(grid [3]int, known []Known, d Device) float64 {
	if len(known) < fewest || d.Alone <= 0 {
		return 1
	}
	n, wave := int64(grid[0])*int64(grid[1])*int64(grid[2]), int64(d.SMs*d.Resident)
	first := int64(0)
	if over := n - max(mostPlaced, wave); over > 0 {
		first = (over + wave - 1) / wave * wave
	}
	all := newLengths(grid, known)
	placed := all.of(first, n-first)
	before := 0.0 // the length of CTAs that are not placed, in means
	if first > 0 {
		before = float64(n)
		for _, l := range placed {
			before -= l
		}
	}
	each := d.pace(d.Resident) / float64(wave) // cycles of these
	took := math.Max(before, 0)*each + d.place(placed)
	for i := range placed {
		placed[i] = 1
	}
	skew := took / (float64(first)*each + d.place(placed))
	if !all.byPlace { // in which order they come is not known
		skew = math.Max(skew, 1)
	}
	return skew
}

// Left compares two uses of an SM's slots. In one, CTAs of the given lengths share it evenly,
// and a slot stays empty when its CTA is done, so that long ones have the SM to themselves for
// a while. In the other, CTAs of the mean length follow each other without a gap. Left is how
// many times as long a CTA holds its slot in the second as in the mean of the first.
func (d Device) Left(lengths []float64) float64 {
	sum := 0.0
	for _, l := range lengths {
		sum += l
	}
	sorted := slices.Sorted(slices.Values(lengths))
	n := len(sorted)
	now, done, held := 0.0, 0.0, 0.0
	for k, l := range sorted {
		now += (l - done) * float64(n) / sum * d.pace(n-k)
		done = l
		held += now / float64(n)
	}
	return d.pace(n) / held
}

// Waves is how many full waves n CTAs of the mean length on an SM are worth in time; a last
// partial one counts less.
func (d Device) Waves(n int64) float64 {
	waves := float64(n / int64(d.Resident))
	if rest := n % int64(d.Resident); rest > 0 {
		waves += d.pace(int(rest)) / d.pace(d.Resident)
	}
	return waves
}

// pace is the cycles of a CTA of the mean length that shares an SM with n-1 others.
func (d *Device) pace(n int) float64 { return math.Max(d.Alone, float64(n)*d.Busy) }

// sm is an SM that works on CTAs.
type sm struct {
	left  []float64 // what is left of its CTAs, the oldest first
	now   float64   // cycles
	next  float64   // when the first of its CTAs ends
	ends  int       // which
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
			all[i].left = append(all[i].left, waiting[0])
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
		s.finish(d)
		if len(waiting) > 0 {
			s.left = append(s.left, waiting[0])
			waiting = waiting[1:]
			s.later++
		}
		s.wait(d)
		heap.Fix(&all, 0)
	}
	return end
}

// cyclesEach is how many cycles the k-th oldest CTA takes for the mean length.
func (d *Device) cyclesEach(k int) float64 {
	if d.Busy == 0 {
		return d.Alone
	}
	rate := 1/d.Busy - float64(k)/d.Alone // what older ones leave
	if rate <= 0 {
		return math.Inf(1)
	}
	return math.Max(1/rate, d.Alone)
}

// wait says when the first of an SM's CTAs ends.
func (s *sm) wait(d *Device) {
	s.next = math.Inf(1)
	for k, left := range s.left {
		if at := s.now + left*d.cyclesEach(k); at < s.next {
			s.next, s.ends = at, k
		}
	}
}

// finish takes the CTA that ends first.
func (s *sm) finish(d *Device) {
	for k := range s.left {
		s.left[k] -= (s.next - s.now) / d.cyclesEach(k)
	}
	s.now = s.next
	s.left = slices.Delete(s.left, s.ends, s.ends+1)
}
