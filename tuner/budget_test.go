package tuner_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// timed adds a sweep with a budget of time.
func (d *desk) timed(b tunertest.Bundle, budget time.Duration) (tuner.Sweep, func() tuner.Plan) {
	spec := b.Spec("timed")
	spec.TimeBudget = budget
	content, _ := b.Content()
	plan := func() tuner.Plan {
		p, err := tunertest.Planner{}.Plan(context.Background(), spec, tuner.Files{Bundle: content})
		if err != nil {
			d.t.Fatal(err)
		}
		return p
	}
	rec := tuner.Sweep{Num: 1, ID: spec.ID(""), Spec: spec, Window: plan().Window}
	d.l.Add(rec, plan(), nil)
	return rec, plan
}

// spent is the time that was last noted for storing.
func (d *desk) spent() (last time.Duration) {
	for _, c := range d.out {
		for i := range c.Sweeps {
			last = c.Sweeps[i].Spent
		}
	}
	return last
}

// Only time during which trials are under way counts; what was spent before a
// restart counts after it; when all is spent, what is under way still ends.
func TestTimeBudget(t *testing.T) {
	d := newDesk(t)
	rec, plan := d.timed(tunertest.Bundle{Size: 100}, 10*time.Second)
	for range 10 {
		d.call(9*time.Second, tuner.Sync{Worker: bob})
	}
	g := d.call(0, tuner.Sync{Worker: alice, Want: 2}).Grants
	d.call(4*time.Second, tuner.Sync{Worker: alice, Held: held(g...)})
	d.call(3*time.Second, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(g[0]), done(g[1])}})
	d.call(9*time.Second, tuner.Sync{Worker: bob})
	if s, _ := d.l.Sweep(1); s.Spent != 7*time.Second || d.spent() != 7*time.Second {
		t.Fatalf("%s spent, %s stored, want 7 s", s.Spent, d.spent())
	}

	var stored []tuner.Result
	for _, c := range d.out {
		for i := range c.Results {
			stored = append(stored, c.Results[i].Result)
		}
	}
	rec.State, rec.Spent = tuner.Running, d.spent()
	d.l = tuner.NewLedger(tuner.LedgerOptions{LeaseTTL: ttl, MaxGrant: 8, Token: 100})
	d.l.Enter(d.now)
	var results iter.Seq2[tuner.Result, error] = func(yield func(tuner.Result, error) bool) {
		for _, r := range stored {
			if !yield(r, nil) {
				return
			}
		}
	}
	if err := d.l.Restore(tuner.Restored{Sweep: rec, Plan: plan(), Results: results}); err != nil {
		t.Fatal(err)
	}
	g = d.call(0, tuner.Sync{Worker: alice, Want: 2}).Grants
	if len(g) != 2 {
		t.Fatalf("with 3 s left: %d trials granted", len(g))
	}
	d.call(4*time.Second, tuner.Sync{Worker: alice, Held: held(g...), Want: 2})
	over := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(g[0]), done(g[1])}, Want: 8}).Grants
	for len(over) > 0 { // one was asked for in time
		if len(over) > 1 {
			t.Fatalf("%d trials granted when all is spent", len(over))
		}
		over = d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(over[0])}, Want: 8}).Grants
	}
	var last tuner.Sweep
	for _, c := range d.out {
		for i := range c.Sweeps {
			last = c.Sweeps[i]
		}
	}
	if n := last.Counts; last.State != tuner.Completed || n.Done < 4 || n.Done > 5 || n.Total != n.Done || last.Proof.Gap >= 0 || last.Proof.Of != n.Done {
		t.Errorf("it ends as %s, %+v, %+v", last.State, n, last.Proof)
	}
}

// When half of the time is spent ranking ends, so that there is an answer.
func TestTimeBudgetOfTwoLevels(t *testing.T) {
	d := newDesk(t)
	d.timed(tunertest.Bundle{Size: 100, Level: "model,cycle"}, 20*time.Second)
	levels := map[string]int{}
	reports := []tuner.Report(nil)
	for range 200 {
		reply := d.call(time.Second, tuner.Sync{Worker: alice, Reports: reports, Want: 2})
		reports = nil
		for _, g := range reply.Grants {
			levels[g.Level]++
			reports = append(reports, done(g))
		}
	}
	var last tuner.Sweep
	for _, c := range d.out {
		for i := range c.Sweeps {
			last = c.Sweeps[i]
		}
	}
	if last.State != tuner.Completed || last.Best == nil || last.LevelOf(last.Best.Seq) != "cycle" || last.Ranked != int64(levels["model"]) {
		t.Errorf("it ends as %s with %+v, ranked %d of %v", last.State, last.Best, last.Ranked, levels)
	}
	if levels["model"] < 10 || levels["model"] > 30 || levels["cycle"] < 1 {
		t.Errorf("trials by level: %v", levels)
	}
}
