package tuner_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// desk drives a ledger by hand.
type desk struct {
	t   *testing.T
	l   *tuner.Ledger
	now time.Time
	out []tuner.Changes
}

func newDesk(t *testing.T, sizes ...int64) *desk {
	d := &desk{t: t, l: tuner.NewLedger(tuner.LedgerOptions{LeaseTTL: ttl, MaxGrant: 8, Straggles: -1}), now: time.Unix(1e9, 0)}
	d.l.Enter(d.now)
	for i, size := range sizes {
		d.add(uint64(i+1), tunertest.Bundle{Size: size})
	}
	return d
}

func (d *desk) add(num uint64, b tunertest.Bundle) {
	spec := b.Spec("test")
	content, _ := b.Content()
	plan, err := tunertest.Planner{}.Plan(context.Background(), spec, tuner.Files{Bundle: content})
	if err != nil {
		d.t.Fatal(err)
	}
	d.l.Add(tuner.Sweep{Num: num, ID: spec.ID(""), Spec: spec, Window: plan.Window}, plan, nil)
	d.l.Enter(d.now)
}

// call synchronizes after some time.
func (d *desk) call(after time.Duration, in tuner.Sync) *tuner.SyncReply {
	d.t.Helper()
	d.now = d.now.Add(after)
	d.l.Enter(d.now)
	reply, err := d.l.Synchronize(&in)
	if err != nil {
		d.t.Fatal(err)
	}
	var c tuner.Changes
	d.l.Take(&c)
	d.out = append(d.out, c)
	return reply
}

func (d *desk) counts(num uint64) tuner.Counts {
	d.t.Helper()
	s, ok := d.l.Sweep(num)
	if !ok {
		d.t.Fatalf("sweep %d is not live", num)
	}
	return s.Counts
}

func done(g tuner.Grant) tuner.Report {
	o := tunertest.OracleAt(g.Level, g.Index)
	return tuner.Report{Held: g.Held, Outcome: &o}
}

var (
	alice = tunertest.Worker("alice", 1, 2)
	bob   = tunertest.Worker("bob", 1, 2)
)

func held(grants ...tuner.Grant) (h []tuner.Held) {
	for _, g := range grants {
		h = append(h, g.Held)
	}
	return h
}

func TestOnlyTheHolderReports(t *testing.T) {
	d := newDesk(t, 10)
	g := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants[0]
	for what, in := range map[string]tuner.Sync{
		"another worker":           {Worker: bob, Reports: []tuner.Report{done(g)}},
		"a second copy of alice":   {Worker: tunertest.Worker("alice", 2, 2), Reports: []tuner.Report{done(g)}},
		"alice, under a new token": {Worker: alice, Reports: []tuner.Report{{Held: tuner.Held{Key: g.Key, Token: g.Token + 1}, Outcome: done(g).Outcome}}},
	} {
		if a := d.call(0, in).Acks[0]; a.Status != tuner.Refused {
			t.Errorf("%s is answered %v", what, a.Status)
		}
	}
	never := g
	never.Key.Seq = 9
	if a := d.call(0, tuner.Sync{Worker: alice, Held: held(g), Reports: []tuner.Report{done(never)}}).Acks[0]; a.Status != tuner.Refused {
		t.Errorf("a trial never granted is answered %v", a.Status)
	}
	if a := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(g)}}).Acks[0]; a.Status != tuner.Recorded {
		t.Errorf("the holder is answered %v", a)
	}
	if a := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(g)}}).Acks[0]; a.Status != tuner.AlreadyRecorded {
		t.Errorf("repeating is answered %v", a)
	}
}

// However many processes call, what is kept of them is bounded, and those that are
// known go on.
func TestTooManyWorkers(t *testing.T) {
	l := tuner.NewLedger(tuner.LedgerOptions{LeaseTTL: ttl, MaxWorkers: 3})
	now := time.Unix(1e9, 0)
	l.Enter(now)
	for i := range uint64(10) {
		_, err := l.Synchronize(&tuner.Sync{Worker: tunertest.Worker("w", i+1, 1)})
		if want := i >= 3; (tuner.KindOf(err) == tuner.Limit) != want {
			t.Errorf("process %d is answered %v", i, err)
		}
		if _, err := l.Synchronize(&tuner.Sync{Worker: tunertest.Worker("w", 1, 1)}); err != nil {
			t.Errorf("the first one is answered %v", err)
		}
	}
	for range 20 { // until those that are silent are forgotten
		now = now.Add(ttl / 6)
		l.Enter(now)
	}
	if _, err := l.Synchronize(&tuner.Sync{Worker: tunertest.Worker("w", 99, 1)}); err != nil {
		t.Errorf("one that comes when others have gone is answered %v", err)
	}
}

