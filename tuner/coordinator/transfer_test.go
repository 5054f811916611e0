package coordinator_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/warptune/warptune/search/seeded"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// noting is a planner that remembers what sweeps of a problem are to begin with.
type noting struct {
	tunertest.Planner
	mu    sync.Mutex
	start map[int64][]string
}

func (n *noting) Plan(ctx context.Context, spec tuner.Spec, files tuner.Files) (tuner.Plan, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.start[spec.Problem[0]] = spec.Start
	return n.Planner.Plan(ctx, spec, files)
}

func (n *noting) of(problem int64) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.start[problem]
}

// A sweep that is to begin with what is best elsewhere begins with the best of
// the nearest other problem sizes, and with the same whatever is found later, also
// after a restart.
func TestTransfer(t *testing.T) {
	st := store.NewMemory()
	n := &noting{start: map[int64][]string{}}
	c := start(t, st, func(o *coordinator.Options) { o.Planner = n })
	sweep := func(size int64) tuner.Spec {
		b := tunertest.Bundle{Size: size}
		put(t, c, b)
		return b.Spec("kernel")
	}
	for _, size := range []int64{40, 1000, 50} {
		submit(t, c, sweep(size))
		work(t, c, int(size))
	}
	for _, size := range []int64{50, 60} { // a short one as near, and one of the same size: neither tells more
		few := sweep(size)
		few.Budget, few.Seed = 2, 9
		submit(t, c, few)
		work(t, c, 2)
	}
	spec := sweep(60)
	spec.Transfer, spec.Start = true, []string{"HIGH=0,LOW=3"}
	first := submit(t, c, spec)
	var want []string
	for _, size := range []int64{50, 40} {
		var all []tuner.Result
		for i := range size {
			all = append(all, tuner.Result{Index: i, Outcome: tunertest.Oracle(i)})
		}
		slices.SortFunc(all, func(a, b tuner.Result) int {
			if a.Less(&b) {
				return -1
			}
			return 1
		})
		for _, r := range all[:seeded.Best] {
			if text := tunertest.Space(size).At(r.Index).String(); !slices.Contains(want, text) {
				want = append(want, text)
			}
		}
	}
	if !first.Created || !slices.Equal(first.Sweep.Transferred, want) || !slices.Equal(n.of(60), append(spec.Start, want...)) {
		t.Fatalf("it begins with %v, planned with %v, want %v", first.Sweep.Transferred, n.of(60), want)
	}

	submit(t, c, sweep(59))
	work(t, c, 59)
	again := submit(t, c, spec)
	if again.Created || !slices.Equal(again.Sweep.Transferred, want) {
		t.Errorf("asked again: created %t, begins with %v", again.Created, again.Sweep.Transferred)
	}
	other := &noting{start: map[int64][]string{}}
	start(t, st, func(o *coordinator.Options) { o.Planner = other })
	if got := other.of(60); !slices.Equal(got, append(spec.Start, want...)) && again.Sweep.State.Live() {
		t.Errorf("after a restart it begins with %v", got)
	}
}
