package tuner

import (
	"slices"
	"strings"
	"time"

	"github.com/warptune/warptune/tuner/lease"
)

// A worker that fails at what it is given may be broken: its disk is full, a
// library is missing. So its faults say nothing of configurations until it has
// evaluated something after them. It is given trials that are new to it; if there
// are none, or asideAfter faults have come in a row, it is to evaluate once more
// what is known already: a probe. One that fails at that too, or that has nothing
// to be probed with, is set aside, and what it failed at is not held against
// anything. It is given nothing for a while, then a probe or one trial; if it
// fails again, nothing for twice as long, up to longestAside. The first that it
// evaluates puts it back.

const (
	asideAfter   = 3
	firstAside   = 5 * time.Second
	longestAside = 10 * time.Minute
)

// standing is what is held against a worker since it last evaluated something.
type standing struct {
	faults []lease.Key // trials at which it failed; none once it is set aside
	sweep  uint64      // in which it failed last
	aside  bool
	rests  int       // how often it has been given nothing for a while, in a row
	until  time.Time // how long it is given nothing
	why    string    // its last fault
	heard  time.Time // when that was
}

// Aside is a worker that is set aside.
type Aside struct {
	Worker string
	Host   string
	Why    string        // its last fault
	For    time.Duration // until it is given something again
}

// SetAside are the workers that are set aside and were heard of lately, by name.
func (l *Ledger) SetAside() []Aside {
	var all []Aside
	for _, w := range l.sessions {
		if st := l.standings[w.worker.ID]; st != nil && st.aside {
			all = append(all, l.asideOf(w, st))
		}
	}
	slices.SortFunc(all, func(a, b Aside) int { return strings.Compare(a.Worker, b.Worker) })
	return slices.CompactFunc(all, func(a, b Aside) bool { return a.Worker == b.Worker })
}

// asideFor are the workers set aside that suit a sweep.
func (l *Ledger) asideFor(s *live) []Aside {
	if len(l.standings) == 0 {
		return nil
	}
	var all []Aside
	for _, w := range l.sessions {
		st := l.standings[w.worker.ID]
		if st == nil || !st.aside || l.now.Sub(w.seen) >= l.opts.LeaseTTL {
			continue
		}
		if ok, _ := w.worker.suits(&s.rec.Spec); ok {
			all = append(all, l.asideOf(w, st))
		}
	}
	slices.SortFunc(all, func(a, b Aside) int { return strings.Compare(a.Worker, b.Worker) })
	return all[:min(len(all), maxShownAside)]
}

// maxShownAside is how many workers are named.
const maxShownAside = 16

func (l *Ledger) asideOf(w *session, st *standing) Aside {
	return Aside{w.worker.ID, w.worker.Host(), st.why, max(0, st.until.Sub(l.now))}
}

// aside reports whether a worker is set aside.
func (l *Ledger) aside(worker string) bool {
	st := l.standings[worker]
	return st != nil && st.aside
}

// due reports whether a worker that is set aside is given something again by then.
func (l *Ledger) due(w *session, by time.Time) bool {
	st := l.standings[w.worker.ID]
	return st != nil && st.aside && !st.until.After(by)
}

// anotherIsDue reports whether a worker of another name is set aside and may soon
// confirm what this one has found.
func (l *Ledger) anotherIsDue(s *live, worker string) bool {
	for _, o := range l.sessions {
		if o.worker.ID != worker && l.due(o, l.now.Add(confirmWait)) && l.present(s, o) {
			return true
		}
	}
	return false
}

// failed notes a fault of a worker at a trial or a check.
func (l *Ledger) failed(s *live, seq int64, w *session, why string) {
	if t := s.course.at(seq); t != nil {
		t.doubted().blame(w.worker.ID, w.worker.Host())
	}
	st := l.standingOf(w, s)
	st.why, st.heard, st.sweep = why, l.now, s.rec.Num
	if st.aside {
		st.rest(l.now)
		return
	}
	st.faults = append(st.faults, s.key(seq))
	if len(st.faults) >= asideAfter && l.probe(w, st) == nil {
		l.setAside(w, st)
	}
}

// standingOf returns the standing of a worker that has failed in a sweep.
func (l *Ledger) standingOf(w *session, s *live) *standing {
	st := l.standings[w.worker.ID]
	if st == nil {
		st = &standing{sweep: s.rec.Num, why: "it evaluates otherwise what another has evaluated"}
		l.standings[w.worker.ID] = st
	}
	return st
}

