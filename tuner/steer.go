package tuner

import (
	"fmt"
	"slices"
	"time"

	"github.com/warptune/warptune/search"
)

// Steer moves a live sweep to another state at its user's wish: Paused,
// Running or Cancelled. Moving it to where it is does nothing.
func (l *Ledger) Steer(num uint64, to SweepState) error {
	s := l.live[num]
	if l.awaited[num] {
		return Errorf(Unavailable, "steer sweep", "it is being read again after a start: try again")
	}
	if s == nil {
		return Errorf(NotFound, "steer sweep", "no live sweep has the number %d", num)
	}
	if s.rec.State == to {
		return nil
	}
	if !s.rec.State.CanBecome(to) {
		return Errorf(Conflict, "steer sweep "+s.rec.ID, "it is %s and cannot become %s", s.rec.State, to)
	}
	if to == Cancelled {
		l.retire(s, Cancelled, "")
		return nil
	}
	s.rec.State = to
	l.put(s)
	s.dirty = true
	l.ready(s, maxReuse)
	return nil
}

// Revive notes that a sweep restored from an ended one runs again.
func (l *Ledger) Revive(num uint64) error {
	s := l.live[num]
	if s == nil {
		return Errorf(NotFound, "revive sweep", "no live sweep has the number %d", num)
	}
	s.rec.State, s.rec.Message, s.rec.Ended = Running, "", time.Time{}
	l.put(s)
	l.ready(s, maxReuse)
	return nil
}

// Fail ends a stored sweep that cannot be restored.
func (l *Ledger) Fail(rec Sweep, why string) {
	rec.State, rec.Message, rec.Ended = Failed, why, l.now.Add(-l.behind)
	l.ended[rec.Num] = Failed
	delete(l.awaited, rec.Num)
	l.changes.Append(&Changes{Revoked: []uint64{rec.Num}, Sweeps: []Sweep{rec}})
	l.noteEnd(&rec)
}

// Delete marks an ended sweep as being deleted.
func (l *Ledger) Delete(rec Sweep) error {
	if !l.ended[rec.Num].CanBecome(Deleting) {
		return Errorf(Conflict, "delete sweep "+rec.ID, "it is %s: cancel it first", rec.State)
	}
	delete(l.ended, rec.Num)
	delete(l.incomplete, rec.Num)
	rec.State = Deleting
	l.changes.Sweeps = append(l.changes.Sweeps, rec)
	return nil
}

// retire ends a live sweep, whatever its trials do.
func (l *Ledger) retire(s *live, state SweepState, why string) {
	num := s.rec.Num
	s.rec.State, s.rec.Message, s.rec.Ended = state, why, l.now.Add(-l.behind)
	for seq := s.course.told; seq < s.course.next(); seq++ {
		if t := s.course.at(seq); t.state == Leased {
			l.leases.Revoke(s.key(seq))
			s.move(t, Queued)
		}
	}
	for seq := range s.checks {
		l.leases.Revoke(s.key(checkSeq(seq)))
	}
	for seq := range s.seconds {
		l.endSecond(s, seq)
	}
	l.changes.Append(&Changes{Revoked: []uint64{num}})
	s.rec.Rate, s.rec.TimeLeft = 0, 0
	l.put(s)
	if s.rec.Best != nil {
		l.noteBest(s)
	}
	delete(l.live, num)
	l.cool(s)
	for i, n := range l.order {
		if n == num {
			l.order = append(l.order[:i:i], l.order[i+1:]...)
		}
	}
	l.ended[num] = state
	l.noteEnd(&s.rec)
	if s.rec.Incomplete() {
		l.incomplete[num] = l.show(s)
	}
}

// noteEnd records the end of a sweep that nobody asked for.
func (l *Ledger) noteEnd(s *Sweep) {
	switch s.State {
	case Completed:
		l.noteSweep(ActComplete, s, fmt.Sprintf("%d of %d evaluated, %d given up", s.Counts.Done, s.Counts.Total, s.Counts.Abandoned))
	case Failed:
		l.noteSweep(ActFail, s, s.Message)
	}
}

// ready sees to it that a running sweep has a queued trial if it can have one,
// answers up to allowance trials from what is stored, and ends the sweep when
// nothing is left. It reports whether the allowance ran out.
func (l *Ledger) ready(s *live, allowance int) (more bool) {
	if s.rec.State != Running || s.void {
		return false
	}
	s.hurry()
	if l.fill(s, allowance, 1) {
		return true
	}
	if s.rec.State == Running && s.course.over && s.open == 0 && l.settled(s) {
		s.believe(true)
		l.retire(s, Completed, s.rec.Message)
	}
	return false
}

