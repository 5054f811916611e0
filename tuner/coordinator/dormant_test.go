package coordinator_test

import (
	"testing"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// A sweep that is dormant is shown and not gone on with until somebody submits or steers it: then it goes on from what is
// stored, and its end is that of one that was never interrupted.
func TestDormantSweepsRise(t *testing.T) {
	for _, how := range []string{"submit", "pause and resume"} {
		st := store.NewMemory()
		b := tunertest.Bundle{Size: 40}
		var s tuner.Sweep
		t.Run("before", func(t *testing.T) {
			c := start(t, st, nil)
			put(t, c, b)
			s = submit(t, c, b.Spec("test")).Sweep
			work(t, c, 7)
		})

		d := start(t, st, func(o *coordinator.Options) {
			o.Alone, o.Dormant = true, func(string) bool { return true }
		})
		in := &tuner.Sync{Worker: tunertest.Worker("w", 2, 4), Want: 4}
		if reply, err := d.Synchronize(t.Context(), in, 0); err != nil || len(reply.Grants) > 0 {
			t.Errorf("%s: while it is dormant %d trials are granted (%v)", how, len(reply.Grants), err)
		}
		if shown, err := d.Sweep(t.Context(), s.ID); err != nil || shown.State != tuner.Running || shown.Counts.Done == 0 {
			t.Errorf("%s: it is shown as %v with %d done (%v)", how, shown.State, shown.Counts.Done, err)
		}
		if how == "submit" {
			submit(t, d, b.Spec("test"))
		} else {
			for _, to := range []tuner.SweepState{tuner.Paused, tuner.Running} {
				if _, err := d.Steer(t.Context(), s.ID, to); err != nil {
					t.Fatalf("%s: %v", how, err)
				}
			}
		}
		work(t, d, 33)
		if after, err := d.Sweep(t.Context(), s.ID); err != nil || after.State != tuner.Completed || after.Counts.Done != 40 || after.Best.Index != tunertest.Best(40) {
			t.Errorf("%s: it ends as %+v (%v)", how, after, err)
		}
	}
}
