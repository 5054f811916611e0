package store

import (
	"fmt"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner/tunertest"
)

// What deleted sweeps have left in the index goes, also of runs that are not merged any
// more; what others have in them stays, and of two under a key the newer is found.
func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b := mustOpen(t, path)
	withSweeps(t, b)
	rng := tunertest.Rand(t)
	want := map[indexKey]place{}
	add := func(n int, share int, sweep uint32) { // of share entries one is of sweep 2
		t.Helper()
		for n > 0 {
			var entries []entry
			for range flushEntries {
				p := place{sweep: sweep, seq: rng.Int64N(1 << 48)}
				if share > 0 && rng.IntN(share) == 0 {
					p.sweep = 2
				}
				e := entry{digestIndexKey(fmt.Sprint(rng.IntN(4e6))), p}
				entries = append(entries, e)
				want[e.key] = p
			}
			must(t, b.update("test", func(tx *bolt.Tx) error { return b.index.add(tx, entries) }))
			n -= len(entries)
		}
	}
	const run = 2 * runFanout * flushEntries // at most
	add(run, 10, 1)                          // most of it is of the sweep that goes
	add(run, 0, 1)                           // all is
	add(run, 0, 2)                           // none is
	entries := func() (n int) {
		must(t, b.view("test", func(tx *bolt.Tx) error {
			root := tx.Bucket(indexBucket)
			return root.Bucket(runsBucket).ForEach(func(k, _ []byte) error {
				return eachOfRun(root, k, known(tx), func([]byte, bool) { n++ })
			})
		}))
		return n
	}
	before := entries()
	steps := func() (n int) {
		for {
			more, err := b.Compact()
			must(t, err)
			if !more {
				return n
			}
			n++
		}
	}
	runs := steps()
	if runs < 3 || entries() != before {
		t.Errorf("without a deleted sweep %d runs are looked through, and of %d entries %d stay", runs, before, entries())
	}
	must(t, b.update("test", func(tx *bolt.Tx) error {
		return deleteCounted(tx.Bucket(sweepsBucket), number(1))
	}))
	if n := steps(); n != runs {
		t.Errorf("%d runs are looked through, want %d", n, runs)
	}
	after := entries()
	if n := steps(); n >= runs || entries() != after {
		t.Errorf("once more, %d runs are looked through, and of %d entries %d stay", n, after, entries())
	}
	live := 0
	for range 2 {
		must(t, b.view("test", func(tx *bolt.Tx) error {
			live = 0
			for k, p := range want {
				if p.sweep == 2 {
					live++
				}
				if k[0]%16 > 0 { // some will do
					continue
				}
				got, found, err := b.index.find(tx, k)
				if err != nil || p.sweep == 2 && (!found || got != p) {
					return fmt.Errorf("key %x is %v, %v (%w), want %v", k, got, found, err, p)
				}
			}
			return nil
		}))
		must(t, b.Close())
		b = mustOpen(t, path)
	}
	t.Logf("of %d entries %d are left, %d of them live", before, after, live)
	if after > 2*live {
		t.Errorf("%d entries are left for %d that are live", after, live)
	}
	must(t, b.Close())
	if f, err := Check(path); err != nil || len(f.Problems) > 0 {
		t.Errorf("%+v (%v)", f, err)
	}
}

// A run that is written again stays as old as it was: an entry of it does not come before a
// newer one under the same key.
func TestCompactKeepsTheOrder(t *testing.T) {
	b := mustOpen(t, filepath.Join(t.TempDir(), "sweeps.db"))
	defer b.Close()
	withSweeps(t, b)
	key := digestIndexKey("asked twice")
	for round := range 2 { // each makes a run of the top level
		for i := range runFanout {
			entries := []entry{{key, place{sweep: 2, seq: int64(round)}}}
			for k := range flushEntries {
				entries = append(entries, entry{digestIndexKey(fmt.Sprint(round, i, k)), place{sweep: 1 + uint32(round), seq: 1}})
			}
			must(t, b.update("test", func(tx *bolt.Tx) error { return b.index.add(tx, entries) }))
		}
	}
	must(t, b.update("test", func(tx *bolt.Tx) error {
		return deleteCounted(tx.Bucket(sweepsBucket), number(1))
	}))
	for more := true; more; {
		var err error
		more, err = b.Compact()
		must(t, err)
	}
	b.index.drop() // what it knows of its last run without looking
	must(t, b.view("test", func(tx *bolt.Tx) error {
		if got, found, err := b.index.find(tx, key); err != nil || !found || got.seq != 1 {
			t.Errorf("found is %+v, %v (%v), want the newer", got, found, err)
		}
		return nil
	}))
}
