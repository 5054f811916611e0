package tuner

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/warptune/warptune/tuner/lease"
)

// Outcomes are the same whoever evaluates: some are found out once more by
// another worker, of another credential if there is one (credential.go), and
// whoever says something else than two others is not believed any more
// (distrust.go). Checked are the best, before its sweep ends,
// and with LedgerOptions.Audit each best so far and a sample of all.

// How long a sweep whose trials have ended waits for a worker that is there to
// take up a check: for a second one, and for the one that decides between two.
const (
	confirmWait = 5 * time.Second
	decideWait  = 30 * time.Second
)

// maxChecks bounds the checks of a sweep that are open; beyond it no more are
// drawn.
const maxChecks = 4096

// maxLooked is how many checks are looked at for one that a worker may make.
const maxLooked = 64

// check is a further evaluation of a trial that has ended, by another worker
// than before. It is leased under a number of its own, -1-seq, and is not
// stored: a restart forgets it, draws again among the last outcomes, and makes
// that of the best anew.
type check struct {
	seq    int64
	index  int64
	first  said
	second said // who disagrees with the first; no worker: nobody yet

	since    time.Time // when it began to wait
	probe    bool      // of who makes it, not of the outcome: see standing
	attempts int
	token    uint64
	holder   string        // session; "" while it waits
	granted  time.Duration // when, by the ledger's awake time
}

// said is an outcome and whose it is.
type said struct {
	worker  string
	outcome Outcome
}

func (s *said) String() string {
	o := &s.outcome
	if o.Validity != Correct {
		return fmt.Sprintf("worker %s says %s", s.worker, o.Validity)
	}
	return fmt.Sprintf("worker %s says %s %g µs", s.worker, o.Validity, o.TimeUS)
}

// checkSeq returns the number that stands for checking trial seq, and the other
// way round.
func checkSeq(seq int64) int64 { return -1 - seq }

// mix spreads a number's bits (splitmix64's finaliser).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Draws reports whether a trial is drawn to be checked.
func (o *LedgerOptions) Draws(sweep uint64, seq int64) bool {
	return float64(mix(o.AuditSeed^mix(sweep^mix(uint64(seq))))>>11)/(1<<53) < o.Audit
}

// audit has a trial that has just ended checked, if it is drawn or is the best
// so far. A timeout says more of the machine than of the configuration.
func (l *Ledger) audit(s *live, r *Result) {
	best := s.rec.Best != nil && s.rec.Best.Seq == r.Seq
	if l.opts.Audit <= 0 || r.Outcome.Device != "" || r.Outcome.Validity == Timeout || len(s.checks) >= maxChecks || !best && !l.opts.Draws(s.rec.Num, r.Seq) {
		return
	}
	s.beginCheck(l.now, r)
}

// recent are the last trials drawn of a sweep that is restored.
type recent struct {
	ring [256]Result
	n    int
}

func (q *recent) add(r *Result) {
	if r.Worker != "" && !r.Reused && !r.Abandoned && r.Outcome.Validity != Timeout {
		q.ring[q.n%len(q.ring)] = *r
		q.n++
	}
}

// check has them checked: what was open when the ledger was lost is among them.
func (q *recent) check(now time.Time, s *live) {
	for i := max(0, q.n-len(q.ring)); i < q.n; i++ {
		s.beginCheck(now, &q.ring[i%len(q.ring)])
	}
}

func (s *live) beginCheck(now time.Time, r *Result) {
	c := &check{seq: r.Seq, index: r.Index, first: said{r.Worker, r.Outcome.Clone()}, since: now}
	s.checks[r.Seq] = c
	s.unchecked = append(s.unchecked, c)
	s.dirty = true
}

// settled reports whether a sweep whose trials have all ended may complete: its
// best is confirmed, and every check is made, as far as there is anybody to.
func (l *Ledger) settled(s *live) bool {
	best := s.rec.Best
	if best != nil && best.Outcome.Device != "" {
		best = nil // a time that is measured is never the same twice
	}
	if best != nil && best.Attempts > 0 && !s.rec.Confirmed && s.judged != best.Seq && s.checks[best.Seq] == nil {
		switch {
		case l.another(s, s.rec.BestWorker) || l.anotherIsDue(s, s.rec.BestWorker):
			l.checkBest(s)
		case l.awake < confirmWait && s.othersThan(s.rec.BestWorker): // they have had no time to be heard of again
			return false
		}
	}
	if best != nil && s.rec.Confirmed && !s.rec.Independent && s.appealed != best.Seq && s.checks[best.Seq] == nil && l.elsewhere(s, s.rec.BestWorker) {
		s.appealed = best.Seq
		l.checkBest(s) // who could say so independently has come since
	}
	for _, c := range s.checks {
		wait := confirmWait
		if c.second.worker != "" {
			wait = decideWait
		}
		if c.holder != "" || l.awaits(s, c, wait) {
			return false
		}
	}
	return true
}

