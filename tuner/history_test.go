package tuner_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash"
	"hash/fnv"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/lease"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// history runs random events against a ledger and a store in memory, and
// checks them against what the protocol promises. Time is virtual.
type history struct {
	t        *testing.T
	seed     uint64
	heard    hash.Hash64 // of all that was told
	rng      *rand.Rand
	bundle   tunertest.Bundle
	bundles  map[uint64]tunertest.Bundle // of the other sweeps: see TestRandomHistoriesOfSeveral
	attempts int
	now      time.Time
	ledger   *tuner.Ledger
	store    *store.Memory
	num      uint64  // of the sweep; it grows when it starts over
	audit    float64 // LedgerOptions.Audit
	liar     *client // who says what is not so; nil: nobody
	lies     func(o *tuner.Outcome, index int64)
	faulty   bool // every worker has a fault now and then, and at some configurations always; else only one that is broken, at everything
	broken   int  // its number

	workers []*client
	late    []late // requests that the network still holds

	// What was told to anybody, and so must hold for ever.
	granted  map[lease.Key]tuner.Grant // the newest grant of each trial
	holder   map[uint64]string         // of each token
	recorded map[lease.Key]bool
	token    uint64 // the greatest told
	stale    int    // reports refused as stale
	seconds  int    // trials recorded under a second grant
}

// client is a worker: what it believes it holds and has to report.
type client struct {
	worker  tuner.Worker
	held    map[lease.Key]tuner.Grant
	reports []tuner.Report
	alive   bool
}

// holds returns what a worker holds, in the order of the grants.
func (c *client) holds() []tuner.Grant {
	return slices.SortedFunc(maps.Values(c.held), func(a, b tuner.Grant) int { return cmp.Compare(a.Token, b.Token) })
}

// late is a request that arrives again, or for the first time, later.
type late struct {
	from *client
	sync tuner.Sync
}

const ttl = 30 * time.Second

func newHistory(t *testing.T, seed uint64, b tunertest.Bundle, attempts int) *history {
	return newAudited(t, seed, b, attempts, 0)
}

func newAudited(t *testing.T, seed uint64, b tunertest.Bundle, attempts int, audit float64) *history {
	h := &history{
		num: 1, audit: audit, t: t, seed: seed, heard: fnv.New64a(), rng: rand.New(rand.NewPCG(seed, 7)), bundle: b, attempts: attempts, now: time.Unix(1e9, 0), store: store.NewMemory(),
		granted: map[lease.Key]tuner.Grant{}, holder: map[uint64]string{}, recorded: map[lease.Key]bool{},
	}
	content, digest := b.Content()
	_, _ = h.store.PutBundle(digest, content, tuner.Act{})
	h.ledger = tuner.NewLedger(h.options(0))
	h.ledger.Enter(h.now)
	spec := b.Spec("test")
	plan := h.plan(spec)
	h.ledger.Add(tuner.Sweep{Num: 1, ID: spec.ID(""), Spec: spec, Window: plan.Window, Names: plan.Names}, plan, nil)
	h.commit()
	for i := range 4 {
		h.workers = append(h.workers, h.start(i))
	}
	return h
}

func (h *history) options(token uint64) tuner.LedgerOptions {
	return tuner.LedgerOptions{LeaseTTL: ttl, Attempts: h.attempts, MaxGrant: 8, Token: token, Audit: h.audit, AuditSeed: h.seed}
}

func (h *history) plan(spec tuner.Spec) tuner.Plan {
	content, err := h.store.Bundle(spec.Bundle)
	if err != nil {
		h.fatalf("%v", err)
	}
	plan, err := tunertest.Planner{}.Plan(context.Background(), spec, tuner.Files{Bundle: content})
	if err != nil {
		h.fatalf("%v", err)
	}
	return plan
}

func (h *history) start(i int) *client {
	return &client{worker: tunertest.Worker(fmt.Sprint("w", i), h.rng.Uint64(), 1+h.rng.IntN(3)), held: map[lease.Key]tuner.Grant{}, alive: true}
}

// fatalf ends the test, and says how to replay the history alone.
func (h *history) fatalf(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("seed %d: "+format, append([]any{h.seed}, args...)...)
}

// Any and Find are in tuner.Known: only the sweep itself may have stored before
// what it asks.
func (h *history) Any() bool { return h.num > 1 }

func (h *history) Find(key []byte) (tuner.Answer, bool) {
	a, found, err := h.store.Answer(key)
	if err != nil {
		h.fatalf("%v", err)
	}
	return tuner.Answer{Result: a.Result, Own: true}, found && !h.ledger.Distrusts(a.Result.Worker)
}