// A worker's session is what it proves with that a lease is its own, so nothing
// that others can have answered has it.
func TestNobodyIsToldAnothersSession(t *testing.T) {
	d := newDesk(t, 1)
	secretive := tunertest.Worker("secretive", 0x5ec7e75ec7e7, 1)
	told := func(what, text string) {
		t.Helper()
		if !strings.Contains(text, secretive.ID) || strings.Contains(text, secretive.Session()) {
			t.Errorf("%s: %q, want the worker's name and not its session", what, text)
		}
	}
	seen := 0
	for range 62 { // as often as a configuration may end its workers
		secretive.Epoch++
		g := d.call(0, tuner.Sync{Worker: secretive, Want: 1}).Grants[0]
		for token := range g.Token {
			guess := done(g)
			guess.Token = token
			told("a report under a stale token", d.call(0, tuner.Sync{Worker: bob, Draining: true, Reports: []tuner.Report{guess}}).Acks[0].Message)
		}
		d.out = nil
		for range 8 { // until it has expired
			d.call(ttl/6, tuner.Sync{Worker: bob, Draining: true})
		}
		for _, c := range d.out {
			for _, l := range c.Leases {
				told("why it was queued again", l.Reason)
			}
			for _, r := range c.Results {
				told("why it was given up", r.Result.Outcome.Message)
				seen++
			}
		}
	}
	if seen != 1 {
		t.Errorf("%d trials were given up, want 1", seen)
	}
}

func TestLostGrantsAreGrantedAgainUnderTheirTokens(t *testing.T) {
	d := newDesk(t, 10)
	lost := d.call(0, tuner.Sync{Worker: alice, Want: 2}).Grants
	again := d.call(time.Second, tuner.Sync{Worker: alice, Want: 2}).Grants
	if len(lost) != 2 || len(again) != 2 || again[0].Held != lost[0].Held || again[1].Held != lost[1].Held {
		t.Errorf("granted %v, then %v", held(lost...), held(again...))
	}
	if g := d.call(0, tuner.Sync{Worker: alice, Draining: true}).Grants; len(g) != 0 {
		t.Errorf("a draining worker is granted %v", g)
	}
	if c := d.counts(1); c.Leased != 0 || c.Requeued != 0 {
		t.Errorf("what a draining worker never heard of is not back: %+v", c)
	}
	if g := d.call(0, tuner.Sync{Worker: bob, Want: 1}).Grants[0]; g.Attempt != 1 {
		t.Errorf("a returned trial counts %d attempts", g.Attempt)
	}
}

func TestLeasesExpireExactlyWhenDue(t *testing.T) {
	d := newDesk(t, 1)
	g := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants[0]
	d.call(8*time.Second, tuner.Sync{Worker: alice, Held: held(g)}) // renewed
	for range 3 {                                                   // the ledger's owner runs
		d.call(8*time.Second, tuner.Sync{Worker: bob})
	}
	if r := d.call(6*time.Second-1, tuner.Sync{Worker: bob, Want: 1}); len(r.Grants) != 0 {
		t.Error("granted again before its time")
	}
	r := d.call(1, tuner.Sync{Worker: bob, Want: 1})
	if len(r.Grants) != 1 || r.Grants[0].Token <= g.Token || r.Grants[0].Attempt != 2 {
		t.Fatalf("at its time: %+v", r.Grants)
	}
	r = d.call(0, tuner.Sync{Worker: alice, Held: held(g)})
	if len(r.Drops) != 1 {
		t.Error("the old holder is not told to drop it")
	}
	a := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(g)}}).Acks[0]
	if a.Status != tuner.StaleToken || !strings.Contains(a.Message, "stale") || !strings.Contains(a.Message, "bob") {
		t.Errorf("the old holder's report is answered %+v", a)
	}
}