// checkBest has the best checked.
func (l *Ledger) checkBest(s *live) {
	r := *s.rec.Best
	r.Worker = s.rec.BestWorker
	s.beginCheck(l.now, &r)
}

// othersThan reports whether a sweep that is restored has outcomes of others.
func (s *live) othersThan(worker string) bool {
	for by := range s.by {
		if s.restored && by != worker {
			return true
		}
	}
	return false
}

// grantCheck grants a check that waits for a worker such as this, or one that
// another takes so long over that one with nothing to do had better.
func (l *Ledger) grantCheck(s *live, w *session, empty bool) (Grant, bool) {
	if len(s.checks) == 0 {
		return Grant{}, false
	}
	at := slices.IndexFunc(s.unchecked[:min(len(s.unchecked), maxLooked)], func(c *check) bool { return l.mayCheck(s, c, w) })
	if at >= 0 {
		c := s.unchecked[at]
		s.unchecked = slices.Delete(s.unchecked, at, at+1)
		return l.giveCheck(s, c, w), true
	}
	if !empty || l.opts.Straggles < 0 {
		return Grant{}, false
	}
	for _, seq := range slices.Sorted(maps.Keys(s.checks)) {
		c := s.checks[seq]
		if !c.probe && c.holder != "" && c.holder != w.name && l.mayCheck(s, c, w) && c.attempts < l.opts.Attempts && l.awake-c.granted > s.straggling(l.opts.Straggles) {
			l.leases.Revoke(s.key(checkSeq(seq)))
			return l.giveCheck(s, c, w), true
		}
	}
	return Grant{}, false
}

// suits reports whether a worker has not said yet what comes out.
func (c *check) suits(w *session) bool {
	return w.worker.ID != c.first.worker && w.worker.ID != c.second.worker
}

// mayCheck reports whether a worker may make a check: one that has said nothing of it,
// of another credential than those that have. For want of one that could, or that takes it
// up, another name must do, unless it is to decide between two credentials.
func (l *Ledger) mayCheck(s *live, c *check, w *session) bool {
	first, second, id := c.first.worker, c.second.worker, w.worker.ID
	switch {
	case !c.suits(w):
		return false
	case first == "": // stored by a version that did not note who said so
		return true
	case independent(id, first) && (second == "" || independent(id, second)):
		return true
	case second != "" && independent(first, second):
		return false
	case s.rec.Best != nil && s.rec.Best.Seq == c.seq || l.now.Sub(c.since) < decideWait:
		return !l.elsewhere(s, first, second)
	}
	return true
}

// awaits reports whether a check waits for somebody who may make it. Who is there has so long,
// from when the check began to wait or he was put back. Who is set aside and due within that
// has as long again to be put back.
func (l *Ledger) awaits(s *live, c *check, wait time.Duration) bool {
	waited := l.now.Sub(c.since)
	if waited >= 3*wait { // who was set aside has had that long, too
		return false
	}
	for _, o := range l.sessions {
		if !l.mayCheck(s, c, o) || !l.present(s, o) {
			continue
		}
		if l.aside(o.worker.ID) {
			if l.due(o, c.since.Add(wait)) && waited < 2*wait {
				return true
			}
		} else if waited < wait || l.now.Sub(o.putBack) < wait {
			return true
		}
	}
	return false
}

func (l *Ledger) giveCheck(s *live, c *check, w *session) Grant {
	e := l.leases.Grant(l.now, lease.Key{Sweep: s.rec.Num, Seq: checkSeq(c.seq)}, w.name)
	c.token, c.holder, c.granted = e.Token, w.name, l.awake
	c.attempts++
	l.changes.Token = e.Token
	return s.checkGrant(c)
}

func (s *live) checkGrant(c *check) Grant {
	return Grant{
		Held:  Held{Key: s.key(checkSeq(c.seq)), Token: c.token},
		Index: c.index, Config: s.plan.Space.At(c.index), Attempt: c.attempts, Level: s.rec.LevelOf(c.seq),
	}
}

