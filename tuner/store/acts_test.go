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
	"github.com/warptune/warptune/tuner/tunertest"
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
	b.log.most = 10
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

// Nobody has what others did go: of a full log the oldest goes of whoever has most of it,
// by bytes, also in a process that has found it full.
func TestNobodyFlushesTheAuditLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	by := func(name, detail string) tuner.Act {
		a := testAct(1)
		a.By, a.Owner, a.Detail = &tuner.Caller{Name: name}, "", detail
		return a
	}
	others := []tuner.Act{
		by("ann", "1"), by("bob", "2"), {What: tuner.ActStart}, {What: tuner.ActComplete, Owner: "ann"}, by("ann", "3"), {What: tuner.ActSetAside, Worker: "w"},
	}
	b := mustOpen(t, path)
	b.log.most, b.log.mostBytes = 20, 4000
	must(t, b.Commit(&tuner.Changes{Acts: others}))
	n := int64(len(others))
	for i := range int64(200) {
		if i%17 == 0 {
			must(t, b.Close())
			b = mustOpen(t, path)
			b.log.most, b.log.mostBytes = 20, 4000
		}
		detail := strings.Repeat("x", int(i)) // 20 acts of up to 400 bytes: each bound is met
		must(t, b.Commit(&tuner.Changes{Acts: []tuner.Act{by("mallory", detail)}}))
		n++
	}
	got, _ := everyAct(t, b, 7)
	bytes, kept := 0, 0
	must(t, b.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(auditBucket).ForEach(func(k, v []byte) error { bytes += len(k) + len(v); return nil })
	}))
	for _, a := range got {
		if a.By == nil || a.By.Name != "mallory" {
			kept++
		}
	}
	if kept != len(others) || len(got) > 20 || bytes > 4000 || bytes < 3000 || got[0].Num != uint64(n) {
		t.Errorf("%d of %d acts of others are left among %d, %d bytes: %+v", kept, len(others), len(got), bytes, got)
	}
	for i := range 30 { // of many callers each keeps the newest
		must(t, b.Commit(&tuner.Changes{Acts: []tuner.Act{by(fmt.Sprint("caller ", i), strings.Repeat("x", 900))}}))
		n++
	}
	if got, _ := everyAct(t, b, 7); got[0].Num != uint64(n) {
		t.Errorf("the newest act is %+v, want number %d", got[0], n)
	}
	must(t, b.Close())
	if f, err := Check(path); err != nil || len(f.Problems) > 0 {
		t.Errorf("%+v (%v)", f, err)
	}
}

// Starting and putting a bundle are recorded in the transaction in which they are done:
// neither is there without the other, whatever else is written, or not.
func TestActsComeWithWhatTheyRecord(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		content, digest := tunertest.Bundle{Size: 5}.Content()
		log := func() (text string) {
			acts, _ := everyAct(t, s, 10)
			for _, a := range slices.Backward(acts) {
				text += a.What + " " + a.Detail + ", "
			}
			return text
		}
		begin := func(name string) {
			_, err := s.Begin(name, tuner.Act{What: tuner.ActStart, Detail: name})
			must(t, err)
		}
		begin("a")
		if got := log(); got != "" {
			t.Errorf("before anything is written: %s", got)
		}
		putBundle(t, s, digest, content)
		want := "start a, put bundle " + digest + ", "
		putBundle(t, s, digest, content) // changes nothing
		if got := log(); got != want {
			t.Errorf("the log is %s, want %s", got, want)
		}
		s = again()
		if got := log(); got != want {
			t.Errorf("opened again, the log is %s, want %s", got, want)
		}
		begin("b")
		must(t, s.Commit(&tuner.Changes{Acts: []tuner.Act{{What: tuner.ActPause}}}))
		must(t, s.Commit(&tuner.Changes{Token: 7}))
		if got := log(); got != want+"start b, pause , " {
			t.Errorf("after a commit, the log is %s", got)
		}
	})
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
