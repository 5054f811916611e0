package tuner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// by is a worker of a credential.
func by(name, credential string) tuner.Worker {
	return tunertest.Worker(tuner.WorkerID(name, credential), 1, 2)
}

func TestWorkerIDsAreUnlike(t *testing.T) {
	parts := []string{"", "w", "a@b", "@", "b", "%40", "a b", "a%20b", "\x00", "é"}
	seen := map[string][2]string{}
	for _, name := range parts[1:] {
		for _, credential := range parts {
			id := tuner.WorkerID(name, credential)
			if was, ok := seen[id]; ok {
				t.Errorf("%q of %q and %q are both %q", name, credential, was, id)
			}
			seen[id] = [2]string{name, credential}
			if got := tuner.CredentialOf(id); got != tuner.CredentialOf(tuner.WorkerID("x", credential)) {
				t.Errorf("the credential of %q is %q", id, got)
			}
		}
	}
	if long := tuner.WorkerID("w", strings.Repeat("x", 1e4)); len(long) > 200 {
		t.Errorf("an identity of %d bytes", len(long))
	}
}

// said has a worker evaluate what it is granted, at factor times what comes out.
func (d *desk) said(w tuner.Worker, factor float64, want int) int {
	grants := d.call(0, tuner.Sync{Worker: w, Want: want}).Grants
	for _, g := range grants {
		o := tunertest.OracleAt(g.Level, g.Index)
		o.TimeUS *= factor
		o.FloorUS *= factor
		d.call(0, tuner.Sync{Worker: w, Reports: []tuner.Report{{Held: g.Held, Outcome: &o}}})
	}
	return len(grants)
}

func (d *desk) saysAll(w tuner.Worker, factor float64) {
	for d.said(w, factor, 4) > 0 {
	}
}

// One caller under two names does not confirm what he says if there is another
// caller, and where there is none the sweep says so.
func TestNobodyConfirmsHimself(t *testing.T) {
	liar, alias, honest := by("m1", "mallory"), by("m2", "mallory"), by("h", "helen")
	d := newDesk(t, 20)
	d.call(0, tuner.Sync{Worker: alias})
	d.call(0, tuner.Sync{Worker: honest})
	d.saysAll(liar, 0.5)
	if n := d.said(alias, 0.5, 4); n != 0 {
		t.Error("a second name of the same credential is asked to confirm")
	}
	if n := d.said(honest, 1, 4); n != 1 {
		t.Fatalf("another credential is asked %d times", n)
	}
	if n := d.said(alias, 0.5, 4); n != 0 {
		t.Error("of two credentials one decides")
	}
	d.call(29*time.Second, tuner.Sync{Worker: honest})
	d.call(2*time.Second, tuner.Sync{Worker: honest})
	if s := d.ended(); s.State != tuner.Completed || s.Confirmed || s.Independent || !strings.Contains(s.Message, "third credential") {
		t.Errorf("ended as %+v", s)
	}

	d = newDesk(t, 20)
	d.call(0, tuner.Sync{Worker: alias})
	d.saysAll(liar, 0.5)
	if n := d.said(alias, 0.5, 4); n != 1 {
		t.Fatalf("where there is one credential another name is asked %d times", n)
	}
	if s := d.ended(); s.State != tuner.Completed || !s.Confirmed || s.Independent {
		t.Errorf("with one credential it ended as %+v", s)
	}

	d = newDesk(t, 20)
	d.call(0, tuner.Sync{Worker: honest})
	d.saysAll(by("e", "eve"), 1)
	d.said(honest, 1, 4)
	if s := d.ended(); s.State != tuner.Completed || !s.Confirmed || !s.Independent {
		t.Errorf("with two credentials it ended as %+v", s)
	}
}

