package tuner

import (
	"maps"
	"slices"
	"time"
)

// When nothing is left to grant, a trial that has been leased for much longer
// than trials take is granted once more, to an idle worker of another name;
// the first outcome counts. The second grant is leased under a number of its
// own and is not stored: after a restart it is made anew if it is still needed.

// stragglerFactor is how many times as long as trials take a straggler has been
// leased at least.
const stragglerFactor = 4

// secondBase sets the numbers of second grants apart from those of
// checks; trials are below 2^48.
const secondBase = 1 << 60

// secondSeq returns the number under which trial seq is granted once more.
func secondSeq(seq int64) int64 { return -secondBase - seq }

// TrialOf returns the trial that a lease's number stands for, and whether the
// lease is to check what is known of it.
func TrialOf(seq int64) (trial int64, checks bool) {
	switch {
	case seq >= 0:
		return seq, false
	case seq <= -secondBase:
		return -secondBase - seq, false
	}
	return checkSeq(seq), true
}

// Nor may a lease be renewed for ever: one that is held for longer than overdue is
// taken back, as a fault of its worker.

// Bounds on how long a lease may be held without an outcome: so long, or so many
// times as long as trials take.
const (
	overdueLeast  = 15 * time.Minute
	overdueFactor = 100
)

// maxSeconds is how many times a trial may have been granted that is granted once
// more to an idle worker.
const maxSeconds = 3

// second is the second grant of a trial.
type second struct {
	token   uint64
	holder  string
	granted time.Duration // when, by the ledger's awake time
}

// grantSecond grants a straggler once more to a worker that has nothing to do.
// Few attempts are stragglers, so that a configuration that ends its workers ends no more of them for it.
func (l *Ledger) grantSecond(s *live, w *session) (Grant, bool) {
	if l.opts.Straggles < 0 || s.rec.Counts.Queued > 0 {
		return Grant{}, false
	}
	s.findStragglers(l.awake, l.opts.Straggles)
	for i, seq := range s.stragglers {
		t := s.course.at(seq)
		if t == nil || t.state != Leased || t.attempts > maxSeconds || t.doubt.alone() || s.seconds[seq] != nil || t.worker() == w.worker.ID {
			continue
		}
		s.stragglers = append(s.stragglers[:i:i], s.stragglers[i+1:]...)
		e := l.leases.Grant(l.now, s.key(secondSeq(seq)), w.name)
		t.attempts++
		s.seconds[seq] = &second{token: e.Token, holder: w.name, granted: l.awake}
		l.changes.Leases = append(l.changes.Leases, s.record(seq, t)) // the attempt
		return s.secondGrant(seq), true
	}
	return Grant{}, false
}

// findStragglers looks for stragglers, at most once a second.
func (s *live) findStragglers(now, least time.Duration) {
	if now-s.searched < time.Second {
		return
	}
	s.searched, s.stragglers = now, nil
	since := now - s.straggling(least)
	for seq := s.course.told; seq < s.course.next(); seq++ {
		if t := s.course.at(seq); t.state == Leased && t.attempts <= maxSeconds && s.seconds[seq] == nil && t.granted < since {
			s.stragglers = append(s.stragglers, seq)
		}
	}
}

// takeBack takes back what is overdue.
func (l *Ledger) takeBack(s *live) {
	if s.rec.Counts.Leased+int64(len(s.checks)) == 0 || l.awake-s.looked < overdueLeast/30 {
		return
	}
	s.looked = l.awake
	limit := max(overdueLeast, overdueFactor*s.took)
	late := func(holder string, seq int64) {
		if w := l.sessions[holder]; w != nil {
			l.failed(s, seq, w, "worker "+w.worker.ID+" has held a trial for longer than "+limit.String())
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(s.seconds)) {
		if c := s.seconds[seq]; l.awake-c.granted > limit {
			late(c.holder, seq)
			l.endSecond(s, seq)
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(s.checks)) {
		if c := s.checks[seq]; l.live[s.rec.Num] == s && c != nil && c.holder != "" && l.awake-c.granted > limit {
			late(c.holder, checkSeq(seq))
			l.lost(s, checkSeq(seq), "worker "+workerOf(c.holder)+" has held a probe for longer than "+limit.String(), c.probe)
		}
	}
	for seq := s.course.told; seq < s.course.next() && l.live[s.rec.Num] == s; seq++ {
		if t := s.course.at(seq); t != nil && t.state == Leased && l.awake-t.granted > limit {
			late(t.holder, seq)
			t.returned = true
			l.requeue(s, seq, "worker "+t.worker()+" has held it for longer than "+limit.String(), true)
		}
	}
}

// straggling is how long a straggler has been leased at least.
func (s *live) straggling(least time.Duration) time.Duration {
	return max(least, stragglerFactor*s.took)
}

func (s *live) secondGrant(seq int64) Grant {
	g := s.grant(seq)
	g.Held = Held{Key: s.key(secondSeq(seq)), Token: s.seconds[seq].token}
	return g
}

// endSecond ends the second grant of a trial, if there is one.
func (l *Ledger) endSecond(s *live, seq int64) {
	if s.seconds[seq] != nil {
		l.leases.Revoke(s.key(secondSeq(seq)))
		delete(s.seconds, seq)
	}
}

// reportSecond takes a report of a second grant.
func (l *Ledger) reportSecond(s *live, w *session, r *Report, ack func(AckStatus, string, ...any) Ack) Ack {
	seq, _ := TrialOf(r.Key.Seq)
	if seq >= s.course.next() {
		return ack(Refused, "trial %d was never granted", seq)
	}
	t, c := s.course.at(seq), s.seconds[seq]
	switch {
	case t == nil || t.ended():
		return ack(AlreadyRecorded, "")
	case c == nil || r.Token < c.token:
		return ack(StaleToken, "token %d is stale: the second grant of trial %d has ended", r.Token, seq)
	case r.Token > c.token || w.name != c.holder:
		return ack(Refused, "trial %d was not granted once more to %s under token %d", seq, w.name, r.Token)
	}
	if r.Outcome == nil || r.Outcome.Check() != nil {
		l.endSecond(s, seq) // whoever was granted it first goes on
		return ack(Recorded, "")
	}
	w.reported++
	t.holder = c.holder
	l.conclude(s, t, w, r, seq)
	return ack(Recorded, "")
}

// noteTook notes how long a trial took its worker: since it was granted or, if
// it waited for others that the worker holds, since the last of those.
func (s *live) noteTook(d time.Duration) {
	if s.took == 0 {
		s.took = d
	}
	s.took += (d - s.took) / 16
}