func TestExpiredLeaseThatNobodyTookGoesOn(t *testing.T) {
	d := newDesk(t, 1)
	g := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants[0]
	for range 5 {
		d.call(8*time.Second, tuner.Sync{Worker: bob})
	}
	if c := d.counts(1); c.Leased != 0 || c.Requeued != 1 {
		t.Fatalf("after its time: %+v", c)
	}
	if r := d.call(0, tuner.Sync{Worker: alice, Held: held(g)}); len(r.Drops) != 0 || d.counts(1).Leased != 1 {
		t.Errorf("it is not taken up again: %+v", r)
	}
	if a := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(g)}}).Acks[0]; a.Status != tuner.Recorded {
		t.Errorf("its report is answered %v", a)
	}
}

// A coordinator that was stopped could not be renewed at.
// A lease that expired goes on for whoever held it, and for nobody else.
func TestExpiredLeaseIsNobodyElses(t *testing.T) {
	d := newDesk(t, 20)
	g := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants[0]
	for range 4 {
		d.call(ttl/3, tuner.Sync{Worker: bob})
	}
	if n := d.l.Leases(); n != 0 {
		t.Fatalf("%d leases have not expired", n)
	}
	if r := d.call(0, tuner.Sync{Worker: bob, Held: held(g)}); len(r.Drops) != 1 || d.l.Leases() != 0 {
		t.Errorf("another goes on with it: %+v", r)
	}
	if r := d.call(0, tuner.Sync{Worker: alice, Held: held(g)}); len(r.Drops) != 0 || d.l.Leases() != 1 {
		t.Errorf("its worker does not: %+v", r)
	}
}

func TestLeasesOutliveAStopOfTheirOwner(t *testing.T) {
	d := newDesk(t, 4)
	g := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants[0]
	if r := d.call(time.Hour, tuner.Sync{Worker: bob, Want: 1}); r.Grants[0].Key == g.Key {
		t.Error("expired during the stop")
	}
	if a := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(g)}}).Acks[0]; a.Status != tuner.Recorded {
		t.Errorf("answered %v", a)
	}
}

// A fault is held against a configuration once its worker has evaluated something
// since, and three of those give it up; it is tried elsewhere first.
func TestFaultsAreTriedElsewhereAndGivenUp(t *testing.T) {
	const poison = 3
	d := newDesk(t, 30)
	carol := tunertest.Worker("carol", 1, 2)
	all := []tuner.Worker{alice, bob, carol}
	for _, w := range all {
		d.call(0, tuner.Sync{Worker: w})
	}
	var tried []string
	work := map[string][]tuner.Report{}
	for range 60 {
		for _, w := range all {
			r := d.call(time.Second, tuner.Sync{Worker: w, Want: 1, Reports: work[w.ID]})
			work[w.ID] = nil
			for _, g := range r.Grants {
				if g.Index != poison {
					work[w.ID] = append(work[w.ID], done(g))
					continue
				}
				tried = append(tried, w.ID)
				work[w.ID] = append(work[w.ID], tuner.Report{Held: g.Held, Fault: "segmentation fault"})
			}
		}
	}
	slices.Sort(tried) // it may be tried once more before the last has evaluated something
	if len(tried) > 4 || !slices.Equal(slices.Compact(tried), []string{"alice", "bob", "carol"}) {
		t.Errorf("it was tried by %v", tried)
	}
	s := d.ended()
	if s.State != tuner.Completed || s.Counts.Abandoned != 1 || s.Counts.Done != 29 || s.Examples[0].Kind != "abandoned" {
		t.Fatalf("the sweep is %v, %+v", s.State, s.Counts)
	}
	for _, e := range s.Examples {
		if e.Kind == "abandoned" && (!strings.Contains(e.Message, "segmentation fault") || !strings.Contains(e.Message, "alice") || !strings.Contains(e.Message, "bob")) {
			t.Errorf("given up as %q", e.Message)
		}
	}
}

