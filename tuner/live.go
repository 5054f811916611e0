package tuner

import (
	"slices"
	"time"

	"github.com/warptune/warptune/tuner/lease"
)

// live is a sweep that runs or is paused: its record, and its trials that have
// not ended.
type live struct {
	rec    Sweep
	plan   Plan
	course course
	scopes []answerScope // of the levels
	known  Known         // nil: nothing is
	dirty  bool          // its state is to be shown anew

	queue seqHeap // trials that may be Queued, by number; others are skipped
	open  int64   // trials asked that have not ended

	checks    map[int64]*check // by trial
	probes    [2]Result        // of the last to have been evaluated: see standing
	unchecked []*check         // those that wait, in order
	judged    int64            // the best whose check is over; -1: none
	appealed  int64            // the best that was checked once more, by another credential; -1: none
	by        map[string]int64 // outcomes by worker
	void      bool             // it is to start over: see Again
	restored  bool             // it was under way before the ledger was made

	seconds    map[int64]*second // second grants, by trial
	took       time.Duration     // from grant to report, lately
	stragglers []int64           // trials that may be granted once more
	searched   time.Duration     // Ledger.awake when they were looked for
	looked     time.Duration     // Ledger.awake when what is overdue was

	credentials  map[string]bool // see Ledger.credentials
	credentialed time.Time       // Ledger.swept when they were looked for

	believed int64 // course.told when rec.Left was brought up to date

	stored time.Duration // Sweep.Spent as it was last noted for storing
	pace   pace
}

func newLive(rec Sweep, plan Plan, known Known) *live {
	s := &live{seconds: map[int64]*second{}, checks: map[int64]*check{}, judged: -1, appealed: -1, by: map[string]int64{}, rec: rec, plan: plan, known: known}
	for _, scope := range rec.Spec.Scopes() {
		s.scopes = append(s.scopes, newAnswerScope(scope))
	}
	s.course = newCourse(&plan, &rec.Spec, rec.Window)
	if rec.Ranked > 0 { // whatever ended it then
		s.course.limit = rec.Ranked
	}
	s.rec.Counts = Counts{Space: s.course.size, Total: s.course.total(), Requeued: rec.Counts.Requeued}
	s.rec.Best, s.rec.Examples, s.rec.Left = nil, nil, nil
	return s
}

func (s *live) key(seq int64) lease.Key { return lease.Key{Sweep: s.rec.Num, Seq: seq} }

// ask asks the strategy one question and counts the trial.
func (s *live) ask() (seq int64, ok bool, err error) {
	ranks := s.course.ranks
	seq, ok, err = s.course.ask()
	if ranks && !s.course.ranks {
		s.rec.Ranked = s.course.ranked
	}
	s.rec.Counts.Total = s.course.total()
	if ok {
		s.open++
		s.rec.Counts.Asked++
		s.rec.Counts.Queued++
	}
	return seq, ok, err
}

// move brings a trial to another state and keeps the counts.
func (s *live) move(t *trial, to TrialState) {
	*s.rec.Counts.of(t.state)--
	*s.rec.Counts.of(to)++
	if t.state = to; t.ended() {
		s.open--
	}
}

// of returns the count of trials in a state.
func (c *Counts) of(state TrialState) *int64 {
	switch state {
	case Queued:
		return &c.Queued
	case Leased:
		return &c.Leased
	case Done:
		return &c.Done
	default:
		return &c.Abandoned
	}
}

// end records the end of a trial in the counts, the best and the examples, and
// reports whether it is the best so far.
func (s *live) end(t *trial, r *Result) (best bool) {
	kind := r.Outcome.Validity.String()
	if r.Abandoned {
		s.move(t, Abandoned)
		kind = Abandoned.String()
	} else {
		s.move(t, Done)
		s.rec.Counts.ByValidity[r.Outcome.Validity]++
		if r.Reused {
			s.rec.Counts.Reused++
		}
	}
	if !r.Abandoned && r.Outcome.Validity != Timeout {
		s.probes[0], s.probes[1] = s.probes[1], *r
	}
	t.time, t.floor, t.valid = r.Outcome.TimeUS, r.Outcome.FloorUS, r.Outcome.Validity == Correct
	if r.Worker != "" {
		s.by[r.Worker]++
	}
	if r.Outcome.Validity != Correct {
		s.example(kind, r)
	}
	if !s.rec.Decides(r.Seq) {
		return false
	}
	if p := s.course.proof; p != nil && !r.Abandoned {
		p.Answer(r.Index)
	}
	if r.Outcome.Validity != Correct {
		return false
	}
	if s.rec.Best != nil && !r.Less(s.rec.Best) {
		return false
	}
	c := r.Clone()
	s.rec.Best = &c
	if p := s.course.proof; p != nil {
		p.Best(c.Outcome.TimeUS)
	}
	return true
}

