package tuner_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// enter adds a sweep to a history.
func (h *history) enter(num uint64, b tunertest.Bundle) {
	h.bundles[num] = b
	content, digest := b.Content()
	_, _ = h.store.PutBundle(digest, content, tuner.Act{})
	spec := b.Spec(fmt.Sprint("test", num))
	plan := h.plan(spec)
	h.ledger.Add(tuner.Sweep{Num: num, ID: spec.ID(""), Spec: spec, Window: plan.Window, Names: plan.Names}, plan, nil)
	h.commit()
}

// steer pauses or cancels a sweep, or has it go on, at random.
func (h *history) steer(num uint64) {
	s, live := h.ledger.Sweep(num)
	switch {
	case !live:
		h.revive(num)
	case s.State == tuner.Paused:
		_ = h.ledger.Steer(num, tuner.Running)
	case h.rng.IntN(2) == 0:
		_ = h.ledger.Steer(num, tuner.Paused)
	default:
		_ = h.ledger.Steer(num, tuner.Cancelled)
	}
	h.commit()
}

// revive has a cancelled sweep go on.
func (h *history) revive(num uint64) {
	sweeps, _ := h.store.Sweeps()
	for _, s := range sweeps {
		if s.Num != num || s.State != tuner.Cancelled {
			continue
		}
		if leases, _ := h.store.Leases(num); len(leases) > 0 {
			h.fatalf("%d leases are stored of sweep %d, which was cancelled", len(leases), num)
		}
		s.State, s.Message = tuner.Running, ""
		err := h.ledger.Restore(tuner.Restored{Sweep: s, Plan: h.plan(s.Spec), Known: nil, Results: h.resultsOf(num)})
		if err == nil {
			err = h.ledger.Revive(num)
		}
		if err != nil {
			h.fatalf("sweep %d is not revived: %v", num, err)
		}
	}
}

// Four sweeps at once, which are paused, cancelled and resumed while everything else
// goes wrong, with what coordinators ship with: each ends with its own table, that of
// a sweep that nothing disturbed.
func TestRandomHistoriesOfSeveral(t *testing.T) {
	base := tunertest.Seed(t)
	bundles := map[uint64]tunertest.Bundle{
		1: {Size: 150}, 2: {Size: 120, Salt: 1}, 3: {Size: 120, Batch: 6, Growing: true, Salt: 2}, 4: {Size: 100, Level: "model,cycle", Salt: 3},
	}
	undisturbed := map[uint64][]tuner.Result{}
	for num, b := range bundles {
		h := newHistory(t, 0, b, shipped)
		undisturbed[num] = h.finish()
	}
	for i := range uint64(tunertest.Times(20, 2000)) {
		h := newHistory(t, base+i, bundles[1], shipped)
		h.bundles = map[uint64]tunertest.Bundle{1: bundles[1]}
		for num := uint64(2); num <= 4; num++ {
			h.enter(num, bundles[num])
		}
		for range 500 {
			if h.step(); h.rng.IntN(25) == 0 {
				h.steer(1 + h.rng.Uint64N(4))
			}
		}
		for num := uint64(1); num <= 4; num++ {
			h.revive(num)
			if s, live := h.ledger.Sweep(num); live && s.State == tuner.Paused {
				_ = h.ledger.Steer(num, tuner.Running)
			}
			h.commit()
		}
		for num := uint64(1); num <= 4; num++ {
			h.num = num
			if got := h.finish(); !reflect.DeepEqual(got, undisturbed[num]) {
				h.fatalf("sweep %d has another table: %d rows, want %d", num, len(got), len(undisturbed[num]))
			}
		}
	}
}