// What two workers were lost with gets a worker process of its own, so that
// nothing else is blamed for its crash, nor it for another's.
func TestSuspectsAreAlone(t *testing.T) {
	d := newDesk(t, 4)
	carol := tunertest.Worker("carol", 1, 4)
	die := func(w tuner.Worker) {
		d.call(0, tuner.Sync{Worker: w, Want: 4})
		for range 5 {
			d.now = d.now.Add(8 * time.Second)
			d.l.Enter(d.now)
		}
	}
	die(tunertest.Worker("a", 1, 4))
	die(tunertest.Worker("b", 1, 4))
	r := d.call(0, tuner.Sync{Worker: carol, Want: 4})
	if len(r.Grants) != 1 || r.Grants[0].Attempt != 3 {
		t.Fatalf("granted %+v", r.Grants)
	}
	d.add(2, tunertest.Bundle{Size: 5}) // of which anybody may have some
	if more := d.call(0, tuner.Sync{Worker: carol, Want: 4, Held: held(r.Grants...)}); len(more.Grants) != 0 {
		t.Errorf("granted company: %+v", more.Grants)
	}
}

// A machine on which every evaluation ends the worker begins with any trial, alone:
// that is held against none of them while there are workers that work.
func TestMachinesThatEndAll(t *testing.T) {
	d := newDesk(t, 1)
	first := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants
	for range 100 { // it is known that workers live long
		d.call(8*time.Second, tuner.Sync{Worker: alice, Held: held(first...)})
	}
	d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(first[0])}})
	d.add(2, tunertest.Bundle{Size: 12}) // nothing of it is known that they could begin with
	for i := range 80 {
		d.call(0, tuner.Sync{Worker: tunertest.Worker(fmt.Sprint("doomed", i), 1, 1), Want: 1})
		for range 5 {
			d.call(8*time.Second, tuner.Sync{Worker: alice})
		}
		if n := d.counts(2); n.Abandoned > 0 {
			t.Fatalf("after %d: %+v", i, n)
		}
	}
	d.finishAll(alice)
	if s := d.ended(); s.Counts.Done != 12 {
		t.Errorf("%+v", s.Counts)
	}
}

// A worker that was cut off for longer than its leases last ended for nothing that
// it held: once it is heard of, its loss counts for nothing, whoever has its trials.
func TestWhoComesBackWasNotLost(t *testing.T) {
	d := newDesk(t, 1)
	bob2 := tunertest.Worker("bob", 7, 2)
	for range 80 {
		d.call(0, tuner.Sync{Worker: alice, Want: 1})
		for range 5 {
			d.call(8*time.Second, tuner.Sync{Worker: bob2, Draining: true})
		}
		if n := d.counts(1); n.Abandoned > 0 {
			t.Fatalf("%+v", n)
		}
		d.call(0, tuner.Sync{Worker: alice, Draining: true})
	}
}

// A worker that is granted a trial once more has nothing to say under the token of
// before.
func TestOwnStaleToken(t *testing.T) {
	d := newDesk(t, 1)
	old := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants[0]
	for range 5 {
		d.now = d.now.Add(8 * time.Second)
		d.l.Enter(d.now)
	}
	if g := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants[0]; g.Token <= old.Token {
		t.Fatalf("granted under token %d after %d", g.Token, old.Token)
	}
	if a := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(old)}}).Acks[0]; a.Status != tuner.StaleToken {
		t.Errorf("a report under the token of before is answered %v", a)
	}
}

// A worker that only renews what it holds, and takes more whenever it can, holds up
// no sweep for ever.
func TestWhoOnlyRenews(t *testing.T) {
	for _, straggles := range []time.Duration{-1, 0} {
		d := newDesk(t)
		d.l = tuner.NewLedger(tuner.LedgerOptions{LeaseTTL: ttl, MaxGrant: 8, Straggles: straggles})
		d.l.Enter(d.now)
		d.add(1, tunertest.Bundle{Size: 60})
		hoarder := tunertest.Worker("hoarder", 1, 8)
		hoard := tuner.Sync{Worker: hoarder, Want: 8}
		in := tuner.Sync{Worker: bob, Want: 4}
		for begun := d.now; len(d.l.Live()) > 0; {
			if d.now.Sub(begun) > 3*time.Hour {
				t.Fatalf("after %v: %+v", d.now.Sub(begun), d.counts(1))
			}
			r := d.call(2*time.Second, hoard)
			for _, g := range r.Grants {
				hoard.Held = append(hoard.Held, g.Held)
			}
			hoard.Held = slices.DeleteFunc(hoard.Held, func(h tuner.Held) bool { return slices.Contains(r.Drops, h) })
			r = d.call(2*time.Second, in)
			in.Reports = nil
			for _, g := range r.Grants {
				in.Reports = append(in.Reports, done(g))
			}
		}
		if s := d.ended(); s.State != tuner.Completed || s.Counts.Done != 60 {
			t.Errorf("%v, %+v", s.State, s.Counts)
		}
	}
}

