package tuner

import (
	"fmt"
	"time"

	"github.com/warptune/warptune/tuner/lease"
)

// confirmWait is how long a sweep whose trials have ended waits for a second
// worker to take up the confirmation of its best.
const confirmWait = 5 * time.Second

// confirmation is the second evaluation of a sweep's best trial, by another
// worker than the first. It is leased under a number of its own, -1-seq, and
// is not stored: after a restart it is made anew.
type confirmation struct {
	seq      int64
	since    time.Time // when it began to wait
	attempts int
	token    uint64
	holder   string        // session; "" while it waits
	granted  time.Duration // when, by the ledger's awake time
	over     bool
}

// confirmSeq returns the number that stands for confirming trial seq, and the
// other way round.
func confirmSeq(seq int64) int64 { return -1 - seq }

// settled reports whether a sweep whose trials have all ended may complete. If
// there is a second worker, its best is evaluated once more first.
func (l *Ledger) settled(s *live) bool {
	best, c := s.rec.Best, s.confirm
	switch {
	case c == nil:
		if best == nil || best.Reused || s.rec.Confirmed || !l.another(s, s.rec.BestWorker) {
			return true
		}
		s.confirm = &confirmation{seq: best.Seq, since: l.now}
		s.dirty = true
		return false
	case c.over:
		return true
	}
	return c.holder == "" && l.now.Sub(c.since) >= confirmWait
}

// grantConfirmation grants the confirmation of the sweep's best, if it waits
// for a worker such as this, or if the one that has it takes so long over it
// that one with nothing to do had better.
func (l *Ledger) grantConfirmation(s *live, w *session, empty bool) (Grant, bool) {
	c := s.confirm
	if c == nil || c.over || w.worker.ID == s.rec.BestWorker {
		return Grant{}, false
	}
	if c.holder != "" {
		slow := l.opts.Straggles >= 0 && c.attempts < l.opts.Attempts && l.awake-c.granted > s.straggling(l.opts.Straggles)
		if !slow || !empty || w.name == c.holder {
			return Grant{}, false
		}
		l.leases.Revoke(s.key(confirmSeq(c.seq)))
	}
	e := l.leases.Grant(l.now, lease.Key{Sweep: s.rec.Num, Seq: confirmSeq(c.seq)}, w.name)
	c.token, c.holder, c.granted = e.Token, w.name, l.awake
	c.attempts++
	l.changes.Token = e.Token
	return s.confirmGrant(), true
}

func (s *live) confirmGrant() Grant {
	c := s.confirm
	return Grant{
		Held:  Held{Key: s.key(confirmSeq(c.seq)), Token: c.token},
		Index: s.rec.Best.Index, Config: s.plan.Space.At(s.rec.Best.Index), Attempt: c.attempts, Level: s.rec.Spec.LastLevel(),
	}
}

// unconfirm puts a confirmation back that was not made, or gives it up.
func (l *Ledger) unconfirm(s *live) {
	c := s.confirm
	l.leases.Revoke(s.key(confirmSeq(c.seq)))
	c.holder, c.since = "", l.now
	c.over = c.attempts >= l.opts.Attempts
	l.ready(s, maxReuse)
}

// reportConfirmation takes a report of a confirmation.
func (l *Ledger) reportConfirmation(s *live, w *session, r *Report, ack func(AckStatus, string, ...any) Ack) Ack {
	c := s.confirm
	switch {
	case c == nil || c.over || confirmSeq(c.seq) != r.Key.Seq:
		return ack(AlreadyRecorded, "")
	case r.Token < c.token:
		return ack(StaleToken, "token %d is stale: the confirmation of trial %d was granted to %s under token %d", r.Token, c.seq, c.holder, c.token)
	case r.Token > c.token || w.name != c.holder:
		return ack(Refused, "the confirmation of trial %d was not granted to %s under token %d", c.seq, w.name, r.Token)
	case r.Outcome == nil || r.Outcome.Check() != nil:
		l.unconfirm(s)
		return ack(Recorded, "")
	}
	first := &s.rec.Best.Outcome
	if r.Outcome.Validity == first.Validity && r.Outcome.TimeUS == first.TimeUS {
		s.rec.Confirmed = true
	} else {
		s.rec.Message = fmt.Sprintf("the best, trial %d, is not reproduced: worker %s says %s %g µs, worker %s %s %g µs",
			c.seq, s.rec.BestWorker, first.Validity, first.TimeUS, w.worker.ID, r.Outcome.Validity, r.Outcome.TimeUS)
	}
	c.over = true
	l.leases.Revoke(r.Key)
	s.dirty = true
	return ack(Recorded, "")
}