// fill asks for trials, and answers up to allowance of them from what is stored,
// until so many are queued or no more can be. It reports whether the allowance ran
// out.
func (l *Ledger) fill(s *live, allowance int, queued int64) bool {
	for s.rec.Counts.Queued < queued {
		if allowance == 0 {
			return true
		}
		ranked := s.rec.Ranked
		seq, ok, err := s.ask()
		l.used(s)
		if s.rec.Ranked != ranked {
			l.put(s) // stored with, or before, what follows from it
		}
		if err != nil {
			l.retire(s, Failed, err.Error())
			return false
		}
		if !ok {
			break
		}
		t := s.course.at(seq)
		if a, found := l.lookup(s, seq, t); found {
			r := &Result{Seq: seq, Index: t.index, Reused: true, Worker: a.Result.Worker, Outcome: a.Result.Outcome}
			if a.Own {
				r.Reused, r.Attempts = a.Result.Reused, a.Result.Attempts
			}
			l.finish(s, r)
			allowance--
			continue
		}
		s.push(seq)
	}
	return false
}

// lookup finds a stored outcome for a trial.
func (l *Ledger) lookup(s *live, seq int64, t *trial) (Answer, bool) {
	if s.known == nil || !s.known.Any() {
		return Answer{}, false
	}
	return s.known.Find(s.answerKey(seq, t))
}

// answerKey is the key under which other sweeps find the outcome of a trial.
func (s *live) answerKey(seq int64, t *trial) []byte {
	scope := &s.scopes[len(s.scopes)-1]
	if !s.rec.Decides(seq) {
		scope = &s.scopes[0]
	}
	return scope.key(s.values(t))
}

// values returns the configuration of a trial, and keeps it until it ends.
func (s *live) values(t *trial) []search.Value {
	if t.values == nil {
		t.values = s.plan.Space.At(t.index).Values
	}
	return t.values
}

// finish records the end of a trial that has not ended.
func (l *Ledger) finish(s *live, r *Result) {
	t := s.course.at(r.Seq)
	l.leases.Revoke(s.key(r.Seq))
	l.endSecond(s, r.Seq)
	best := s.end(t, r)
	change := ResultChange{Sweep: s.rec.Num, Result: *r}
	byKey := r.Reused && r.Attempts == 0 // it is stored under the key already
	if !byKey && !r.Abandoned && r.Outcome.Validity != Timeout {
		change.Answer = s.answerKey(r.Seq, t)
	}
	l.changes.Results = append(l.changes.Results, change)
	if s.rec.Spec.TimeBudget > 0 && s.rec.Spent-s.stored >= time.Second {
		s.stored = s.rec.Spent
		l.put(s)
	}
	if best {
		s.rec.BestWorker = r.Worker
		s.rec.unconfirm()
		s.rec.BestValues = slices.Clone(s.values(t))
		l.put(s) // who evaluated it must be known after a restart too
		l.noteBest(s)
	}
	t.values = nil
	s.course.letGo()
	s.dirty = true
}

// noteBest has the best so far stored as one that answers.
func (l *Ledger) noteBest(s *live) {
	if s.rec.Spec.Strategy != StrategyListed {
		l.changes.Bests = append(l.changes.Bests, s.best())
	}
}

// best returns the best so far as it is stored.
func (s *live) best() Best {
	return Best{
		Sweep: s.rec.Num, ID: s.rec.ID, Spec: s.rec.Spec, Result: s.rec.Best.Clone(), Names: s.rec.Names, Values: s.rec.BestValues,
		Confirmed: s.rec.Confirmed, Independent: s.rec.Independent,
	}
}

// requeue puts a leased trial back into the queue, or gives it up. An attempt that does not count is as if never made.
func (l *Ledger) requeue(s *live, seq int64, why string, counts bool) {
	t := s.course.at(seq)
	l.leases.Revoke(s.key(seq))
	s.dirty = true
	if counts {
		s.rec.Counts.Requeued++
		t.reason = why
	} else {
		t.attempts--
	}
	s.move(t, Queued)
	if l.giveUp(s, seq, t) {
		return
	}
	s.push(seq)
	l.changes.Leases = append(l.changes.Leases, s.record(seq, t))
}

// giveUp gives a queued trial up if enough speaks against its configuration.
func (l *Ledger) giveUp(s *live, seq int64, t *trial) bool {
	// An attempt that was given back, and is not counted, may have gone on and failed.
	t.attempts = max(t.attempts, int32(t.doubt.strikes()))
	if t.doubt.strikes() < l.opts.Attempts {
		return false
	}
	s.noteFailed(t.doubt)
	l.put(s)
	l.finish(s, &Result{Seq: seq, Index: t.index, Attempts: int(t.attempts), Abandoned: true, Outcome: Outcome{Message: t.verdict()}})
	l.ready(s, maxReuse)
	return true
}

// record returns the trial's lease as it is stored.
func (s *live) record(seq int64, t *trial) LeaseRecord {
	r := LeaseRecord{
		Sweep: s.rec.Num, Seq: seq, Index: t.index, Token: t.token, Attempt: int(t.attempts),
		Holder: t.holder, Held: t.state == Leased, Reason: t.reason,
	}
	if d := t.doubt; d != nil {
		r.Losses, r.Deaths, r.Weight, r.Faults, r.By = d.losses, d.deaths, d.weight, d.faults, d.by
	}
	return r
}
