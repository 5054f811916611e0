package store

import (
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
)

// A store that is replaced by its older copy has another future: only what was
// granted before the copy was made is its own.
func TestOlderCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	begin := func(path, name string, token uint64) []tuner.Incarnation {
		t.Helper()
		b, err := Open(path, OpenOptions{AnyFileSystem: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		past, err := b.Begin(name, tuner.Act{What: tuner.ActStart, Detail: name})
		if err == nil && token > 0 {
			err = b.Commit(&tuner.Changes{Token: token})
		}
		if err != nil {
			t.Fatal(err)
		}
		past = append([]tuner.Incarnation{{Name: b.ID()}}, past...) // for what follows
		return past
	}
	id := begin(path, "a", 10)[0].Name
	copied := func() string {
		to := filepath.Join(t.TempDir(), "copy.db")
		b, err := Open(path, OpenOptions{AnyFileSystem: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if err := b.db.View(func(tx *bolt.Tx) error { return tx.CopyFile(to, 0o600) }); err != nil {
			t.Fatal(err)
		}
		return to
	}
	copy := copied()
	begin(path, "silent", 0) // it ended before it granted anything
	begin(path, "b", 20)
	for _, c := range []struct {
		path, name string
		want       map[string]uint64
	}{
		{path, "c", map[string]uint64{id: 0, "a": 10, "b": 20, "silent": 0, "c": 0, "other": 0}},
		{copy, "d", map[string]uint64{"a": 10, "b": 0, "c": 0}},
		{copy, "e", map[string]uint64{"a": 10, "b": 0, "d": 30}},
	} {
		past := begin(c.path, c.name, 30)[1:]
		for name, want := range c.want {
			if got := tuner.Fence(past, name); got != want {
				t.Errorf("%s: of %q up to token %d, want %d (%+v)", c.name, name, got, want, past)
			}
		}
	}
	for i := range 3 * tuner.MaxPast {
		if past := begin(path, string(rune('α'+i)), uint64(100+i)); len(past) > tuner.MaxPast+1 {
			t.Fatalf("%d incarnations are remembered", len(past))
		}
	}
}
