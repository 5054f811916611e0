package coordinator_test

import (
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// readCounted is a store that counts the rows that are read.
type readCounted struct {
	store.Store
	rows atomic.Int64
}

func (r *readCounted) Salvage(sweep uint64, seq int64, limit int) ([]tuner.Result, []int64, error) {
	page, lost, err := r.Store.Salvage(sweep, seq, limit)
	r.rows.Add(int64(len(page)))
	return page, lost, err
}

// While a sweep goes on, and trials end in any order, the best so far are those of all rows,
// at each moment, for one level and for two; and what has been read is not read again.
func TestTopOfARunningSweep(t *testing.T) {
	rng := tunertest.Rand(t)
	for _, b := range []tunertest.Bundle{{Size: 1500}, {Size: 600, Level: "model,cycle"}} {
		st := &readCounted{Store: store.NewMemory()}
		c := start(t, st, nil)
		id := begin(t, c, b)
		in := &tuner.Sync{Worker: tunertest.Worker("w", 1, 64), Want: 64}
		var open []tuner.Grant
		for steps := 0; ; steps++ {
			reply, err := c.Synchronize(t.Context(), in, 0)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, reply.Grants...)
			in.Reports, in.Held = nil, nil
			rng.Shuffle(len(open), func(i, k int) { open[i], open[k] = open[k], open[i] })
			for n := rng.IntN(len(open) + 1); n > 0; n-- { // some may stay open for long
				g := open[len(open)-1]
				open = open[:len(open)-1]
				o := b.Outcome(g.Level, g.Index)
				in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
			}
			for _, g := range open {
				in.Held = append(in.Held, g.Held)
			}
			in.Want = 64 - len(open)
			s, err := c.Sweep(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if steps%10 == 0 || s.State.Ended() {
				var all []tuner.Result
				for seq := int64(0); ; {
					page, _, err := c.Results(t.Context(), s.Num, seq, store.PageLimit)
					if err != nil {
						t.Fatal(err)
					}
					if len(page) == 0 {
						break
					}
					seq = page[len(page)-1].Seq + 1
					all = append(all, slices.DeleteFunc(page, func(r tuner.Result) bool { return !s.Decides(r.Seq) })...)
				}
				slices.SortFunc(all, func(a, b tuner.Result) int {
					if a.Less(&b) {
						return -1
					}
					return 1
				})
				for _, n := range []int{1, 10, 100, 300} {
					got, _, err := c.Top(t.Context(), id, n)
					if want := all[:min(n, len(all))]; err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
						t.Fatalf("after %d results the best %d are %d others (%v)", s.Counts.Done, n, len(got), err)
					}
				}
			}
			if len(open) == 0 && len(in.Reports) == 0 && len(reply.Grants) == 0 {
				break
			}
		}
		before := st.rows.Load()
		for range 100 {
			if _, _, err := c.Top(t.Context(), id, 10); err != nil {
				t.Fatal(err)
			}
		}
		if read := st.rows.Load() - before; read > 100 {
			t.Errorf("a hundred who ask for the best ten read %d rows of %d", read, b.Size)
		}
	}
}
