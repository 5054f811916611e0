package store

import (
	"fmt"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner/tunertest"
)

// The index finds what a map would, through flushes, merges, reopening and
// transactions that fail.
func TestIndexIsAMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b := mustOpen(t, path)
	defer func() { b.Close() }()
	withSweeps(t, b)
	rng := tunertest.Rand(t)
	want := map[indexKey]place{}
	key := func() indexKey { return digestIndexKey(fmt.Sprint(rng.IntN(400_000))) }
	// Sixty steps, and as many more as it takes until runs have been merged: a run has less than twice flushEntries.
	for step, added := 0, 0; step < 60 || added < 2*(runFanout+1)*flushEntries; step++ {
		fails := rng.IntN(8) == 0
		var entries []entry
		for range 1 + rng.IntN(flushEntries) {
			entries = append(entries, entry{key(), place{sweep: 1 + uint32(rng.IntN(2)), seq: rng.Int64N(1 << 48)}})
		}
		err := b.update("test", func(tx *bolt.Tx) error {
			if err := b.index.add(tx, entries); err != nil || !fails {
				return err
			}
			return fmt.Errorf("this one fails")
		})
		switch {
		case fails && err != nil:
			b.index.drop()
		case err != nil:
			t.Fatal(err)
		default:
			added += len(entries)
			for _, e := range entries {
				want[e.key] = e.place
			}
		}
		if rng.IntN(10) == 0 {
			must(t, b.Close())
			b = mustOpen(t, path)
		}
		must(t, b.view("test", func(tx *bolt.Tx) error {
			for range 500 {
				k := key()
				got, found, err := b.index.find(tx, k)
				if p, ok := want[k]; err != nil || found != ok || got != p {
					return fmt.Errorf("step %d: key %x is %v, %v (%w), want %v, %v", step, k, got, found, err, p, ok)
				}
			}
			return nil
		}))
	}
	must(t, b.view("test", func(tx *bolt.Tx) error {
		levels := map[byte]int{}
		root := tx.Bucket(indexBucket)
		must(t, root.Bucket(runsBucket).ForEach(func(k, _ []byte) error { levels[k[0]]++; return nil }))
		if levels[0] >= runFanout || levels[topLevel] == 0 {
			t.Errorf("runs of levels %v", levels)
		}
		for k, p := range want {
			if got, found, err := b.index.find(tx, k); err != nil || !found || got != p {
				return fmt.Errorf("key %x is %v, %v (%w), want %v", k, got, found, err, p)
			}
		}
		return nil
	}))
}

// A reader that began before a flush finds what it would have.
func TestIndexReadersSeeTheirTime(t *testing.T) {
	b := mustOpen(t, filepath.Join(t.TempDir(), "sweeps.db"))
	defer b.Close()
	withSweeps(t, b)
	fill := func(from, to int) {
		var entries []entry
		for i := from; i < to; i++ {
			entries = append(entries, entry{digestIndexKey(fmt.Sprint(i)), place{1, int64(i)}})
		}
		must(t, b.update("test", func(tx *bolt.Tx) error { return b.index.add(tx, entries) }))
	}
	fill(0, 100)
	must(t, b.view("test", func(tx *bolt.Tx) error {
		fill(100, 3*flushEntries)
		for i := range 100 {
			if p, found, err := b.index.find(tx, digestIndexKey(fmt.Sprint(i))); err != nil || !found || p.seq != int64(i) {
				return fmt.Errorf("entry %d is %v, %v (%w)", i, p, found, err)
			}
		}
		return nil
	}))
}

// A filter has every key added, and few others.
func TestFilter(t *testing.T) {
	const n = 10_000
	f := newFilter(n)
	for i := range n {
		f.add(digestIndexKey(fmt.Sprint(i)))
	}
	wrong := 0
	for i := range 2 * n {
		has := f.has(digestIndexKey(fmt.Sprint(i)))
		if i < n && !has {
			t.Fatalf("key %d was added", i)
		}
		if i >= n && has {
			wrong++
		}
	}
	if wrong > n/50 {
		t.Errorf("%d of %d keys that were not added seem to be", wrong, n)
	}
}