// proof is what is known of how far the best is from the fastest.
func (s *live) proof() Proof {
	n := &s.rec.Counts
	p := s.course.proof
	if p == nil {
		out := Proof{Of: n.Done, Evaluated: n.Done, Gap: -1}
		if s.course.ranks {
			out.Evaluated, out.Open = n.Done-n.ByValidity[Correct], n.ByValidity[Correct]
		} else if s.rec.Best != nil && n.Done == n.Space {
			out.Gap = 0
		}
		return out
	}
	st := p.Standing()
	failed := s.rec.Ranked - int64(st.Evaluated+st.Pruned+st.Open)
	return Proof{Of: s.rec.Ranked, Evaluated: int64(st.Evaluated) + failed, Pruned: int64(st.Pruned), Open: int64(st.Open), Gap: st.Gap}
}

// example keeps, of each kind of failure, the one with the smallest number, so
// that what is shown in the end does not depend on the order of arrival.
func (s *live) example(kind string, r *Result) {
	at := slices.IndexFunc(s.rec.Examples, func(e Example) bool { return e.Kind == kind })
	if at >= 0 && s.rec.Examples[at].Seq <= r.Seq {
		return
	}
	e := Example{Kind: kind, Seq: r.Seq, Message: r.Outcome.Message}
	if space := s.plan.Space; r.Index >= 0 && r.Index < space.Size() {
		e.Config = Clip(space.At(r.Index).String(), MaxMessage)
	}
	if at < 0 {
		s.rec.Examples = append(s.rec.Examples, e)
	} else {
		s.rec.Examples[at] = e
	}
}

// pop takes the first queued trial that take accepts, -1 if there is none.
func (s *live) pop(take func(int64, *trial) bool) int64 {
	var skipped []int64
	found := int64(-1)
	for found < 0 && len(s.queue) > 0 {
		seq := s.queue.pop()
		switch t := s.course.at(seq); {
		case t == nil || t.state != Queued:
		case take(seq, t):
			found = seq
		default:
			skipped = append(skipped, seq)
		}
	}
	for _, seq := range skipped {
		s.queue.push(seq)
	}
	return found
}

// push puts a queued trial up for granting.
func (s *live) push(seq int64) { s.queue.push(seq) }

// spend counts time towards the budget while trials are under way.
func (s *live) spend(d time.Duration) {
	if s.rec.State == Running && s.rec.Counts.Leased > 0 {
		s.rec.Spent += d
	}
}

// hurry ends what the time budget has no more room for: ranking when half of it
// is spent, everything when all of it is and at least one trial was asked for
// that decides.
func (s *live) hurry() {
	budget, c := s.rec.Spec.TimeBudget, &s.course
	if budget == 0 || s.rec.Spent < budget/2 {
		return
	}
	c.cut = true
	if last := c.next() - 1; s.rec.Spent >= budget && last >= 0 && s.rec.Decides(last) {
		c.over = true
		s.rec.Counts.Total = c.total()
	}
}

// sample brings the rate and the time left up to date. Results that were stored earlier take no time and count as none.
func (s *live) sample(now time.Time) {
	c := &s.rec.Counts
	s.pace.note(now, c.Done-c.Reused)
	s.rec.Rate, s.rec.TimeLeft = s.pace.rate(), s.pace.left(c.Total-c.Done-c.Abandoned)
}

// believe brings rec.Left up to date. It costs some questions, so while the sweep
// runs it waits until an eighth more is told; finally tells the rest first. It
// reports whether it did.
func (s *live) believe(finally bool) bool {
	c := &s.course
	if finally {
		c.needed = c.next()
		c.tell()
	} else if c.told < s.believed+1+s.believed/8 {
		return false
	}
	s.believed, s.rec.Left = c.told, c.estimate()
	return true
}
