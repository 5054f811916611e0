package tuner_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// One of four workers lies, in some of what it says or in all, while all else
// goes wrong too, and everything is checked: the table is that of an undisturbed
// sweep, and nobody else is ever accused.
func TestHistoriesWithALiar(t *testing.T) {
	base := tunertest.Seed(t)
	n := tunertest.Times(24, 1200)
	found := 0
	for i := range uint64(n) {
		b := tunertest.Bundle{Size: 600}
		switch i % 3 {
		case 1:
			b.Batch, b.Growing = 6, i%2 == 0
		case 2:
			b.Size, b.Level = 400, "model,cycle"
		}
		h := newAudited(t, base+i, b, shipped, 1)
		h.liar = h.workers[0]
		one := h.seed%3 + 1 // it lies in one of so many
		h.lies = func(o *tuner.Outcome, index int64) {
			if o.Validity == tuner.Correct && uint64(index)%one == 0 {
				o.TimeUS *= 1.5
			}
		}
		for range 400 {
			h.step()
		}
		got := h.finishBy(3)
		for w := range 103 {
			if name := fmt.Sprint("w", w); w > 0 && h.ledger.Distrusts(name) {
				h.fatalf("%s is not believed", name)
			}
		}
		if undisturbed := newHistory(t, 0, b, 3).finish(); !reflect.DeepEqual(got, undisturbed) {
			for k := range undisturbed {
				if k >= len(got) || !reflect.DeepEqual(got[k], undisturbed[k]) {
					h.fatalf("the table differs from trial %d on: %+v, want %+v", k, got[k:][:min(1, len(got)-k)], undisturbed[k])
				}
			}
			h.fatalf("%d rows, want %d", len(got), len(undisturbed))
		}
		if !h.ledger.Distrusts("w0") {
			continue // it said nothing that counts
		}
		found++
		sweeps, _ := h.store.Sweeps()
		if s := sweeps[len(sweeps)-1]; len(s.Distrusted) != 1 || s.Distrusted[0].Worker != "w0" || s.Best.Index != tunertest.Best(b.Size) {
			h.fatalf("%+v", s)
		}
	}
	if t.Logf("found out in %d of %d histories", found, n); found < n/4 {
		t.Errorf("found out in %d of %d histories only", found, n)
	}
}

// crew is ten workers of which the first lies.
func crew(t *testing.T, seed uint64, audit float64, lies func(*tuner.Outcome, int64)) (h *history, all []*client) {
	h = newAudited(t, seed, tunertest.Bundle{Size: 6000}, 3, audit)
	for i := range 10 {
		all = append(all, h.start(i))
	}
	h.liar, h.lies = all[0], lies
	return h, all
}

// turn has every worker report and take more; false once the sweep has ended.
func (h *history) takeTurns(all []*client) bool {
	for _, w := range all {
		if h.ledger.Distrusts(w.worker.ID) {
			continue
		}
		if !h.work(w) {
			return false
		}
		if w == h.liar {
			for i := range w.reports {
				if o := w.reports[i].Outcome; o.Validity == tuner.Correct {
					h.lies(o, int64(i))
				}
			}
		}
	}
	return true
}

// A worker that hides good configurations is found out within 500 of its outcomes
// by a sample of 1 %, which is the default: 99 times in 100.
func TestLiarIsFoundSoon(t *testing.T) {
	base := tunertest.Seed(t)
	late := 0
	for i := range uint64(20) {
		said := 0
		h, all := crew(t, base+i, 0.01, nil)
		h.lies = func(o *tuner.Outcome, _ int64) {
			if s, _ := h.ledger.Sweep(h.num); s.Counts.Done > 100 { // so that none is the best
				o.TimeUS *= 1e6
				said++
			}
		}
		for !h.ledger.Distrusts("w0") && h.takeTurns(all) {
		}
		if said > 500 {
			late++
		}
	}
	if late > 1 {
		t.Errorf("%d of 20 liars said more than 500 times what is not so", late)
	}
}

// Whoever claims a best that is not so is found out, however rarely it lies, and
// the best is the right one.
func TestFalseBestIsFound(t *testing.T) {
	base := tunertest.Seed(t)
	for i := range uint64(tunertest.Times(3, 60)) {
		h, all := crew(t, base+i, 1e-9, nil)
		lied := 0
		h.lies = func(o *tuner.Outcome, _ int64) {
			if h.rng.IntN(100) == 0 {
				lied++
				o.TimeUS, o.FloorUS = o.TimeUS/10, o.FloorUS/10
			}
		}
		for h.takeTurns(all) {
		}
		sweeps, _ := h.store.Sweeps()
		if s := sweeps[len(sweeps)-1]; s.State != tuner.Completed || s.Best.Index != tunertest.Best(6000) || !s.Confirmed {
			h.fatalf("after %d lies the best is %+v of %s, confirmed: %v", lied, s.Best, s.BestWorker, s.Confirmed)
		}
		if best, err := h.store.Best("test", tunertest.Arch, []int64{6000}); err != nil || best.Result.Index != tunertest.Best(6000) {
			h.fatalf("%+v (%v)", best, err)
		}
	}
}

