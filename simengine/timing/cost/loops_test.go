package cost

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// Warps of an SM that each load four lines again and again, and store as many or none, must take as long for each round as
// those of an H100, from 2 warps to 32, between an idle DRAM and a busy one. Each line is of a row segment with three others.
func TestLoopsOfLoadsAgainstH100(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMachine(d)
	if err != nil {
		t.Fatal(err)
	}
	var sum [2]float64
	var n [2]int
	for _, r := range measured.On(t, "h100-gangs", "gangs.loop") {
		warps, store := r.Int("warps"), r.Int("store")
		if r.Int("mib") != 1024 || r.Int("loads") != 1 || warps < 2 {
			continue
		}
		got := roundOfLoads(m, warps, store)
		want := r.Value * d.ClockMHz / measuredClockMHz
		e := got/want - 1
		sum[store] += math.Abs(e)
		n[store]++
		t.Logf("%2d warps, stores %d: %5.0f cycles, measured %5.0f, %+.1f %%", warps, store, got, want, 100*e)
	}
	for store, s := range sum {
		if mean := s / float64(max(n[store], 1)); n[store] != 8 || mean > 0.045 {
			t.Errorf("stores %d: mean error %.1f %% of %d measurements", store, 100*mean, n[store])
		}
	}
}

// measuredClockMHz is the SM clock while the loops ran: bytes and cycles of a round by bytes a second.
const measuredClockMHz = 1920

// roundOfLoads is the mean cycles of a round: its loads, then its stores, which nothing waits for.
func roundOfLoads(m *Machine, warps, store int) float64 {
	share := dram.New(m.Share(float64(m.Arch.SMs), Traffic{RowSegmentShare: 1, WriteShare: float64(store) / 2}))
	const rounds, cold = 300, 60
	granules := int64(128 / m.Granule())
	next, stores := make([]int64, warps), make([]bool, warps)
	var began int64
	for k := 0; ; {
		w := 0
		for i := range next {
			if next[i] < next[w] {
				w = i
			}
		}
		at, done := next[w], next[w]
		if stores[w] {
			for range 4 * store {
				share.Write(at, 4, dram.Whole, granules)
			}
			stores[w] = false
			continue
		}
		switch k {
		case cold * warps:
			began = at
		case rounds * warps:
			return float64(at-began) / (rounds - cold)
		}
		for line := range uint64(4) {
			h := cache.Hash(uint64(k)*4 + line)
			done = max(done, share.Read(at, &dram.Request{Sectors: 4, FromDRAM: granules, Held: dram.Fraction, RowSegment: cache.Hash(uint64(k)) >> 24, Noise: h >> 24}))
		}
		next[w], stores[w] = done+roundIssue, true
		k++
	}
}

// roundIssue is what a round takes beside its loads, cycles: a request's way to L1 and the loop's own instructions.
const roundIssue = 40
