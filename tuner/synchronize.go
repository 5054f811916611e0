package tuner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/lease"
)

// Synchronize takes a worker's state and returns what it should hold. Enter
// must have brought the ledger to the present. A Mismatch means that the worker
// suits no sweep; what it holds is renewed nevertheless. The outcomes reported
// are the ledger's from then on.
func (l *Ledger) Synchronize(in *Sync) (*SyncReply, error) {
	if in.Worker.ID == "" || in.Worker.Slots < 1 {
		return nil, Errorf(Invalid, "synchronize", "a worker needs a name and at least one slot")
	}
	w, err := l.hear(in)
	if err != nil {
		return nil, err
	}
	if l.Distrusts(w.worker.ID) {
		return nil, l.refusal(w.worker.ID)
	}
	out := &SyncReply{Next: l.opts.LeaseTTL / 3, Acks: make([]Ack, 0, len(in.Reports))}
	l.changes.Results = slices.Grow(l.changes.Results, len(in.Reports))
	l.leases.Round()
	for i := range in.Reports {
		r := &in.Reports[i]
		if l.awaited[r.Key.Sweep] {
			out.Unanswered = true
			continue
		}
		out.Acks = append(out.Acks, l.report(w, r))
	}
	for _, h := range in.Held {
		if l.awaited[h.Key.Sweep] {
			continue
		}
		if !l.renew(w, h) {
			out.Drops = append(out.Drops, h)
		}
	}
	l.resend(w, out)
	for _, num := range slices.Clone(l.order) {
		if s := l.live[num]; s != nil {
			l.ready(s, maxReuse)
		}
	}
	if !in.Draining {
		err = l.grant(w, in.Want, out)
	}
	if len(out.Acks) > 0 {
		err = nil // the worker must learn what became of its reports; it will call again
	}
	out.Finished = l.Finished()
	return out, err
}

// hear notes that a worker called. One too many is refused; it may come again
// when others have been forgotten.
func (l *Ledger) hear(in *Sync) (*session, error) {
	name := in.Worker.Session()
	w := l.sessions[name]
	if w == nil {
		if len(l.sessions) >= l.opts.MaxWorkers {
			return nil, Errorf(Limit, "synchronize", "%d worker processes are known, as many as may be: start fewer, with more --slots", l.opts.MaxWorkers)
		}
		w = &session{name: name}
		l.sessions[name] = w
		l.active++
		l.comes(&in.Worker)
	}
	if !w.seen.IsZero() && l.leases.Count(name) > 0 {
		l.losses.live(l.now.Sub(w.seen), l.active)
	}
	l.isBack(w)
	w.worker, w.seen, w.draining, w.unfit = in.Worker, l.now, in.Draining, nil
	for _, num := range slices.Sorted(maps.Keys(in.Unfit)) {
		if l.live[num] != nil && len(w.unfit) < maxUnfit {
			if w.unfit == nil {
				w.unfit = map[uint64]string{}
			}
			w.unfit[num] = "see its log"
			if len(w.unfit) <= maxReasons {
				w.unfit[num] = Clip(in.Unfit[num], 512)
			}
		}
	}
	return w, nil
}

// Bounds on what is kept of the sweeps that a worker is unfit for.
const (
	maxUnfit   = 1024 // sweeps
	maxReasons = 16   // of those, with why
)

// report takes one report.
func (l *Ledger) report(w *session, r *Report) Ack {
	ack := func(status AckStatus, format string, args ...any) Ack {
		a := Ack{Held: r.Held, Status: status}
		if format != "" {
			a.Message = fmt.Sprintf(format, args...)
		}
		return a
	}
	s := l.live[r.Key.Sweep]
	if s == nil {
		switch state := l.ended[r.Key.Sweep]; state {
		case Completed:
			return ack(AlreadyRecorded, "")
		case SweepInvalid:
			return ack(Dropped, "sweep %d is unknown", r.Key.Sweep)
		default:
			return ack(Dropped, "sweep %d is %s", r.Key.Sweep, state)
		}
	}
	if s.void || l.Distrusts(w.worker.ID) {
		return ack(Dropped, "sweep %d starts over: a worker was wrong", r.Key.Sweep)
	}
	if l.Distrusts(r.By) { // it was found before that was known
		r = &Report{Held: r.Held, Released: true}
	}
	if _, checks := TrialOf(r.Key.Seq); checks {
		return l.reportCheck(s, w, r, ack)
	} else if r.Key.Seq < 0 {
		return l.reportSecond(s, w, r, ack)
	}
	if r.Key.Seq >= s.course.next() {
		return ack(Refused, "trial %d was never granted", r.Key.Seq)
	}
	t := s.course.at(r.Key.Seq)
	switch {
	case t == nil || t.ended():
		return ack(AlreadyRecorded, "")
	case r.Token < t.token:
		return ack(StaleToken, "token %d is stale: trial %d was granted to %s under token %d", r.Token, r.Key.Seq, t.worker(), t.token)
	case r.Token > t.token || w.name != t.holder:
		return ack(Refused, "trial %d was not granted to %s under token %d", r.Key.Seq, w.name, r.Token)
	}
	w.reported++
	return l.take(s, t, w, r, ack)
}

