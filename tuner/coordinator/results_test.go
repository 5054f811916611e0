package coordinator

import (
	"errors"
	"slices"
	"testing"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// brittle is a store that cannot read results from a trial on.
type brittle struct {
	store.Store
	from int64
}

func (b brittle) Results(sweep uint64, seq int64, limit int) ([]tuner.Result, error) {
	if seq >= b.from {
		return nil, errors.New("input/output error")
	}
	return b.Store.Results(sweep, seq, limit)
}

// What is read ahead is what is stored, in its order, whatever trials are missing; and an
// error comes after what is before it.
func TestResultsAreReadAheadInOrder(t *testing.T) {
	rng := tunertest.Rand(t)
	for range 20 {
		st := store.NewMemory()
		var c tuner.Changes
		var want []int64
		for seq := int64(0); seq < 12*store.PageLimit; seq++ {
			if rng.IntN(300) == 0 { // trials under way, and trials that were never asked for
				seq += rng.Int64N(3 * store.PageLimit)
			}
			want = append(want, seq)
			c.Results = append(c.Results, tuner.ResultChange{Sweep: 1, Result: tuner.Result{Seq: seq}})
		}
		if err := st.Commit(&c); err != nil {
			t.Fatal(err)
		}
		from := want[rng.IntN(len(want))]
		want = want[slices.Index(want, from):]
		var got []int64
		for r, err := range results(st, 1, from) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Seq)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("from %d on %d results are read, want %d", from, len(got), len(want))
		}
		broken, n := from+rng.Int64N(6*store.PageLimit), 0
		for r, err := range results(brittle{st, broken}, 1, from) {
			if err == nil && (r.Seq != want[n] || r.Seq >= broken+store.PageLimit) {
				t.Fatalf("result %d is trial %d, want %d, and an error by %d", n, r.Seq, want[n], broken)
			}
			n++
		}
		for range results(st, 1, from) {
			break // nobody is left waiting: tests with synctest would not end
		}
	}
}