// Nor is it given to a worker that holds something already.
func TestSuspectsAreNoCompany(t *testing.T) {
	d := newDesk(t, 20)
	dave := tunertest.Worker("dave", 1, 4)
	g := d.call(0, tuner.Sync{Worker: dave, Want: 1}).Grants
	for _, name := range []string{"a", "b"} { // die with four trials each
		d.call(0, tuner.Sync{Worker: tunertest.Worker(name, 1, 4), Want: 4})
		for range 5 {
			d.call(8*time.Second, tuner.Sync{Worker: dave, Held: held(g...)})
		}
	}
	r := d.call(0, tuner.Sync{Worker: dave, Want: 4, Held: held(g...)})
	if len(r.Grants) == 0 {
		t.Error("nothing is granted, though there are trials that nobody had")
	}
	for _, more := range r.Grants {
		if more.Attempt != 1 {
			t.Errorf("granted %+v beside another", more)
		}
	}
}

func TestNonsenseIsTheWorkersFault(t *testing.T) {
	bad := map[string]func(*tuner.Outcome){
		"NaN time":         func(o *tuner.Outcome) { o.TimeUS = math.NaN() },
		"infinite time":    func(o *tuner.Outcome) { o.TimeUS = math.Inf(1) },
		"negative time":    func(o *tuner.Outcome) { o.TimeUS = -1 },
		"no time":          func(o *tuner.Outcome) { o.TimeUS = 0 },
		"huge time":        func(o *tuner.Outcome) { o.TimeUS = 1e19 },
		"no validity":      func(o *tuner.Outcome) { o.Validity = 0 },
		"new validity":     func(o *tuner.Outcome) { o.Validity = 77 },
		"time of failure":  func(o *tuner.Outcome) { o.Validity = tuner.Compile },
		"floor of nothing": func(o *tuner.Outcome) { o.FloorUS = 5e-324 },
		"NaN occupancy":    func(o *tuner.Outcome) { o.Occupancy = math.NaN() },
		"NaN metric":       func(o *tuner.Outcome) { o.Metrics["x"] = math.NaN() },
		"negative use":     func(o *tuner.Outcome) { o.Registers = -1 },
		"steering text":    func(o *tuner.Outcome) { o.Bound = "dram\x1b[2J" },
		"steering metric":  func(o *tuner.Outcome) { o.Metrics["x\n"] = 1 },
		"long message":     func(o *tuner.Outcome) { o.Bound = strings.Repeat("x", 1e6) },
	}
	for what, change := range bad {
		d := newDesk(t, 3)
		g := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants[0]
		o := tuner.Outcome{Validity: tuner.Correct, TimeUS: 1, Metrics: map[string]float64{}}
		change(&o)
		r := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{{Held: g.Held, Outcome: &o}}})
		if r.Acks[0].Status != tuner.Refused || d.counts(1).Done != 0 || d.counts(1).Requeued != 1 {
			t.Errorf("%s: answered %v, counts %+v", what, r.Acks[0], d.counts(1))
		}
	}
}

func TestMismatchNamesBoth(t *testing.T) {
	d := newDesk(t, 3)
	for _, w := range []tuner.Worker{
		{ID: "w", Slots: 1, Engine: "engine-2", Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest}},
		{ID: "w", Slots: 1, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: "descriptor-2"}},
	} {
		_, err := d.l.Synchronize(&tuner.Sync{Worker: w, Want: 1})
		if tuner.KindOf(err) != tuner.Mismatch || !strings.Contains(err.Error(), "-1") || !strings.Contains(err.Error(), "-2") {
			t.Errorf("refused with %v", err)
		}
	}
	other := tuner.Worker{ID: "w", Slots: 1, Engine: "engine-2", Archs: map[string]string{"p100": "x"}}
	if r, err := d.l.Synchronize(&tuner.Sync{Worker: other, Want: 1}); err != nil || len(r.Grants) != 0 {
		t.Errorf("a worker of other architectures gets %v (%v)", r, err)
	}
}

