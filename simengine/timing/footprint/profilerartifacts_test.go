package footprint

import (
	"testing"

	"pgregory.net/rapid"
)

// streams is the room of reads each of which is made once.
func streams(bytes float64) func(float64) float64 {
	return func(share float64) float64 { return share * bytes }
}

// DRAM takes nothing of a launch that fits L2 with what the profiler restores, and
// of a long stream what it stores; more is never less by more than what may stay.
func TestProfiledWrites(t *testing.T) {
	d := device([3]int{1 << 16, 1, 1})
	if w := d.profiledWrites(streams(1.5*8*mega), 8*mega, 8*mega, 1<<16, true); w != 0 {
		t.Errorf("%.0f bytes of a copy of 8 MB", w)
	}
	for _, inOrder := range []bool{true, false} {
		if w := d.profiledWrites(streams(1.5*256*mega), 256*mega, 256*mega, 1<<16, inOrder); w < 256*mega || w > 270*mega {
			t.Errorf("%.0f bytes of a copy of 256 MB, in order %v", w, inOrder)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d.Resident = rapid.Float64Range(0, 1<<17).Draw(t, "resident")
		inOrder := rapid.Bool().Draw(t, "in order")
		written := rapid.Float64Range(0, 1e9).Draw(t, "written")
		last := 0.0
		for _, read := range []float64{0, 1e6, 1e7, 1e8, 1e9} {
			w := d.profiledWrites(streams(read), written, written, 1<<16, inOrder)
			if w < last-1 || w > 2*written+profilerBytes+1 {
				t.Fatalf("%.0f bytes with %.0f read, after %.0f", w, read, last)
			}
			last = w
		}
	})
}

// Of what a launch stores as it was DRAM takes what an H200 does (counted.same.dram_written): all reads are of their
// own, and what is stored takes room as they do.
func TestProfiledStoresTheSame(t *testing.T) {
	d := device([3]int{1 << 14, 1, 1})
	d.Resident = 8 * 132
	const written = 16777216.0
	for read, want := range map[float64]float64{33554432: 4540672, 67108864: 9671424, 134217728: 13438976, 268435456: 16209408} {
		if w := d.profiledWrites(streams(1.5*read), written, 0, 1<<14, true); w < 0.9*want || w > 1.1*want {
			t.Errorf("%.0f bytes with %.0f read, an H200 takes %.0f", w, read, want)
		}
	}
}

// A loop that reads half a granule an iteration reads half as many as it has
// iterations, however many of them were left out.
func TestIterationsThatShareGranules(t *testing.T) {
	for _, c := range []struct {
		step uint64 // sectors
		want int64
	}{{1, 50}, {2, 100}, {4, 100}} {
		s := New(1, 64, 512)
		s.Begin(Base)
		made := 0
		read := func(k uint64) {
			made++
			s.Request(0, made)
			s.Touch(0, k*c.step/4, 1<<(k*c.step%4), false)
		}
		read(0)
		read(1)
		s.StandFor(0, 97)
		read(2)
		s.StandFor(0, 1)
		read(99)
		if n := s.distinct[0][Base]; n < c.want-2 || n > c.want+2 {
			t.Errorf("%d granules of 100 iterations, %d bytes apart; want %d", n, c.step*32, c.want)
		}
	}
}

// Of two requests for parts of a granule the one made earlier by its warp counts as
// the first, whichever is recorded first; of two at a time the mean.
func TestFirstRequestOfAGranule(t *testing.T) {
	for _, c := range []struct {
		before int // requests of the second warp before it asks for all
		want   float64
	}{{0, 1}, {1, 0.75}, {2, 0.5}} {
		s := New(1, 64, 512)
		s.Begin(Base)
		s.Request(0, 1)
		s.Touch(0, 100, 0xf, false)
		s.Request(0, 2)
		s.Touch(0, 7, 1, false)
		for k := range c.before {
			s.Request(1, 1+k)
			s.Touch(0, 100, 0xf, false)
		}
		s.Request(1, 1+c.before)
		s.Touch(0, 7, 3, false)
		g := s.groups()
		if got := (g[0].firstAsked(s)*3 - 2); got != c.want {
			t.Errorf("%v of the granule asked first, want %v, when a request comes before %d", got, c.want, c.before)
		}
	}
}

// What a launch stores all the same as the one before it need not be restored; what it adds to is another each time.
func TestAtomicsAreRestored(t *testing.T) {
	const ctas, lines = 1 << 13, 32
	written := func(updates []bool) float64 {
		s := New(1, 64, 512)
		for k := Base; k <= Z; k++ {
			s.Begin(k)
			for i := range uint64(lines) {
				s.Touch(0, uint64(k)*lines+i, 0xf, true)
			}
		}
		d := device([3]int{ctas, 1, 1})
		d.Cold, d.Repeated, d.Updates = true, true, updates
		d.Resident = 8 * 132
		_, bytes := s.Plan(d).Moved(true)
		return bytes
	}
	if stores, adds := written(nil), written([]bool{true}); stores == 0 || adds < 1.2*stores {
		t.Errorf("DRAM takes %.0f bytes of stores and %.0f of atomics", stores, adds)
	}
}