// uncheck puts a check back that was not made, or gives it up.
func (l *Ledger) uncheck(s *live, c *check) {
	if c == nil {
		return
	}
	l.leases.Revoke(s.key(checkSeq(c.seq)))
	if c.probe {
		delete(s.checks, c.seq)
		return
	}
	c.holder, c.since = "", l.now
	if c.attempts >= 4*l.opts.Attempts { // workers may be lost or broken whatever they do
		s.endCheck(c)
	} else {
		s.unchecked = append(s.unchecked, c)
	}
	l.ready(s, maxReuse)
}

// endCheck forgets a check that is over; that of the best is not made again.
func (s *live) endCheck(c *check) {
	delete(s.checks, c.seq)
	if s.rec.Best != nil && s.rec.Best.Seq == c.seq {
		s.judged = c.seq
	}
	s.dirty = true
}

// reportCheck takes a report of a check.
func (l *Ledger) reportCheck(s *live, w *session, r *Report, ack func(AckStatus, string, ...any) Ack) Ack {
	c := s.checks[checkSeq(r.Key.Seq)]
	switch {
	case c == nil:
		return ack(AlreadyRecorded, "")
	case r.Token < c.token:
		return ack(StaleToken, "token %d is stale: the check of trial %d was granted to %s under token %d", r.Token, c.seq, workerOf(c.holder), c.token)
	case r.Token > c.token || w.name != c.holder:
		return ack(Refused, "the check of trial %d was not granted to %s under token %d", c.seq, w.name, r.Token)
	case c.probe && !r.Released:
		o := r.Outcome
		if o != nil && o.Check() != nil {
			o = nil
		}
		l.probed(s, c, o, Clip(r.Fault, 512))
		return ack(Recorded, "")
	case r.Outcome == nil || r.Outcome.Check() != nil:
		if r.Fault != "" {
			l.failed(s, r.Key.Seq, w, "worker "+w.worker.ID+": "+Clip(r.Fault, 512))
		}
		l.uncheck(s, c)
		return ack(Recorded, "")
	}
	l.evaluated(w)
	l.leases.Revoke(r.Key)
	c.holder = ""
	l.judge(s, c, said{w.worker.ID, r.Outcome.Clone()})
	return ack(Recorded, "")
}

// judge decides by a further outcome of a trial. Two that say the same are
// believed, and a third that says otherwise is not. They are of two credentials, or
// all three are of one: see mayCheck.
func (l *Ledger) judge(s *live, c *check, o said) {
	best := s.rec.Best != nil && s.rec.Best.Seq == c.seq
	switch {
	case !c.first.outcome.mustEqual(&o.outcome):
		s.rec.Message = fmt.Sprintf("trial %d cannot be checked: %s by %q, %s by %q", c.seq, &c.first, c.first.outcome.Compiler, &o, o.outcome.Compiler)
		s.endCheck(c)
	case c.first.outcome.Same(&o.outcome):
		s.endCheck(c)
		if best {
			s.rec.Confirmed, s.rec.Independent = true, independent(c.first.worker, o.worker)
		}
		if c.second.worker != "" {
			s.rec.Message = ""
			l.distrust(s, c.second.worker, fmt.Sprintf("trial %d: %s, %s and %s another", c.seq, &c.second, &c.first, o.worker))
		}
		l.counts.Agreed++
	case c.second.worker == "":
		c.second, c.since, c.attempts = o, l.now, 0
		s.unchecked = append(s.unchecked, c)
		s.rec.Message = disagreement(c, best)
		if best {
			s.rec.unconfirm()
		}
		s.dirty = true
		l.counts.Disagreed++
	case c.second.outcome.Same(&o.outcome):
		s.endCheck(c)
		l.distrust(s, c.first.worker, fmt.Sprintf("trial %d: %s, %s, and so does worker %s", c.seq, &c.first, &c.second, o.worker))
	default:
		s.endCheck(c)
		s.rec.Message = fmt.Sprintf("trial %d is not reproduced: %s, %s, %s", c.seq, &c.first, &c.second, &o)
	}
}

// disagreement says what two workers say of a trial.
func disagreement(c *check, best bool) string {
	what := "trial %d is not reproduced: %s, %s; a third worker would decide"
	if independent(c.first.worker, c.second.worker) {
		what += ", of a third credential"
	}
	if best {
		what = "the best, " + what
	}
	return fmt.Sprintf(what, c.seq, &c.first, &c.second)
}