func TestSweepsShareWorkersEvenly(t *testing.T) {
	d := newDesk(t, 1000, 1001, 1002)
	d.call(0, tuner.Sync{Worker: bob})
	got := map[uint64]int{}
	var in tuner.Sync
	for range 100 {
		in.Worker, in.Want = alice, 2
		r := d.call(0, in)
		in.Reports = nil
		for _, g := range r.Grants {
			got[g.Key.Sweep]++
			in.Reports = append(in.Reports, done(g))
		}
	}
	for num := range uint64(3) {
		if n := got[num+1]; n < 60 || n > 72 {
			t.Errorf("sweep %d got %d of 200 grants: %v", num+1, n, got)
		}
	}
}

func TestNoWorkerHoards(t *testing.T) {
	d := newDesk(t, 12)
	d.call(0, tuner.Sync{Worker: bob})
	d.call(2*time.Second, tuner.Sync{Worker: bob})
	if n := len(d.call(0, tuner.Sync{Worker: alice, Want: 1e6}).Grants); n > 4 {
		t.Errorf("one of two workers is granted %d of 12 trials at once", n)
	}
	d = newDesk(t, 1e6)
	if n := len(d.call(0, tuner.Sync{Worker: alice, Want: 1e6}).Grants); n != 8 {
		t.Errorf("granted %d, at most 8", n)
	}
}

// What a worker found of another that is not believed any more when it says so is
// found out again.
func TestFoundOutcomesOfWhoIsNotBelieved(t *testing.T) {
	d := newDesk(t, 1)
	grant := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants[0]
	d.l.NoteDistrust(tuner.Distrust{Worker: bob.ID, Why: "test"})
	found := done(grant)
	found.By = bob.ID
	r := d.call(0, tuner.Sync{Worker: alice, Want: 1, Reports: []tuner.Report{found}})
	if len(r.Acks) != 1 || len(r.Grants) != 1 || r.Grants[0].Token <= grant.Token || d.counts(1).Done != 0 {
		t.Errorf("%+v, %+v", r, d.counts(1))
	}
	d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(r.Grants[0])}})
	if s, live := d.l.Sweep(1); live {
		t.Errorf("it is still %s", s.State)
	}
}

// learningDesk has one sweep of so many trials, asked by a strategy that learns.
func learningDesk(t *testing.T, size int64) *desk {
	d := &desk{t: t, l: tuner.NewLedger(tuner.LedgerOptions{LeaseTTL: ttl, Straggles: -1}), now: time.Unix(1e9, 0)}
	d.l.Enter(d.now)
	spec := tunertest.Bundle{Size: size}.Spec("test")
	plan := tuner.Plan{Space: tunertest.Space(size), Strategy: &tunertest.InOrder{Size: size}}
	d.l.Add(tuner.Sweep{Num: 1, ID: spec.ID(""), Spec: spec}, plan, nil)
	return d
}

// work has alice evaluate trials one by one until so many are done, and returns
// her next call, with what she has finished since.
func (d *desk) work(until int64) tuner.Sync {
	in := tuner.Sync{Worker: alice, Want: 1}
	for d.counts(1).Done < until {
		r := d.call(0, in)
		in.Reports = nil
		for _, g := range r.Grants {
			in.Reports = append(in.Reports, done(g))
		}
	}
	return in
}

// Nor does one hold all that a strategy asks before it is told more.
func TestNoWorkerHoldsAllThatIsAsked(t *testing.T) {
	const size, asked = 1000, 80
	d := learningDesk(t, size)
	d.call(0, tuner.Sync{Worker: bob})
	in := d.work(asked)
	d.call(0, tuner.Sync{Worker: alice, Reports: in.Reports})
	hers := len(d.call(0, tuner.Sync{Worker: alice, Want: 100}).Grants)
	his := len(d.call(0, tuner.Sync{Worker: bob, Want: 100}).Grants)
	if hers < 2 || his < 2 || hers > his+2 {
		t.Errorf("one is granted %d trials, the other %d", hers, his)
	}
}

