package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
)

// Whatever is granted, granted again, returned and ended, in whichever batches,
// the leases are those that a map has; and batches take few rows.
func TestLeasesInRowsAreAMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b, m := mustOpen(t, path), NewMemory()
	defer func() { b.Close() }()
	withSweeps(t, b)
	withSweeps(t, m)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	token, ended := uint64(0), map[[2]int64]bool{}
	for step := range 400 {
		c := tuner.Changes{}
		for range 1 + rng.IntN(4) {
			sweep, seq := uint64(1+rng.IntN(2)), rng.Int64N(300)
			l := tuner.LeaseRecord{
				Sweep: sweep, Attempt: 1 + rng.IntN(2), Holder: fmt.Sprint("w", rng.IntN(2)), Held: rng.IntN(4) > 0, Reason: []string{"", "lost"}[rng.IntN(2)],
			}
			end := rng.IntN(2) == 0
			for range 1 + rng.IntN(30) {
				seq += int64(1 + rng.IntN(20)/19)
				if key := [2]int64{int64(sweep), seq}; ended[key] {
					continue
				} else if end && rng.IntN(8) > 0 {
					ended[key] = true
					c.Results = append(c.Results, testResult(sweep, seq))
				} else {
					token++
					l.Seq, l.Token, l.Index = seq, token, rng.Int64N(1e6)
					c.Leases = append(c.Leases, l)
				}
			}
		}
		if rng.IntN(50) == 0 {
			c.Revoked = []uint64{1}
		}
		must(t, m.Commit(&c))
		must(t, b.Commit(&c))
		if rng.IntN(20) == 0 { // what is counted is checked then
			must(t, b.Close())
			b = mustOpen(t, path)
		}
		for sweep := uint64(1); sweep <= 2; sweep++ {
			want, _ := m.Leases(sweep)
			got, err := b.Leases(sweep)
			must(t, err)
			if len(want)+len(got) > 0 && !reflect.DeepEqual(got, want) {
				t.Fatalf("step %d: leases are\n%+v, want\n%+v", step, got, want)
			}
		}
	}
	var batch tuner.Changes
	for seq := range int64(1000) {
		batch.Leases = append(batch.Leases, tuner.LeaseRecord{Sweep: 2, Seq: 1000 + seq, Token: 1e6 + uint64(seq), Index: seq * seq, Attempt: 1, Holder: "w", Held: true})
	}
	before := leaseRows(t, b)
	must(t, b.Commit(&batch))
	if n := leaseRows(t, b) - before; n != 1 {
		t.Errorf("a batch takes %d rows", n)
	}
}

// All the leases of many pages end in one transaction, and some before and after
// them, which have none, too.
func TestManyLeasesEndAtOnce(t *testing.T) {
	b := mustOpen(t, filepath.Join(t.TempDir(), "sweeps.db"))
	defer b.Close()
	withSweeps(t, b)
	const n = 3000
	var granted, ended tuner.Changes
	for seq := range int64(n) {
		// Tokens that leave one out: no two leases in one row.
		granted.Leases = append(granted.Leases, tuner.LeaseRecord{Sweep: 1, Seq: 500 + seq, Token: 2 * uint64(seq), Attempt: 1, Holder: "w", Held: true})
	}
	must(t, b.Commit(&granted))
	for seq := range int64(n + 1000) {
		ended.Results = append(ended.Results, testResult(1, seq))
	}
	must(t, b.Commit(&ended))
	if left, err := b.Leases(1); err != nil || len(left) > 0 {
		t.Errorf("%d leases are left (%v)", len(left), err)
	}
	for seq := range int64(n) {
		granted.Leases[seq].Seq += n + 1000
	}
	must(t, b.Commit(&granted))
	if left, err := b.Leases(1); err != nil || len(left) != n {
		t.Errorf("%d leases are there, want %d (%v)", len(left), n, err)
	}
}

func leaseRows(t *testing.T, b *Bolt) (n uint64) {
	t.Helper()
	must(t, b.view("test", func(tx *bolt.Tx) error {
		n = keys(tx.Bucket(leasesBucket).Bucket(number(2)))
		return nil
	}))
	return n
}