// When two disagree a third decides, whichever of them is wrong; who is wrong is
// told why, and is granted nothing more.
func TestThirdDecides(t *testing.T) {
	carol := tunertest.Worker("carol", 3, 1)
	for _, liar := range []tuner.Worker{alice, bob} {
		d := newDesk(t, 20)
		d.call(0, tuner.Sync{Worker: bob})
		d.call(0, tuner.Sync{Worker: carol})
		lie := func(o *tuner.Outcome, who tuner.Worker) *tuner.Outcome {
			if who.ID == liar.ID && o.Validity == tuner.Correct {
				o.TimeUS /= 2
				o.FloorUS /= 2
			}
			return o
		}
		for { // alice evaluates all
			var reports []tuner.Report
			for _, g := range d.call(0, tuner.Sync{Worker: alice, Want: 4}).Grants {
				o := tunertest.OracleAt(g.Level, g.Index)
				reports = append(reports, tuner.Report{Held: g.Held, Outcome: lie(&o, alice)})
			}
			if len(reports) == 0 {
				break
			}
			d.call(0, tuner.Sync{Worker: alice, Reports: reports})
		}
		for _, w := range []tuner.Worker{bob, carol} {
			g := d.call(0, tuner.Sync{Worker: w, Want: 1}).Grants
			if len(g) != 1 || g[0].Key.Seq >= 0 {
				t.Fatalf("%s is granted %+v", w.ID, g)
			}
			o := tunertest.OracleAt(g[0].Level, g[0].Index)
			d.call(0, tuner.Sync{Worker: w, Reports: []tuner.Report{{Held: g[0].Held, Outcome: lie(&o, w)}}})
			if s, _ := d.l.Sweep(1); w.ID == bob.ID && (s.State != tuner.Running || !strings.Contains(s.Message, "not reproduced")) {
				t.Fatalf("between the two: %+v", s)
			}
		}
		_, err := d.l.Synchronize(&tuner.Sync{Worker: liar, Want: 1})
		if tuner.KindOf(err) != tuner.Mismatch || !strings.Contains(err.Error(), "not believed") || !strings.Contains(err.Error(), "carol") {
			t.Errorf("%s is told %v", liar.ID, err)
		}
		if void := d.l.Void(); (len(void) == 1) != (liar.ID == alice.ID) {
			t.Errorf("%s lied, and %v start over", liar.ID, void)
		}
		d.l.Enter(d.now.Add(time.Minute)) // as if nothing was to be stored
	}
}

// A worker that is set aside for a while, and is all there is to confirm the best, is
// waited for; if it fails again, or does not come, the sweep ends without.
func TestWhoIsSetAsideConfirms(t *testing.T) {
	for name, c := range map[string]struct{ comes, works bool }{
		"works again": {true, true}, "fails again": {true, false}, "does not come": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 20)
			in := tuner.Sync{Worker: bob, Want: 1}
			for len(d.l.SetAside()) == 0 {
				in.Reports = d.fails(d.call(0, in).Grants)
			}
			d.finishAll(alice)
			if s := d.ended(); s.State == tuner.Completed {
				t.Fatal("completed while somebody who may confirm the best is about to come back")
			}
			for in.Reports = nil; c.comes && d.ended().State != tuner.Completed; {
				r := d.call(0, in)
				if in.Reports = d.fails(r.Grants); c.works {
					for i, g := range r.Grants {
						in.Reports[i] = done(g)
					}
				}
				if len(r.Grants) == 0 {
					d.call(r.Next, tuner.Sync{Worker: alice, Want: 1})
				}
			}
			for since := d.now; d.ended().State != tuner.Completed; {
				if d.call(time.Second, tuner.Sync{Worker: alice, Want: 1}); d.now.Sub(since) > 10*time.Second {
					t.Fatal("the sweep does not end")
				}
			}
			if s := d.ended(); s.Confirmed != c.works || len(s.Aside) > 0 {
				t.Errorf("confirmed: %v; set aside for what has ended: %v", s.Confirmed, s.Aside)
			}
		})
	}
}

// fails are the reports of a worker whose disk is full.
func (d *desk) fails(grants []tuner.Grant) (reports []tuner.Report) {
	for _, g := range grants {
		reports = append(reports, tuner.Report{Held: g.Held, Fault: "no space left on device"})
	}
	return reports
}