// A call asks few questions of a strategy that learns, whatever a worker wants:
// the others wait meanwhile. Further calls get what is left of the window.
func TestFewQuestionsACall(t *testing.T) {
	const size, known = 5000, 2000
	d := learningDesk(t, size)
	in := d.work(known)
	in.Want = 1024
	var calls []int
	for {
		r := d.call(0, in)
		if len(r.Grants) == 0 {
			break
		}
		in.Reports = nil
		in.Held = append(in.Held, held(r.Grants...)...)
		calls = append(calls, len(r.Grants))
	}
	sum := 0
	for _, n := range calls {
		if sum += n; n > 64 {
			t.Errorf("one call is granted %d trials", n)
		}
	}
	if sum < known/8 || len(calls) < 3 {
		t.Errorf("granted %v, want a window of an eighth of %d in several calls", calls, known)
	}
}

func TestPausedAndCancelled(t *testing.T) {
	d := newDesk(t, 10)
	g := d.call(0, tuner.Sync{Worker: alice, Want: 2}).Grants
	if err := d.l.Steer(1, tuner.Paused); err != nil {
		t.Fatal(err)
	}
	r := d.call(0, tuner.Sync{Worker: alice, Want: 3, Held: held(g[0]), Reports: []tuner.Report{done(g[1])}})
	if len(r.Grants)+len(r.Drops) != 0 || r.Acks[0].Status != tuner.Recorded {
		t.Errorf("while paused: %+v", r)
	}
	if err := d.l.Steer(1, tuner.Cancelled); err != nil {
		t.Fatal(err)
	}
	r = d.call(0, tuner.Sync{Worker: alice, Want: 3, Held: held(g[0])})
	if len(r.Drops) != 1 || !r.Finished {
		t.Errorf("once cancelled: %+v", r)
	}
	if a := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(g[0])}}).Acks[0]; a.Status != tuner.Dropped {
		t.Errorf("a late report is answered %v", a)
	}
	if err := d.l.Steer(1, tuner.Running); tuner.KindOf(err) != tuner.NotFound {
		t.Errorf("resumed: %v", err)
	}
}

// finishAll has a worker evaluate everything that is left.
func (d *desk) finishAll(w tuner.Worker) {
	d.t.Helper()
	in := tuner.Sync{Worker: w, Want: 8}
	for range 1000 {
		r := d.call(0, in)
		if in.Reports = nil; len(r.Grants) == 0 {
			return
		}
		for _, g := range r.Grants {
			in.Reports = append(in.Reports, done(g))
		}
	}
	d.t.Fatal("it does not end")
}

// ended returns the record of sweep 1 as it was last stored.
func (d *desk) ended() (s tuner.Sweep) {
	for _, c := range d.out {
		for _, rec := range c.Sweeps {
			s = rec
		}
	}
	return s
}

func TestBestIsConfirmedBySecondWorker(t *testing.T) {
	d := newDesk(t, 20)
	d.call(0, tuner.Sync{Worker: bob})
	d.finishAll(alice)
	if s := d.ended(); s.State == tuner.Completed {
		t.Fatal("completed before the best is confirmed")
	}
	if r := d.call(0, tuner.Sync{Worker: alice, Want: 2}); len(r.Grants) != 0 {
		t.Errorf("the first worker is granted %+v", r.Grants)
	}
	r := d.call(0, tuner.Sync{Worker: bob, Want: 2})
	if len(r.Grants) != 1 || r.Grants[0].Index != tunertest.Best(20) {
		t.Fatalf("the second is granted %+v", r.Grants)
	}
	if again := d.call(0, tuner.Sync{Worker: bob, Want: 2}); len(again.Grants) != 1 || again.Grants[0].Held != r.Grants[0].Held {
		t.Errorf("when the reply was lost: %+v", again.Grants)
	}
	forged := done(r.Grants[0])
	if a := d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{forged}}).Acks[0]; a.Status != tuner.Refused {
		t.Errorf("the first confirms itself: %v", a.Status)
	}
	if a := d.call(0, tuner.Sync{Worker: bob, Reports: []tuner.Report{forged}}).Acks[0]; a.Status != tuner.Recorded {
		t.Errorf("the second is answered %+v", a)
	}
	if s := d.ended(); s.State != tuner.Completed || !s.Confirmed || s.Counts.Done != 20 {
		t.Errorf("ended as %+v", s)
	}
}