// setAside sets a worker aside, or leaves it there for longer.
func (l *Ledger) setAside(w *session, st *standing) {
	st.rest(l.now)
	if st.faults = nil; !st.aside {
		st.aside = true
		l.changes.Aside = append(l.changes.Aside, l.asideOf(w, st))
		l.Note(Act{What: ActSetAside, Worker: w.worker.ID, Detail: st.why})
		for _, num := range l.order {
			l.live[num].dirty = true // who is set aside is shown
		}
	}
}

// rest has a worker be given nothing, for longer each time.
func (st *standing) rest(now time.Time) {
	st.until = now.Add(min(firstAside<<min(st.rests, 16), longestAside))
	st.rests++
}

// evaluated notes that a worker has evaluated something: it works, so that its
// faults before are the configurations'.
func (l *Ledger) evaluated(w *session) {
	w.evaluated++
	st := l.standings[w.worker.ID]
	if st == nil {
		return
	}
	delete(l.standings, w.worker.ID)
	if st.aside {
		w.putBack = l.now
		l.Note(Act{What: ActPutBack, Worker: w.worker.ID})
	}
	for _, key := range st.faults {
		s := l.live[key.Sweep]
		if s == nil {
			continue
		}
		t := s.course.at(key.Seq)
		if t == nil || t.ended() {
			continue
		}
		t.doubted().faults++
		if t.state == Queued {
			l.giveUp(s, key.Seq, t)
		}
	}
}

// limited grants a worker that has failed lately what it may be given, and reports
// whether that is all.
func (l *Ledger) limited(w *session, held int, out *SyncReply) (all bool) {
	st := l.standings[w.worker.ID]
	switch {
	case st == nil:
		return false
	case st.until.After(l.now):
		out.Next = min(out.Next, st.until.Sub(l.now))
		return true
	case !st.aside && len(st.faults) < asideAfter:
		return false
	case held > 0: // that first
		return true
	}
	g, ok := l.grantProbe(w)
	if ok {
		out.Grants = append(out.Grants, g)
	}
	return ok
}

// triedBy reports whether a worker has failed at a trial since it last evaluated
// something.
func (l *Ledger) triedBy(w *session, s *live, seq int64, t *trial) bool {
	st := l.standings[w.worker.ID]
	if st == nil {
		return false
	}
	return st.aside && t.doubt.rank(&w.worker) == 2 || slices.Contains(st.faults, s.key(seq))
}

// probe returns what a worker can be probed with: an outcome of the sweep in which
// it failed last. nil: there is none.
func (l *Ledger) probe(w *session, st *standing) *Result {
	s := l.live[st.sweep]
	if s == nil || s.rec.State != Running || s.void {
		return nil
	}
	if _, unfit := w.unfit[st.sweep]; unfit {
		return nil
	}
	return s.probe()
}

// probe returns an outcome of the sweep that a worker can be probed with now.
func (s *live) probe() *Result {
	for i := range s.probes {
		if r := &s.probes[i]; r.Outcome.Validity.Valid() && s.checks[r.Seq] == nil {
			return r
		}
	}
	return nil
}

// probed reports whether there are outcomes that workers can be probed with.
func (s *live) probed() bool {
	return s.probes[0].Outcome.Validity.Valid() || s.probes[1].Outcome.Validity.Valid()
}

// grantProbe has a worker evaluate once more what is known, if something is.
func (l *Ledger) grantProbe(w *session) (Grant, bool) {
	st := l.standings[w.worker.ID]
	if st == nil {
		return Grant{}, false
	}
	r := l.probe(w, st)
	if r == nil {
		return Grant{}, false
	}
	return l.giveProbe(l.live[st.sweep], r, w), true
}

func (l *Ledger) giveProbe(s *live, r *Result, w *session) Grant {
	c := &check{seq: r.Seq, index: r.Index, first: said{r.Worker, r.Outcome}, probe: true}
	s.checks[r.Seq] = c
	return l.giveCheck(s, c, w)
}

// probed takes what came of a probe; o is nil if nothing did.
func (l *Ledger) probed(s *live, c *check, o *Outcome, why string) {
	l.leases.Revoke(s.key(checkSeq(c.seq)))
	delete(s.checks, c.seq)
	w := l.sessions[c.holder]
	if w == nil {
		return
	}
	if o != nil && (l.standings[w.worker.ID] == nil || o.Same(&c.first.outcome) || !o.mustEqual(&c.first.outcome) || independent(w.worker.ID, c.first.worker)) {
		l.evaluated(w)
		return
	}
	st := l.standingOf(w, s)
	if st.heard = l.now; why != "" {
		st.why = why
	}
	l.setAside(w, st)
}

// forgetStandings forgets workers long gone.
func (l *Ledger) forgetStandings() {
	for name, st := range l.standings {
		if l.now.Sub(st.heard) > 2*longestAside {
			delete(l.standings, name)
		}
	}
}