// commit makes durable what the ledger changed.
func (h *history) commit() {
	for _, num := range h.ledger.Void() {
		h.num++
		h.ledger.Again(num, h.num, h.plan(h.bundle.Spec("test")), h)
	}
	var c tuner.Changes
	h.ledger.Take(&c)
	if err := h.store.Commit(&c); err != nil {
		h.fatalf("%v", err)
	}
	h.check()
}

// crash loses the ledger, with whatever was not committed, and restores it.
func (h *history) crash() {
	token, _, _ := h.store.Numbers()
	h.ledger = tuner.NewLedger(h.options(token))
	h.ledger.Enter(h.now)
	sweeps, _ := h.store.Sweeps()
	for _, s := range sweeps {
		h.num = s.Num // the newest
		for _, d := range s.Distrusted {
			h.ledger.NoteDistrust(d)
		}
	}
	for _, s := range sweeps {
		if !s.State.Live() {
			h.ledger.NoteEnded(s.Num, s.State)
			continue
		}
		leases, _ := h.store.Leases(s.Num)
		err := h.ledger.Restore(tuner.Restored{Sweep: s, Plan: h.plan(s.Spec), Known: h, Results: h.resultsOf(s.Num), Leases: leases})
		if err != nil {
			h.fatalf("restore: %v", err)
		}
	}
	h.check()
}

func (h *history) results() iter.Seq2[tuner.Result, error] { return h.resultsOf(h.num) }

