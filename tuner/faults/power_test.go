package faults

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// The coordinator's machine loses power again and again, and goes on from what
// its disk has then: everything acknowledged.
func TestPowerCut(t *testing.T) {
	cuts := tunertest.Times(3, 25)
	s, f, lost := cutPower(t, cuts, false)
	if lost != "" {
		t.Fatal(lost)
	}
	s.calm()
	f.wait(t)
	s.verdict(t)
}

// Without syncs the same cuts lose results: the test can tell.
func TestPowerCutWithoutSyncs(t *testing.T) {
	_, f, lost := cutPower(t, 5, true)
	f.stop()
	if lost == "" {
		t.Error("nothing was lost in 5 power cuts of a coordinator that never syncs: does the test cut anything?")
	}
	t.Log(lost)
}

// cutPower has a sweep go through power cuts, until one loses something.
func cutPower(t *testing.T, cuts int, noSync bool) (_ *sweep, _ *fleet, lost string) {
	t.Helper()
	d := newDisk(t, 64)
	s := newSweep(t, d.store(), tunertest.Bundle{Size: int64(800 * cuts), Batch: 40})
	rng := tunertest.Rand(t)
	f := s.fleet(t, never, func() (role, []string) {
		r := s.coordinator()
		r.NoSync = noSync
		return r, nil
	})
	for range cuts {
		p := f.up(t)
		known := len(s.witness.all())
		for until := time.Now().Add(patience); len(s.witness.all()) == known && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
		p.halt(t)
		after := d.cut(t)
		if lost = s.survived(t, after.store()); lost != "" {
			return s, f, lost
		}
		s.move(after.store())
		p.kill()
		d.unmount(t)
		d = after
	}
	return s, f, ""
}

// survived says what of all that was acknowledged is not in the store, "" if
// nothing is missing.
func (s *sweep) survived(t *testing.T, path string) (lost string) {
	t.Helper()
	all := s.witness.all()
	found, err := store.Check(path)
	if err != nil {
		return err.Error()
	}
	if len(found.Problems) > 0 {
		return found.Problems[0]
	}
	st := open(t, path)
	defer st.Close()
	for _, r := range results(t, st, s.num) {
		delete(all, trial{s.num, r.Seq})
	}
	if len(all) > 0 {
		return "lost " + plural(len(all)) + " that were acknowledged"
	}
	return ""
}

// The power is cut while a coordinator makes its store: a file under its name
// is whole.
func TestPowerCutWhileCreating(t *testing.T) {
	d := newDisk(t, 64)
	rng := tunertest.Rand(t)
	made := 0
	for range tunertest.Times(4, 50) {
		p, err := (&role{Address: tunertest.FreeAddress(t), Path: d.store()}).start(nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		p.halt(t)
		after := d.cut(t)
		p.kill()
		if _, err := os.Stat(after.store()); err == nil {
			made++
			if found, err := store.Check(after.store()); err != nil || len(found.Problems) > 0 {
				t.Errorf("a file is there and not sound: %+v (%v)", found, err)
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		after.unmount(t)
		if err := os.Remove(d.store()); err != nil && !errors.Is(err, syscall.ENOENT) {
			t.Fatal(err)
		}
	}
	t.Logf("the file was there after %d cuts", made)
}
