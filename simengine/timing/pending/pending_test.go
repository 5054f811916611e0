package pending

import (
	"math/rand/v2"
	"testing"
)

// Waiting for all but the last n groups is waiting for the latest operation of the others.
func TestGroups(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 500 {
		var g Groups[int64]
		var done []int64 // of the committed groups, of at most MaxGroups of which any is waited for
		latest := int64(0)
		for range rng.IntN(20) {
			for range rng.IntN(3) {
				at := rng.Int64N(1000)
				latest = max(latest, at)
				g.Add(at)
			}
			g.Commit()
			done = append(done, latest)
		}
		for n := range 5 {
			want := int64(0)
			if len(done) > n {
				want = done[len(done)-1-n]
			}
			if got := g.Until(n); got != want {
				t.Fatalf("seed %d, round %d: of %d groups all but %d are done at %d, want %d", seed, round, len(done), n, got, want)
			}
		}
		if g.Latest() != latest {
			t.Fatalf("seed %d, round %d: all is done at %d, want %d", seed, round, g.Latest(), latest)
		}
	}
}

// A phase ends with its last arrival or its last bytes, whichever come later; a wait for the phase before goes on.
func TestMbarrier(t *testing.T) {
	b := Mbarrier[int64]{Expected: 2, Pending: 2}
	if !b.Holds(0) || b.Holds(1) {
		t.Fatal("of a fresh barrier the phase before, of parity 1, has ended, and the first has not")
	}
	b.Bytes += 64
	if b.Arrive(1, 10) || b.Arrive(1, 20) {
		t.Fatal("the phase ended without its bytes")
	}
	b.Bytes -= 64
	if !b.Arrive(0, 15) || b.Phases != 1 || b.Done != 20 || b.Pending != 2 || b.Holds(0) || !b.Holds(1) {
		t.Fatalf("%+v: want one phase ended at 20, and two arrivals of the next expected", b)
	}
}