func (h *history) resultsOf(num uint64) iter.Seq2[tuner.Result, error] {
	return func(yield func(tuner.Result, error) bool) {
		for seq := int64(0); ; {
			page, err := h.store.Results(num, seq, store.PageLimit)
			for _, r := range page {
				if !yield(r, err) {
					return
				}
				seq = r.Seq + 1
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// check compares the ledger's counts with one another.
func (h *history) check() {
	h.t.Helper()
	live := h.ledger.Live()
	leased, queued := int64(0), int64(0)
	for _, num := range live {
		s, _ := h.ledger.Sweep(num)
		c := s.Counts
		if c.Asked != c.Queued+c.Leased+c.Done+c.Abandoned || c.Queued < 0 || c.Leased < 0 {
			h.fatalf("counts do not add up: %+v", c)
		}
		leased, queued = leased+c.Leased, queued+c.Queued
	}
	held := int64(0)
	for _, w := range h.ledger.Workers() {
		held += int64(w.Held)
	}
	// Each trial may be granted twice; of each sweep one lease may confirm the best, and each
	// worker may be probed.
	if workers := len(h.ledger.Workers()); h.audit == 0 && held > 2*leased+queued+int64(len(live)+workers) {
		h.fatalf("%d workers hold %d leases, %d trials are leased", workers, held, leased)
	}
}

// request returns what a worker says now.
func (h *history) request(w *client) tuner.Sync {
	in := tuner.Sync{Worker: w.worker, Want: h.rng.IntN(6), Draining: h.rng.IntN(20) == 0}
	in.Reports = append(in.Reports, w.reports...)
	for _, g := range w.holds() {
		in.Held = append(in.Held, g.Held)
	}
	return in
}

// deliver brings a request to the ledger, and the reply back unless something
// goes wrong on the way.
func (h *history) deliver(w *client, in tuner.Sync) {
	h.ledger.Enter(h.now)
	reply, err := h.ledger.Synchronize(&in)
	if err != nil && h.ledger.Distrusts(w.worker.ID) {
		w.held, w.reports = map[lease.Key]tuner.Grant{}, nil // it may try for ever
		h.commit()
		return
	}
	if err != nil {
		h.fatalf("%v", err)
	}
	switch h.rng.IntN(12) {
	case 0: // the coordinator dies before the commit
		h.crash()
		return
	case 1: // and after it, before the reply
		h.commit()
		h.told(w, &in, reply)
		h.crash()
		return
	}
	h.commit()
	h.told(w, &in, reply)
	if h.rng.IntN(10) > 0 && w.alive {
		h.receive(w, reply)
	}
}

// trialOf returns the trial that a lease is for.
func trialOf(key lease.Key) (_ lease.Key, confirms bool) {
	key.Seq, confirms = tuner.TrialOf(key.Seq)
	return key, confirms
}

// told checks what a reply says against everything said before.
func (h *history) told(w *client, in *tuner.Sync, reply *tuner.SyncReply) {
	h.t.Helper()
	if err := json.NewEncoder(h.heard).Encode([]any{w.worker.Session(), in, reply}); err != nil {
		h.fatalf("%v", err)
	}
	for i, a := range reply.Acks {
		key, newest := a.Key, h.granted[a.Key]
		trial, confirms := trialOf(key)
		switch {
		case a.Status == tuner.Recorded && in.Reports[i].Outcome != nil:
			if h.recorded[trial] && !confirms {
				h.fatalf("trial %d was recorded twice", key.Seq)
			}
			if a.Token < newest.Token || h.holder[a.Token] != w.worker.Session() {
				h.fatalf("trial %d was recorded under token %d of %s, granted under %d since", key.Seq, a.Token, h.holder[a.Token], newest.Token)
			}
			h.recorded[trial] = h.recorded[trial] || !confirms // a confirmation is made again after a crash
			if key != trial && !confirms {
				h.seconds++
			}
		case a.Status == tuner.StaleToken:
			h.stale++
			if key == trial && a.Token >= newest.Token && newest.Token != 0 && h.holder[newest.Token] == w.worker.Session() {
				h.fatalf("token %d of trial %d is the newest and was called stale", a.Token, key.Seq)
			}
		}
	}
	for _, g := range reply.Grants {
		if trial, confirms := trialOf(g.Key); h.recorded[trial] && !confirms {
			h.fatalf("trial %d was granted after it was recorded", g.Key.Seq)
		}
		if old := h.granted[g.Key]; old.Token == g.Token {
			if h.holder[g.Token] != w.worker.Session() {
				h.fatalf("token %d was granted to two", g.Token)
			}
		} else if g.Token <= old.Token || h.holder[g.Token] != "" {
			h.fatalf("trial %d was granted under %d after %d", g.Key.Seq, g.Token, old.Token)
		} else if s, live := h.ledger.Sweep(g.Key.Sweep); !live || s.State != tuner.Running {
			h.fatalf("trial %d was granted of a sweep that does not run", g.Key.Seq)
		}
		h.granted[g.Key], h.holder[g.Token] = g, w.worker.Session()
		h.token = max(h.token, g.Token)
	}
}

// receive brings a reply to its worker.
func (h *history) receive(w *client, reply *tuner.SyncReply) {
	acked := map[tuner.Held]bool{}
	for _, a := range reply.Acks {
		acked[a.Held] = true
	}
	var left []tuner.Report
	for _, r := range w.reports {
		if !acked[r.Held] {
			left = append(left, r)
		}
	}
	w.reports = left
	for _, d := range reply.Drops {
		if w.held[d.Key].Token == d.Token {
			delete(w.held, d.Key)
		}
	}
	for _, g := range reply.Grants {
		w.held[g.Key] = g
	}
}

// evaluate has a worker finish some of what it holds.
func (h *history) evaluate(w *client) {
	for _, g := range w.holds() {
		if h.rng.IntN(3) == 0 {
			continue
		}
		delete(w.held, g.Key)
		r := tuner.Report{Held: g.Held}
		switch n := h.rng.IntN(15); {
		case (n == 0 || g.Index%20 == 7) && h.faulty || !h.faulty && w.worker.ID == fmt.Sprint("w", h.broken):
			r.Fault = "out of memory"
		case n == 1:
			r.Released = true
		default:
			o := h.outcome(g)
			if h.liar != nil && w.worker.ID == h.liar.worker.ID {
				h.lies(&o, g.Index)
			}
			r.Outcome = &o
		}
		w.reports = append(w.reports, r)
	}
}

// outcome is what comes out of a trial.
func (h *history) outcome(g tuner.Grant) tuner.Outcome {
	if b, ok := h.bundles[g.Key.Sweep]; ok {
		return b.Outcome(g.Level, g.Index)
	}
	return h.bundle.Outcome(g.Level, g.Index)
}

// step makes one random event happen.
func (h *history) step() {
	i := h.rng.IntN(len(h.workers))
	w := h.workers[i]
	switch n := h.rng.IntN(100); {
	case n < 45:
		h.deliver(w, h.request(w))
	case n < 70:
		h.evaluate(w)
	case n < 76: // a request is held up on its way
		h.late = append(h.late, late{w, h.request(w)})
	case n < 82 && len(h.late) > 0: // and arrives, perhaps twice
		k := h.rng.IntN(len(h.late))
		l := h.late[k]
		if h.rng.IntN(2) == 0 {
			h.late = append(h.late[:k], h.late[k+1:]...)
		}
		h.deliver(l.from, l.sync)
	case n < 84: // a worker dies, or a second copy of it starts
		w.alive = h.rng.IntN(2) == 0
		h.workers[i] = h.start(i)
	case n < 86:
		h.crash()
		h.broken = h.rng.IntN(8) // mostly nobody
	case n < 88: // everybody is silent for a while, but the ledger's owner runs
		for range 1 + h.rng.IntN(8) {
			h.now = h.now.Add(ttl / 5)
			h.ledger.Enter(h.now)
		}
		h.commit()
	case n < 89: // or stands still, or its clock steps back
		h.now = h.now.Add(time.Duration(h.rng.IntN(7200)-1800) * time.Second)
	case n < 91:
		if s, ok := h.ledger.Sweep(h.num); ok {
			to := tuner.Paused
			if s.State == tuner.Paused {
				to = tuner.Running
			}
			if err := h.ledger.Steer(h.num, to); err != nil {
				h.fatalf("%v", err)
			}
			h.commit()
		}
	default:
		h.now = h.now.Add(time.Duration(h.rng.IntN(3000)) * time.Millisecond)
	}
}

// work has a faultless worker report what it holds and take more; false once
// the sweep has ended.
func (h *history) work(w *client) bool {
	h.t.Helper()
	h.now = h.now.Add(2 * time.Second)
	h.ledger.Enter(h.now)
	in := tuner.Sync{Worker: w.worker, Want: 8, Reports: w.reports}
	reply, err := h.ledger.Synchronize(&in)
	if err != nil {
		h.fatalf("%v", err)
	}
	h.commit()
	h.told(w, &in, reply)
	h.receive(w, reply)
	for _, g := range w.holds() {
		o := h.outcome(g)
		w.reports = append(w.reports, tuner.Report{Held: g.Held, Outcome: &o})
		delete(w.held, g.Key)
	}
	_, live := h.ledger.Sweep(h.num)
	return live
}

// finish lets a new, faultless worker do what is left.
func (h *history) finish() []tuner.Result { return h.finishBy(1) }

// finishBy lets n new, faultless workers do what is left.
func (h *history) finishBy(n int) []tuner.Result {
	h.t.Helper()
	for _, w := range h.workers {
		w.alive = false
	}
	var fresh []*client
	for i := range n {
		fresh = append(fresh, h.start(99+i))
	}
	for i := range 10000 {
		s, ok := h.ledger.Sweep(h.num)
		if !ok {
			break
		}
		if s.State == tuner.Paused {
			_ = h.ledger.Steer(h.num, tuner.Running)
		}
		h.work(fresh[i%n])
	}
	if s, ok := h.ledger.Sweep(h.num); ok {
		h.fatalf("the sweep does not end: %+v", s.Counts)
	}
	var all []tuner.Result
	for r := range h.results() {
		all = append(all, r)
	}
	return plain(all)
}

// plain returns results without what differs from run to run: by whom, and after
// how many attempts.
func plain(all []tuner.Result) []tuner.Result {
	for k := range all {
		if all[k].Worker = ""; !all[k].Abandoned {
			all[k].Attempts = 1
		}
	}
	return all
}

// Whatever happens to workers, messages, the coordinator and the clock, every
// trial ends exactly once, under the newest token, and the table is that of an
// undisturbed sweep.
func TestRandomHistories(t *testing.T) {
	base := tunertest.Seed(t)
	stale, seconds := 0, 0
	for i := range uint64(tunertest.Times(40, 20000)) {
		h := history400(t, base+i)
		undisturbed := newHistory(t, 0, h.bundle, shipped).finish()
		if got := h.finish(); !reflect.DeepEqual(got, undisturbed) {
			h.fatalf("the table differs:\n%+v\nwant\n%+v", got, undisturbed)
		}
		stale += h.stale
		seconds += h.seconds
	}
	if stale == 0 || seconds == 0 {
		t.Errorf("%d reports were stale and %d of second grants: the histories are too tame", stale, seconds)
	}
}

// history400 returns a history of 400 random events, of a sweep that is
// adaptive or not.
func history400(t *testing.T, seed uint64) *history {
	b := tunertest.Bundle{Size: 60}
	if seed%2 == 1 {
		b.Batch, b.Growing = 6, seed%4 == 1
	}
	h := newHistory(t, seed, b, shipped)
	for range 400 {
		h.step()
	}
	return h
}

// shipped is LedgerOptions.Attempts as coordinators have it.
const shipped = 0

// A seed replays its history to the letter.
func TestHistoriesReplay(t *testing.T) {
	seed := tunertest.Seed(t)
	first, again := history400(t, seed), history400(t, seed)
	if first.heard.Sum64() != again.heard.Sum64() || first.heard.Sum64() == newHistory(t, seed, first.bundle, 1000).heard.Sum64() {
		t.Error("two runs of one seed differ")
	}
}

// With few attempts some trials are given up, each exactly once.
func TestRandomHistoriesGiveUp(t *testing.T) {
	base := tunertest.Seed(t)
	abandoned := 0
	for i := range uint64(tunertest.Times(20, 2000)) {
		h := newHistory(t, base+i, tunertest.Bundle{Size: 80}, 2)
		h.faulty = true
		for range 400 {
			h.step()
		}
		got := h.finish()
		if len(got) != 80 {
			h.fatalf("%d results of 80", len(got))
		}
		for k, r := range got {
			want := tunertest.Oracle(r.Index)
			if r.Seq != int64(k) || !r.Abandoned && !reflect.DeepEqual(r.Outcome, want) || r.Abandoned && r.Attempts < 2 {
				h.fatalf("result %d is %+v", k, r)
			}
			if r.Abandoned {
				abandoned++
			}
		}
	}
	if abandoned == 0 {
		t.Error("no trial was ever given up: the histories are too tame")
	}
}

// A worker that is alone is not asked to confirm its own best, also when the
// coordinator was restarted since; another worker is.
func TestConfirmationAfterRestart(t *testing.T) {
	for _, second := range []bool{false, true} {
		h := newHistory(t, 1, tunertest.Bundle{Size: 40}, 3)
		w, other := h.start(1), h.start(2)
		confirmed := 0
		for h.work(w) {
			best, _ := h.ledger.Sweep(h.num)
			if best.Counts.Done > 30 {
				break
			}
		}
		if s, _ := h.ledger.Sweep(h.num); s.Best == nil || s.Best.Index != tunertest.Best(40) || s.BestWorker != "w1" {
			t.Fatalf("the best is not found before the restart: %+v", s.Best)
		}
		h.crash()
		for {
			if second {
				h.work(other)
			}
			if !h.work(w) {
				break
			}
		}
		for key := range h.granted {
			if key.Seq < 0 {
				confirmed++
			}
		}
		sweeps, _ := h.store.Sweeps()
		if s := sweeps[0]; s.State != tuner.Completed || s.Confirmed != second || (confirmed > 0) != second {
			t.Errorf("with a second worker %v: %v, confirmed %v, %d confirmations granted", second, s.State, s.Confirmed, confirmed)
		}
	}
}

// Sweeps of two levels end with the same table, whatever happens on the way;
// the best that they find is as good as they say, and the one that evaluating
// everything finds if that was the goal.
func TestRandomHistoriesOfTwoLevels(t *testing.T) {
	base := rand.Uint64()
	t.Logf("seeds %d to %d", base, base+23)
	var pruned int64
	for i := range uint64(24) {
		b := tunertest.Bundle{Size: 90, Level: "model,cycle"}
		if i%2 == 1 {
			b.Batch = 6
		}
		if i%3 > 0 {
			within := 0.05 * float64(i%3-1)
			b.Within = &within
		}
		calm := newHistory(t, 0, b, shipped)
		undisturbed := calm.finish()
		h := newHistory(t, base+i, b, shipped)
		for range 400 {
			h.step()
		}
		got := h.finish()
		if !reflect.DeepEqual(got, undisturbed) {
			t.Fatalf("seed %d: the table differs:\n%+v\nwant\n%+v", base+i, got, undisturbed)
		}
		sweeps, _ := h.store.Sweeps()
		s, p := sweeps[0], sweeps[0].Proof
		if s.State != tuner.Completed || s.Best == nil || s.LevelOf(s.Best.Seq) != "cycle" || s.Ranked != b.Size || p.Of != b.Size || p.Evaluated+p.Pruned+p.Open != p.Of {
			t.Fatalf("seed %d: %+v, best %+v", base+i, s, s.Best)
		}
		fastest := tunertest.Oracle(tunertest.Best(b.Size)).TimeUS
		if p.Gap >= 0 && s.Best.Outcome.TimeUS > fastest*(1+p.Gap) || b.Within != nil && (p.Gap < 0 || p.Gap > *b.Within) {
			t.Fatalf("seed %d: best %g of %g, said to be within %g", base+i, s.Best.Outcome.TimeUS, fastest, p.Gap)
		}
		if int64(len(got)) >= 2*b.Size {
			t.Errorf("seed %d: %d trials for %d configurations", base+i, len(got), b.Size)
		}
		pruned += p.Pruned
	}
	if pruned == 0 {
		t.Error("nothing was ever pruned")
	}
}
