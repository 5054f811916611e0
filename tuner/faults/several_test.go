package faults

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Three sweeps run at once while workers and the coordinator are killed; meanwhile
// one is paused and goes on again and again, and one is cancelled and submitted
// again. Each ends with the table that it has alone.
func TestSeveralSweepsKilled(t *testing.T) {
	kills := tunertest.Times(12, 200)
	first := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: int64(75 * kills)})
	paused := first.other(t, tunertest.Bundle{Size: int64(67 * kills), Batch: 40, Salt: 1}, 2)
	cancelled := first.other(t, tunertest.Bundle{Size: int64(60 * kills), Salt: 2}, 3)
	rng := tunertest.Rand(t)
	f := first.fleet(t, never, func() (role, []string) { return first.coordinator(), nil })
	f.up(t)
	o := observe(t, first.address)
	o.submit(t, paused.bundle)
	o.submit(t, cancelled.bundle)
	steer := func(call func(context.Context) error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = call(ctx) // the coordinator may be away, or the sweep over: it is tried again
	}
	for i := range kills {
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
		victim := f.coordinator
		if rng.IntN(3) > 0 {
			victim = f.workers[rng.IntN(8)]
		}
		if p := victim.process(); p != nil && !f.over() {
			p.signal(syscall.SIGKILL)
		}
		steer(func(ctx context.Context) (err error) {
			switch i % 4 {
			case 0:
				_, err = o.Pause(ctx, &warptunev1.PauseRequest{Id: paused.id})
			case 1:
				_, err = o.Cancel(ctx, &warptunev1.CancelRequest{Id: cancelled.id})
			case 2:
				_, err = o.Resume(ctx, &warptunev1.ResumeRequest{Id: paused.id})
			default:
				_, err = o.Resume(ctx, &warptunev1.ResumeRequest{Id: cancelled.id})
			}
			return err
		})
	}
	late := func() { // two, since a second one confirms the best
		for range 2 {
			r := first.worker(fmt.Sprint("late", len(f.workers)))
			f.workers = append(f.workers, supervise(t.Context(), t, first.witness.hear, never, func() (role, []string) { return r, nil }))
		}
	}
	first.calm()
	for _, s := range []*sweep{first, paused, cancelled} { // what stands still goes on
		for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			state := o.wait(t, s.id, func(*warptunev1.Sweep) bool { return true })
			if completed(state) {
				break
			}
			if f.over() { // nothing was left while a sweep was cancelled
				late()
			}
			if time.Now().After(until) {
				t.Fatalf("%v", state.GetCounts())
			}
			if state.GetState() != warptunev1.SweepState_SWEEP_STATE_RUNNING {
				steer(func(ctx context.Context) error {
					_, err := o.Resume(ctx, &warptunev1.ResumeRequest{Id: s.id})
					return err
				})
			}
		}
	}
	f.wait(t)
	for _, s := range []*sweep{first, paused, cancelled} {
		s.verdict(t)
	}
}