func TestBestThatIsNotReproducedIsSaid(t *testing.T) {
	d := newDesk(t, 20)
	d.call(0, tuner.Sync{Worker: bob})
	d.finishAll(alice)
	g := d.call(0, tuner.Sync{Worker: bob, Want: 1}).Grants[0]
	o := tunertest.OracleAt(g.Level, g.Index)
	o.TimeUS *= 10
	d.call(0, tuner.Sync{Worker: bob, Reports: []tuner.Report{{Held: g.Held, Outcome: &o}}})
	s := d.ended()
	if s.State != tuner.Completed || s.Confirmed || !strings.Contains(s.Message, "not reproduced") || !strings.Contains(s.Message, "alice") || !strings.Contains(s.Message, "bob") {
		t.Errorf("ended as %+v", s)
	}
}

func TestSweepCompletesWithoutSecondWorker(t *testing.T) {
	d := newDesk(t, 20)
	d.finishAll(alice)
	if s := d.ended(); s.State != tuner.Completed || s.Confirmed {
		t.Errorf("with one worker it ended as %v", s.State)
	}
	d = newDesk(t, 20)
	d.call(0, tuner.Sync{Worker: bob})
	d.finishAll(alice)
	d.call(4*time.Second, tuner.Sync{Worker: alice})
	if s := d.ended(); s.State != tuner.Running {
		t.Errorf("it does not wait for the second worker: %v", s.State)
	}
	d.call(time.Second, tuner.Sync{Worker: alice})
	if s := d.ended(); s.State != tuner.Completed || s.Confirmed {
		t.Errorf("when the second worker is gone it ended as %v", s.State)
	}
}

// A space of ten million configurations costs nothing until it is asked for.
func TestSpacesAreNotMaterialised(t *testing.T) {
	n := testing.AllocsPerRun(3, func() { newDesk(t, 10_000_000) })
	if n > 500 {
		t.Errorf("submitting allocates %v times", n)
	}
}

func BenchmarkLedger(b *testing.B) {
	d := newDesk(&testing.T{}, 1<<40)
	in := tuner.Sync{Worker: alice}
	o := tunertest.Oracle(3)
	for b.Loop() {
		in.Want = 8
		d.l.Enter(d.now)
		r, _ := d.l.Synchronize(&in)
		in.Reports = in.Reports[:0]
		for _, g := range r.Grants {
			in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
		}
		d.l.Take(new(tuner.Changes))
	}
	b.ReportMetric(float64(d.counts(1).Done)/b.Elapsed().Seconds(), "results/s")
}

// shedding is a strategy that notes whether it keeps what it could compute again.
type shedding struct {
	tunertest.Adaptive
	keeps bool
}

// Ask is in search.Strategy.
func (s *shedding) Ask(n int) []int64 {
	s.keeps = true
	return s.Adaptive.Ask(n)
}

// Shed is in search.Shedder.
func (s *shedding) Shed() { s.keeps = false }

// However many sweeps learn, only those that asked last keep what they could
// compute again.
func TestFewSweepsKeepWhatTheyCouldCompute(t *testing.T) {
	d := newDesk(t)
	d.l = tuner.NewLedger(tuner.LedgerOptions{LeaseTTL: ttl, MaxGrant: 8, Warm: 3})
	d.l.Enter(d.now)
	const sweeps = 10
	var all []*shedding
	for i := range uint64(sweeps) {
		s := &shedding{Adaptive: tunertest.Adaptive{Size: 50, Batch: 8}}
		spec := tunertest.Bundle{Size: 50}.Spec("k")
		spec.Seed = i
		d.l.Add(tuner.Sweep{Num: i + 1, ID: spec.ID(""), Spec: spec}, tuner.Plan{Space: tunertest.Space(50), Strategy: s}, nil)
		all = append(all, s)
	}
	count := func() (n int) {
		for _, s := range all {
			if s.keeps {
				n++
			}
		}
		return n
	}
	if n := count(); n != 3 {
		t.Fatalf("%d sweeps keep it once all have asked, want 3", n)
	}
	var reports []tuner.Report
	ended := 0
	for ended < sweeps*50 {
		grants := d.call(time.Second, tuner.Sync{Worker: alice, Reports: reports, Want: 8}).Grants
		if ended += len(reports); len(grants) == 0 && ended < sweeps*50 {
			t.Fatalf("nothing is granted after %d results", ended)
		}
		reports = nil
		for _, g := range grants {
			reports = append(reports, done(g))
		}
		if n := count(); n > 3 {
			t.Fatalf("%d sweeps keep it, want 3 at most", n)
		}
	}
}
