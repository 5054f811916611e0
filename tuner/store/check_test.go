package store

import (
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Check finds nothing in a sound store and names each thing that is wrong.
func TestCheckFinds(t *testing.T) {
	wrong := map[string]func(b *Bolt, tx *bolt.Tx) error{
		"": func(*Bolt, *bolt.Tx) error { return nil },
		"wrong checksum": func(_ *Bolt, tx *bolt.Tx) error {
			results := tx.Bucket(resultsBucket).Bucket(number(1))
			row := append([]byte(nil), results.Get(number(5))...)
			row[3] ^= 4
			return results.Put(number(5), row)
		},
		"its record says 40": func(_ *Bolt, tx *bolt.Tx) error {
			return tx.Bucket(resultsBucket).Bucket(number(1)).Delete(number(39))
		},
		"points at trial 7": func(_ *Bolt, tx *bolt.Tx) error {
			return tx.Bucket(resultsBucket).Bucket(number(1)).Delete(number(7))
		},
		"and has 1 leases": func(_ *Bolt, tx *bolt.Tx) error {
			return putLeases(tx, &tuner.Changes{Leases: []tuner.LeaseRecord{{Sweep: 1, Seq: 50, Holder: "w/1"}}})
		},
		"not among its results": func(_ *Bolt, tx *bolt.Tx) error {
			best := testBest(1, 0.001, nil)
			best.Spec = testSweep(1).Spec
			return putBest(tx, &best)
		},
	}
	for says, damage := range wrong {
		path := filepath.Join(t.TempDir(), "sweeps.db")
		b := mustOpen(t, path)
		s := testSweep(1)
		bundle, digest := tunertest.Bundle{Size: 100}.Content()
		putBundle(t, b, digest, bundle)
		s.State, s.Counts.Done = tuner.Completed, 40
		c := tuner.Changes{Sweeps: []tuner.Sweep{s}}
		for i := range int64(40) {
			c.Results = append(c.Results, testResult(1, i))
		}
		must(t, b.Commit(&c))
		must(t, b.db.Update(func(tx *bolt.Tx) error { return damage(b, tx) }))
		must(t, b.Close())
		f, err := Check(path)
		must(t, err)
		text := strings.Join(f.Problems, "\n")
		if says == "" && text != "" || !strings.Contains(text, says) {
			t.Errorf("want %q, found %q", says, text)
		}
		if says == "" && (f.Results != 40 || f.Sweeps != 1 || f.Answers == 0) {
			t.Errorf("counted %+v", f)
		}
	}
}
