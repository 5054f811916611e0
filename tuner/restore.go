package tuner

import (
	"iter"
	"slices"
)

// Restored is a stored sweep to go on with.
type Restored struct {
	Sweep   Sweep
	Plan    Plan
	Known   Known                    // nil: there is none
	Results iter.Seq2[Result, error] // in the order of Seq
	Leases  []LeaseRecord
	Draws   func(sweep uint64, seq int64) bool // LedgerOptions.Draws; nil: nothing is drawn
}

// Rebuilt is a sweep with its trials as they were stored.
type Rebuilt struct {
	live   *live
	leases []LeaseRecord
	late   recent
}

// Rebuild has a stored sweep's strategy ask again what it asked, and tells it
// what came of that. It may take long, where the strategy learns: milliseconds a
// result. No ledger is needed for it.
func Rebuild(r Restored) (*Rebuilt, error) {
	s := newLive(r.Sweep, r.Plan, r.Known)
	s.restored = true
	rebuilt := &Rebuilt{live: s, leases: r.Leases}
	for res, err := range r.Results {
		if err != nil {
			return nil, err
		}
		t, err := s.reach(res.Seq, res.Index)
		if err != nil {
			return nil, err
		}
		t.attempts = int32(res.Attempts)
		s.end(t, &res)
		s.course.letGo()
		if r.Draws != nil && r.Draws(s.rec.Num, res.Seq) {
			rebuilt.late.add(&res)
		}
	}
	for _, rec := range r.Leases {
		t, err := s.reach(rec.Seq, rec.Index)
		if err != nil {
			return nil, err
		}
		if t.ended() {
			return nil, Errorf(Damaged, "restore sweep "+s.rec.ID, "trial %d has both a result and a lease", rec.Seq)
		}
		t.attempts, t.token, t.holder, t.reason = int32(rec.Attempt), rec.Token, rec.Holder, rec.Reason
		if rec.Losses+rec.Deaths+rec.Faults > 0 || rec.By != "" {
			t.doubt = &doubt{restored: true, losses: rec.Losses, deaths: rec.Deaths, weight: rec.Weight, faults: rec.Faults, by: rec.By}
		}
	}
	if best := s.rec.Best; best != nil {
		s.rec.BestValues = slices.Clone(s.plan.Space.At(best.Index).Values)
		if stored := r.Sweep.Best; stored == nil || stored.Seq != best.Seq {
			s.rec.BestWorker = best.Worker
			s.rec.unconfirm()
		}
	}
	s.believe(false)
	return rebuilt, nil
}

// begunOtherwise says what to do about a sweep that does not ask what it asked.
const begunOtherwise = "the strategy or the space is another than in the program that began the sweep. Go on with that program; or submit it again with another --seed, which stored outcomes of the same engine answer as far as they can, and delete this one"

// reach asks on until trial seq exists and checks that it is what it was.
func (s *live) reach(seq, index int64) (*trial, error) {
	op := "restore sweep " + s.rec.ID
	for s.course.next() <= seq {
		if _, ok, err := s.ask(); err != nil {
			return nil, err
		} else if !ok {
			return nil, Errorf(Damaged, op, "trial %d is stored, but the strategy asks only %d questions given the results stored: %s", seq, s.course.next(), begunOtherwise)
		}
	}
	t := s.course.at(seq)
	if t == nil {
		return nil, Errorf(Damaged, op, "trial %d is stored out of order", seq)
	}
	if t.index != index {
		return nil, Errorf(Damaged, op, "trial %d was configuration %d and is now %d: %s", seq, index, t.index, begunOtherwise)
	}
	return t, nil
}

// Await tells the ledger of a sweep that is stored as Running or Paused and
// will be inserted, or fail. What workers say of it meanwhile is not answered,
// so that they say it again.
func (l *Ledger) Await(num uint64) { l.awaited[num] = true }

// Awaited reports whether a sweep is still to be inserted.
func (l *Ledger) Awaited(num uint64) bool { return l.awaited[num] }

// Insert puts back a sweep that is stored as Running or Paused. Its leases last
// their full time from now.
func (l *Ledger) Insert(r *Rebuilt) {
	s := r.live
	for _, rec := range r.leases {
		if rec.Held {
			t := s.course.at(rec.Seq)
			s.move(t, Leased)
			t.granted = l.awake
			l.leases.Restore(l.now, s.key(rec.Seq), rec.Token, rec.Holder)
		}
	}
	for seq := s.course.told; seq < s.course.next(); seq++ {
		if s.course.at(seq).state == Queued {
			s.push(seq)
		}
	}
	suspects := s.suspects(l.opts.Attempts)
	r.late.check(l.now, s)
	for worker := range s.by {
		if l.Distrusts(worker) { // found out while the sweep was rebuilt
			l.disown(s, Distrust{worker, l.wronged(worker)})
		}
	}
	l.insert(s)
	l.used(s)
	s.dirty = true
	for _, seq := range suspects {
		l.giveUp(s, seq, s.course.at(seq))
	}
}

// suspects are the queued trials that so much speaks against that they are to be
// given up: their workers ended with the coordinator.
func (s *live) suspects(strikes int) []int64 {
	var all []int64
	for seq := s.course.told; seq < s.course.next(); seq++ {
		if t := s.course.at(seq); t.state == Queued && t.doubt.strikes() >= strikes {
			all = append(all, seq)
		}
	}
	return all
}

// Restore rebuilds a sweep and inserts it. An error leaves the ledger as it was.
func (l *Ledger) Restore(r Restored) error {
	if r.Draws == nil {
		r.Draws = l.opts.Draws
	}
	rebuilt, err := Rebuild(r)
	if err == nil {
		l.Insert(rebuilt)
	}
	return err
}
