package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
)

func testAct(n int64) tuner.Act {
	return tuner.Act{
		At: time.Unix(1700000000+n, 0).UTC(), What: tuner.ActPause, Sweep: fmt.Sprint("sweep ", n), Number: uint64(n), Owner: "ann",
		By: &tuner.Caller{Name: "ann", Role: "submitter", Address: "10.0.0.1"}, Refused: "limit", Detail: "é",
	}
}

// actsText is acts as they are told, with their numbers.
func actsText(acts []tuner.Act) (string, error) {
	var out strings.Builder
	for i := range acts {
		text, err := json.Marshal(&acts[i])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%d %s\n", acts[i].Num, text)
	}
	return out.String(), nil
}

// everyAct reads the whole log in pages, newest first.
func everyAct(t *testing.T, s Store, page int) (acts []tuner.Act, lost []uint64) {
	t.Helper()
	for before := uint64(0); ; {
		more, damaged, err := s.Acts(before, page)
		must(t, err)
		if len(more)+len(damaged) == 0 {
			return acts, lost
		}
		for _, a := range more {
			before = a.Num
		}
		for _, n := range damaged {
			before = min(before, n)
		}
		acts, lost = append(acts, more...), append(lost, damaged...)
	}
}

// Acts are appended in their order, under numbers that ascend, and read in pages.
func TestActsAreAppended(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		var want []tuner.Act
		for i := range int64(25) {
			a := testAct(i)
			must(t, s.Commit(&tuner.Changes{Acts: []tuner.Act{a}}))
			a.Num = uint64(i + 1)
			want = append(want, a)
		}
		want = slices.Clone(want)
		slices.Reverse(want)
		s = again()
		for _, page := range []int{1, 4, 25, 1000} {
			if got, lost := everyAct(t, s, page); !reflect.DeepEqual(got, want) || lost != nil {
				t.Errorf("pages of %d: %+v, %v", page, got, lost)
			}
		}
	})
}

// The log is bounded: the oldest go, and numbers are not given twice.
func TestActsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b := mustOpen(t, path)
	b.maxActs = 10
	for i := range int64(35) {
		must(t, b.Commit(&tuner.Changes{Acts: []tuner.Act{testAct(i)}}))
	}
	must(t, b.Close())
	b = mustOpen(t, path)
	got, _ := everyAct(t, b, 7)
	if len(got) != 10 || got[0].Num != 35 || got[9].Num != 26 {
		t.Errorf("%d acts are left: %+v", len(got), got)
	}
	must(t, b.Close())
	if f, err := Check(path); err != nil || len(f.Problems) > 0 {
		t.Errorf("%+v (%v)", f, err)
	}
}

// A damaged act is refused, or named; one that is missing is missed.
func TestDamagedActs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	damage := func(change func(*bolt.Bucket) error) {
		b := mustOpen(t, path)
		for i := range int64(5) {
			must(t, b.Commit(&tuner.Changes{Acts: []tuner.Act{testAct(i)}}))
		}
		must(t, b.db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket(auditBucket)) }))
		must(t, b.Close())
	}
	damage(func(b *bolt.Bucket) error {
		v := append([]byte(nil), b.Get(number(3))...)
		v[5] ^= 1
		return b.Put(number(3), v)
	})
	if _, err := Open(path, OpenOptions{AnyFileSystem: true}); tuner.KindOf(err) != tuner.Damaged {
		t.Errorf("a damaged act: %v", err)
	}
	b, err := Open(path, OpenOptions{AnyFileSystem: true, Salvage: true})
	must(t, err)
	acts, lost := everyAct(t, b, 2)
	if len(acts) != 4 || !slices.Equal(lost, []uint64{3}) {
		t.Errorf("salvaged %+v, lost %v", acts, lost)
	}
	must(t, b.Close())
	must(t, os.Remove(path))
	damage(func(b *bolt.Bucket) error { return b.Delete(number(2)) })
	if _, err := Open(path, OpenOptions{AnyFileSystem: true}); tuner.KindOf(err) != tuner.Damaged {
		t.Errorf("an act is missing: %v", err)
	}
}

// A file of schema 5 gets an audit log, in which its upgrade is the first act.
func TestUpgradeFromVersion5(t *testing.T) {
	path, _ := old(t, "v5.db")
	b := mustOpen(t, path)
	defer b.Close()
	sweeps, err := b.Sweeps()
	must(t, err)
	if len(sweeps) != 1 || sweeps[0].State != tuner.Running || sweeps[0].Owner != "" {
		t.Fatalf("sweeps %+v", sweeps)
	}
	acts, _ := everyAct(t, b, 10)
	if len(acts) != 1 || acts[0].What != tuner.ActUpgrade || acts[0].Detail != "schema 5 to 6" || time.Since(acts[0].At) > time.Hour {
		t.Errorf("acts %+v", acts)
	}
	if _, err := os.Stat(path + ".v5.backup"); err != nil {
		t.Error(err)
	}
}
