package makespan

import (
	"math"
	"math/rand/v2"
	"testing"
)

// along gives CTAs of a grid of one axis lengths by their place.
func along(n int, length func(i int) float64) (grid [3]int, known []Known) {
	for i := range n {
		known = append(known, Known{int64(i), length(i)})
	}
	return [3]int{n, 1, 1}, known
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(want, 1) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestSkewOfEqualCTAs: CTAs of one length take what CTAs of the mean length do, in waves that
// are full and not, and in more of them than are placed.
func TestSkewOfEqualCTAs(t *testing.T) {
	for _, n := range []int{8, 33, 100, 3 * mostPlaced} {
		for _, d := range []Device{{4, 2, 100, 10}, {4, 8, 100, 40}, {132, 16, 1000, 900}} {
			grid, known := along(min(n, 64), func(int) float64 { return 7 })
			grid[0] = n
			near(t, "skew", Skew(grid, known, d), 1)
		}
	}
}

// TestSkewOfOneWave: where all CTAs start together, one that waits for nothing but
// itself takes as long as the longest, and SMs that are busy all the time take what theirs come to.
func TestSkewOfOneWave(t *testing.T) {
	length := func(i int) float64 { return 1 + float64(i) }
	grid, known := along(16, length)
	near(t, "latency", Skew(grid, known, Device{SMs: 4, Resident: 4, Alone: 100}), 16/8.5)
	// The last SM has CTAs 3, 7, 11 and 15, of 40 of 136.
	near(t, "throughput", Skew(grid, known, Device{SMs: 4, Resident: 4, Alone: 1, Busy: 100}), 40/34.0)
}

// TestSkewByOrder: of ten CTAs on four SMs equal ones take three rounds. Where the longest come first short ones fill
// the last round, and where they come last they end late.
func TestSkewByOrder(t *testing.T) {
	d := Device{SMs: 4, Resident: 1, Alone: 100}
	grid, known := along(10, func(i int) float64 { return float64(10 - i) })
	near(t, "longest first", Skew(grid, known, d), 15/16.5)
	grid, known = along(10, func(i int) float64 { return float64(1 + i) })
	near(t, "longest last", Skew(grid, known, d), 18/16.5)
}

// TestSkewIsScaleFree: only what lengths are to each other matters, and SMs of other
// speed change nothing.
func TestSkewIsScaleFree(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	for range 100 {
		grid, known := along(10+r.IntN(400), func(int) float64 { return math.Exp(2 * r.Float64()) })
		d := Device{1 + r.IntN(40), 1 + r.IntN(8), 1000 * r.Float64(), 500 * r.Float64()}
		want := Skew(grid, known, d)
		if want < 1 && !newLengths(grid, known).byPlace {
			t.Errorf("skew %v below 1 of %d CTAs on %+v", want, grid[0], d)
		}
		for i := range known {
			known[i].Length *= 4
		}
		d.Alone, d.Busy = 8*d.Alone, 8*d.Busy
		near(t, "scaled", Skew(grid, known, d), want)
	}
}

// TestSkewNeverLosesWork: the last SM is not done before the longest CTA, nor before the
// mean SM, and not later than all CTAs one after another.
func TestSkewNeverLosesWork(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	t.Logf("seed %d", seed)
	for range 200 {
		d := Device{1 + r.IntN(20), 1 + r.IntN(6), 1 + 100*r.Float64(), 50 * r.Float64()}
		lengths := make([]float64, 1+r.IntN(300))
		sum, longest := 0.0, 0.0
		for i := range lengths {
			lengths[i] = 0.1 + 3*r.Float64()
			sum, longest = sum+lengths[i], math.Max(longest, lengths[i])
		}
		end := d.place(lengths)
		if least := math.Max(longest*d.pace(1), sum*d.Busy/float64(d.SMs)); end < least*(1-1e-9) {
			t.Errorf("%d CTAs on %+v end at %v, before %v", len(lengths), d, end, least)
		}
		if most := sum * d.pace(1); end > most*(1+1e-9) && d.Busy <= d.Alone {
			t.Errorf("%d CTAs on %+v end at %v, after %v", len(lengths), d, end, most)
		}
	}
}

// TestLengthsByPlace: lengths that go by the place are taken from the nearest, others are
// drawn.
func TestLengthsByPlace(t *testing.T) {
	grid, known := along(64, func(i int) float64 { return 1 + float64(i/4) })
	grid[0] = 640
	for i := range known {
		known[i].CTA = int64(10*i + 5)
	}
	l := newLengths(grid, known)
	if !l.byPlace {
		t.Fatal("lengths that grow along the grid are not known by the place")
	}
	for i, got := range l.of(0, 640) {
		if i%10 == 0 {
			continue // as near to two
		}
		near(t, "length", got, known[i/10].Length/8.5)
	}
	_, known = along(64, func(i int) float64 { return float64(1 + i%2) })
	if newLengths(grid, known).byPlace {
		t.Error("lengths that alternate are known by the place")
	}
}

// TestLeft: two CTAs, one three times as long as the other, that share a busy SM hold
// their slots for 1 and 2 turns where equal ones hold theirs for 2; where they do not share it, nothing is left.
func TestLeft(t *testing.T) {
	near(t, "busy", Device{Alone: 1, Busy: 100}.Left([]float64{1, 3}), 2/1.5)
	near(t, "alone", Device{Alone: 100, Busy: 1}.Left([]float64{1, 3}), 1)
	near(t, "equal", Device{Alone: 1, Busy: 100}.Left([]float64{2, 2, 2}), 1)
}