// A worker is not believed any more when two of other credentials contradict it, or
// others of its own; not when one caller does so under two names.
func TestOneCallerExpelsNobody(t *testing.T) {
	honest, m1, m2, other := by("h", "helen"), by("m1", "mallory"), by("m2", "mallory"), by("o", "otto")
	for _, c := range []struct {
		first, second, third tuner.Worker
		asked, expelled      bool
	}{
		{honest, m1, m2, false, false},
		{m1, honest, m2, false, false},
		{honest, m1, other, true, true},
		{by("h1", "helen"), by("h2", "helen"), honest, true, true},
	} {
		d := newDesk(t, 20)
		d.call(0, tuner.Sync{Worker: c.second})
		d.call(0, tuner.Sync{Worker: c.third})
		d.saysAll(c.first, 1)
		if n := d.said(c.second, 3, 1); n != 1 {
			t.Fatalf("%s is asked %d times", c.second.ID, n)
		}
		if n := d.said(c.third, 3, 1); (n == 1) != c.asked {
			t.Errorf("after %s and %s, %s is asked %d times", c.first.ID, c.second.ID, c.third.ID, n)
		}
		if got := d.l.Distrusts(c.first.ID); got != c.expelled {
			t.Errorf("%s and %s contradict %s: not believed: %v", c.second.ID, c.third.ID, c.first.ID, got)
		}
	}
}

// The limit of two opinions: two of different credentials who say the same of the same
// are believed, and an honest worker between them is not. Two opinions that differ from
// theirs find them out: only more opinions of each than workers that collude would not
// need that luck.
func TestTwoWhoColludeAreBelieved(t *testing.T) {
	first, second := by("m", "mallory"), by("n", "nora") // they collude
	honest, other := by("h", "helen"), by("o", "otto")
	for _, c := range []struct {
		order              []tuner.Worker // who is asked after the first
		believed, expelled tuner.Worker
		confirmed          bool
	}{
		{[]tuner.Worker{second}, first, tuner.Worker{}, true},
		{[]tuner.Worker{honest, second}, first, honest, true},
		{[]tuner.Worker{honest, other}, honest, first, false}, // it starts over
	} {
		d := newDesk(t, 20)
		for _, w := range c.order {
			d.call(0, tuner.Sync{Worker: w})
		}
		d.saysAll(first, 0.5)
		for _, w := range c.order {
			factor := 1.0
			if w.ID == second.ID {
				factor = 0.5
			}
			if n := d.said(w, factor, 1); n != 1 {
				t.Fatalf("%s is asked %d times", w.ID, n)
			}
		}
		for _, w := range []tuner.Worker{first, second, honest, other} {
			if got := d.l.Distrusts(w.ID); got != (w.ID == c.expelled.ID) {
				t.Errorf("asked in the order %v: %s is not believed: %v", c.order, w.ID, got)
			}
		}
		if !c.confirmed {
			if void := d.l.Void(); len(void) != 1 {
				t.Errorf("what %s said stays", first.ID)
			}
			continue
		}
		s := d.ended()
		if want := tunertest.Oracle(s.Best.Index).TimeUS / 2; !s.Confirmed || !s.Independent || s.Best.Outcome.TimeUS != want {
			t.Errorf("the best is %+v, confirmed: %v, by another credential: %v; this limit has gone: say so in docs/FAULTS.md", s.Best, s.Confirmed, s.Independent)
		}
	}
}

// Another caller cannot go on under a worker's name, whatever else of its session
// he knows, and what he says of himself is not held against it.
func TestNamesAreOfTheirCredential(t *testing.T) {
	d := newDesk(t, 20)
	mine, theirs := by("w", "helen"), by("w", "mallory")
	g := d.call(0, tuner.Sync{Worker: mine, Want: 1}).Grants[0]
	r := d.call(0, tuner.Sync{Worker: theirs, Held: held(g), Reports: []tuner.Report{done(g)}})
	if r.Acks[0].Status != tuner.Refused || len(r.Drops) != 1 {
		t.Errorf("another credential goes on with it: %+v", r)
	}
	for range 40 {
		for _, g := range d.call(time.Second, tuner.Sync{Worker: theirs, Held: nil, Want: 1}).Grants {
			d.call(0, tuner.Sync{Worker: theirs, Reports: []tuner.Report{{Held: g.Held, Fault: "no"}}})
		}
		d.call(0, tuner.Sync{Worker: mine, Held: held(g)})
	}
	if all := d.l.SetAside(); len(all) != 1 || all[0].Worker != theirs.ID {
		t.Errorf("set aside: %+v", all)
	}
	if r := d.call(0, tuner.Sync{Worker: mine, Reports: []tuner.Report{done(g)}}); r.Acks[0].Status != tuner.Recorded {
		t.Errorf("the worker is answered %+v", r.Acks)
	}
}