// take takes a report of a trial that is the reporter's.
func (l *Ledger) take(s *live, t *trial, w *session, r *Report, ack func(AckStatus, string, ...any) Ack) Ack {
	seq, fault, status := r.Key.Seq, r.Fault, Recorded
	if r.Outcome != nil {
		err := r.Outcome.Check()
		if err == nil {
			if t.state == Leased {
				s.noteTook(l.awake - max(t.granted, w.last))
				w.last = l.awake
			}
			l.conclude(s, t, w, r, seq)
			return ack(Recorded, "")
		}
		fault, status = err.Error(), Refused
	}
	t.returned = true
	switch {
	case r.Released && r.Outcome == nil:
		if t.state == Leased {
			l.requeue(s, seq, "", false)
		}
		return ack(Recorded, "")
	case t.state == Leased:
		if fault == "" {
			fault = "no reason given"
		}
		why := "worker " + w.worker.ID + ": " + Clip(fault, 512)
		l.failed(s, seq, w, why)
		l.requeue(s, seq, why, true)
	}
	if status == Refused {
		return ack(Refused, "%s", fault)
	}
	return ack(Recorded, "")
}

// conclude ends a trial with the outcome reported.
func (l *Ledger) conclude(s *live, t *trial, w *session, r *Report, seq int64) {
	res := Result{Seq: seq, Index: t.index, Attempts: int(t.attempts), Worker: w.worker.ID, Outcome: *r.Outcome}
	if r.By != "" {
		res.Worker, res.Reused = r.By, r.Reused
	}
	if t.doubt != nil { // the workers that were lost with it were lost for other reasons
		l.losses.lost += float64(t.doubt.deaths)
	}
	l.finish(s, &res)
	if !r.Outcome.Found {
		l.evaluated(w)
	}
	if res.Worker == w.worker.ID {
		l.audit(s, &res)
	}
}

// renew renews a lease that a worker says it holds; false if it is not its.
func (l *Ledger) renew(w *session, h Held) bool {
	if l.leases.Renew(l.now, h.Key, h.Token, w.name) == nil {
		return true
	}
	s := l.live[h.Key.Sweep]
	if s == nil {
		return false
	}
	t := s.course.at(h.Key.Seq)
	if t == nil || t.state != Queued || t.token != h.Token || t.holder != w.name || t.token == 0 || t.returned {
		return false
	}
	// The lease expired, but nobody else was given the trial: go on.
	s.move(t, Leased)
	t.goesOn()
	l.leases.Restore(l.now, h.Key, h.Token, w.name)
	l.changes.Leases = append(l.changes.Leases, s.record(h.Key.Seq, t))
	s.dirty = true
	return true
}

// resend grants anew, under the same tokens, what the worker was granted and
// does not say it holds: the reply that granted it was lost. A draining worker
// never began with it, so it goes back.
func (l *Ledger) resend(w *session, out *SyncReply) {
	lost := l.leases.Forgotten(w.name)
	slices.SortFunc(lost, func(a, b lease.Lease) int { return cmp.Compare(a.Token, b.Token) })
	for _, e := range lost {
		s := l.live[e.Sweep]
		if w.draining {
			l.lost(s, e.Seq, "", false)
			continue
		}
		_ = l.leases.Renew(l.now, e.Key, e.Token, w.name)
		out.Grants = append(out.Grants, s.granted(e.Seq))
	}
}

// lost takes a lease back, whatever it was for.
func (l *Ledger) lost(s *live, seq int64, why string, counts bool) {
	trial, checks := TrialOf(seq)
	switch {
	case checks:
		if c := s.checks[trial]; counts && c != nil && c.probe {
			l.probed(s, c, nil, why)
		} else {
			l.uncheck(s, c)
		}
	case seq < 0:
		l.endSecond(s, trial)
	default:
		l.requeue(s, seq, why, counts)
	}
}

// granted returns the grant of a lease, whatever it is for.
func (s *live) granted(seq int64) Grant {
	trial, checks := TrialOf(seq)
	switch {
	case checks:
		return s.checkGrant(s.checks[trial])
	case seq < 0:
		return s.secondGrant(trial)
	}
	return s.grant(seq)
}

func (s *live) grant(seq int64) Grant {
	t := s.course.at(seq)
	return Grant{
		Held: Held{Key: s.key(seq), Token: t.token}, Index: t.index, Config: search.Config{Names: s.plan.Names, Values: s.values(t)}, Attempt: int(t.attempts), Level: s.rec.LevelOf(seq),
	}
}
