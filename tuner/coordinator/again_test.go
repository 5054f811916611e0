package coordinator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// What a worker found stored is told apart from what it evaluated: it is whose
// it was, unless nothing of the kind is stored.
func TestFoundOutcomesAreWhoseTheyWere(t *testing.T) {
	st := store.NewMemory()
	c := start(t, st, nil)
	b := tunertest.Bundle{Size: 3}
	put(t, c, b)
	submit(t, c, b.Spec("one"))
	work(t, c, 3) // by w
	second := submit(t, c, b.Spec("two")).Sweep
	in := &tuner.Sync{Worker: tunertest.Worker("finder", 2, 3), Want: 3}
	reply, err := c.Synchronize(t.Context(), in, 0)
	if err != nil || len(reply.Grants) != 3 {
		t.Fatal(reply, err)
	}
	want := map[int64]string{}
	for _, g := range reply.Grants {
		o := tunertest.Oracle(g.Index)
		o.Found = true
		switch want[g.Index] = "w"; {
		case o.Digest == "":
			want[g.Index] = "finder"
		case g.Index == 2: // it claims that what it made up was stored
			o.TimeUS++
			want[g.Index] = "finder"
		}
		in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
	}
	if _, err := c.Synchronize(t.Context(), in, 0); err != nil {
		t.Fatal(err)
	}
	rows, err := st.Results(second.Num, 0, 10)
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	for _, r := range rows {
		if r.Worker != want[r.Index] {
			t.Errorf("configuration %d is %s's, want %s's", r.Index, r.Worker, want[r.Index])
		}
	}
}

// A sweep in which a worker was found to be wrong goes on under another number:
// it is listed once, watched on, and the old one goes when it ends. The worker
// stays out after a restart, and what it said answers no other sweep.
func TestSweepStartsOver(t *testing.T) {
	st := store.NewMemory()
	audited := func(o *coordinator.Options) { o.Ledger.Audit, o.Ledger.AuditSeed = 1, 1 }
	c := start(t, st, audited)
	b := tunertest.Bundle{Size: 40}
	put(t, c, b)
	old := submit(t, c, b.Spec("test")).Sweep
	_, version, _ := c.Watch(t.Context(), old.ID, 0)

	reports := map[string][]tuner.Report{}
	call := func(name string) error {
		reply, err := c.Synchronize(t.Context(), &tuner.Sync{Worker: tunertest.Worker(name, 1, 4), Want: 4, Reports: reports[name]}, 0)
		reports[name] = nil
		if err != nil {
			return err
		}
		for _, g := range reply.Grants {
			o := tunertest.Oracle(g.Index)
			if name == "liar" && o.Validity == tuner.Correct {
				o.TimeUS /= 2
				o.FloorUS /= 2
			}
			reports[name] = append(reports[name], tuner.Report{Held: g.Held, Outcome: &o})
		}
		return nil
	}
	var refused error
	for s := old; s.State == tuner.Running; s, _ = c.Sweep(t.Context(), old.ID) {
		for _, name := range []string{"liar", "a", "b"} {
			if err := call(name); name == "liar" && err != nil {
				refused = err
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if tuner.KindOf(refused) != tuner.Mismatch || !strings.Contains(refused.Error(), "not believed") {
		t.Errorf("the liar is told %v", refused)
	}
	s, now, _ := c.Watch(t.Context(), old.ID, version)
	if s.Num == old.Num || now <= version || s.Best.Index != tunertest.Best(40) || !s.Confirmed || len(s.Distrusted) != 1 {
		t.Errorf("version %d after %d: %+v", now, version, s)
	}
	rows, err := st.Results(s.Num, 0, 100)
	if err != nil || len(rows) != 40 {
		t.Errorf("%d rows (%v)", len(rows), err)
	}
	for _, r := range rows {
		if o := tunertest.Oracle(r.Index); !r.Outcome.Same(&o) || r.Worker == "liar" {
			t.Errorf("configuration %d, by %s: %+v", r.Index, r.Worker, r.Outcome)
		}
	}
	for deadline := time.Now().Add(time.Minute); ; { // the old one is removed in the background
		sweeps, err := st.Sweeps()
		if err == nil && len(sweeps) == 1 && len(c.Sweeps(t.Context())) == 1 {
			break
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d sweeps are stored (%v)", len(sweeps), err)
		}
	}
	if stats := c.Stats(); stats.Distrusted != 1 || stats.Checks.Disagreed == 0 || stats.Checks.Agreed == 0 {
		t.Errorf("%+v", stats)
	}
	c = start(t, st, audited)
	if err := call("liar"); tuner.KindOf(err) != tuner.Mismatch {
		t.Errorf("after a restart the liar is told %v", err)
	}
}
