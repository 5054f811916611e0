package tuner

import (
	"errors"
	"slices"

	"github.com/warptune/warptune/tuner/lease"
)

// maxLearning is how many trials of strategies that learn are granted in one
// call. Each takes a question, which may cost milliseconds, and all others wait
// meanwhile; who wants more calls again.
const maxLearning = 64

// grant grants trials until the worker holds want, in turn from each sweep
// that it suits.
func (l *Ledger) grant(w *session, want int, out *SyncReply) error {
	suited, err := l.suited(w)
	if err != nil || len(suited) == 0 {
		return err
	}
	held := l.leases.Count(w.name)
	n := min(want, l.opts.MaxGrant) - held
	if n <= 0 || l.alone(w, held) || l.limited(w, held, out) {
		return nil
	}
	if l.aside(w.worker.ID) {
		n = 1
	}
	if n = min(n, l.share(suited, w)-held); n <= 0 {
		return nil
	}
	out.Grants = slices.Grow(out.Grants, n)
	l.changes.Leases = slices.Grow(l.changes.Leases, n)
	for idle, learning := 0, 0; n > 0 && idle < len(suited) && learning < maxLearning; {
		l.turn++
		s := suited[l.turn%len(suited)]
		g, last, ok := l.next(s, w, held+len(out.Grants) == 0)
		if !ok {
			idle++
			continue
		}
		idle = 0
		out.Grants = append(out.Grants, g)
		if s.rec.Window == 0 {
			learning++
		}
		if n--; last {
			break
		}
	}
	return nil
}

// suited returns the running sweeps that the worker can evaluate for; an error
// when there is none because of what the worker has.
func (l *Ledger) suited(w *session) ([]*live, error) {
	var suited []*live
	var mismatch error
	for _, num := range l.order {
		s := l.live[num]
		if s.rec.State != Running || s.void {
			continue
		}
		ok, err := w.worker.suits(&s.rec.Spec)
		if why, unfit := w.unfit[num]; ok && unfit {
			ok, err = false, Errorf(Mismatch, "match worker", "worker %s cannot evaluate for the sweep of %s: %s", w.worker.ID, s.rec.Spec.Kernel, why)
		}
		if ok {
			suited = append(suited, s)
		} else if err != nil {
			mismatch = errors.Join(mismatch, err)
		}
	}
	w.refused = ""
	if mismatch != nil {
		w.refused = mismatch.Error()
		if len(suited) == 0 && l.leases.Count(w.name) == 0 {
			return nil, &Error{Kind: Mismatch, Err: mismatch}
		}
	}
	return suited, nil
}

// share bounds what one worker may hold. So near the end of the sweeps, or where questions wait for answers, no
// other waits while it works through a long batch, and many workers do not hold too much together.
func (l *Ledger) share(suited []*live, w *session) int {
	var left, open int64 // trials to come; of those, the ones that wait for no others
	for _, s := range suited {
		n := s.rec.Counts.Total - s.rec.Counts.Asked + s.rec.Counts.Queued
		left += n
		open += min(n, s.course.ahead(s.course.next()))
	}
	active := max(l.active, 1)
	fair := min(left/(2*int64(active))+1, open/int64(active)+1, int64(l.opts.MaxGrant), int64(l.opts.MaxHeld/active))
	return max(w.worker.Slots, int(fair))
}

// alone reports whether the one trial that the worker holds must have no
// company, so that it is known what ends the worker's process.
func (l *Ledger) alone(w *session, held int) bool {
	alone := false
	if held == 1 {
		l.leases.Held(w.name, func(e lease.Lease) bool {
			t := l.live[e.Sweep].course.at(e.Seq)
			alone = t != nil && t.doubt.alone()
			return false
		})
	}
	return alone
}

// next grants the next trial of a sweep. empty says that the worker holds
// nothing else; last, that it must be given nothing else.
func (l *Ledger) next(s *live, w *session, empty bool) (g Grant, last, ok bool) {
	if g, ok := l.grantCheck(s, w, empty); ok {
		return g, false, true
	}
	unsuspected := func(seq int64, t *trial) bool {
		return t.doubt == nil || !t.doubt.alone() && !l.triedBy(w, s, seq, t) && !l.better(s, t.doubt, w)
	}
	seq := s.pop(unsuspected)
	if seq < 0 && s.rec.Counts.Queued > 0 { // there may be more to ask
		l.fill(s, maxReuse, s.rec.Counts.Queued+1)
		if s.rec.State != Running {
			return g, false, false
		}
		seq = s.pop(unsuspected)
	}
	if seq < 0 && empty && s.rec.Counts.Queued > 0 {
		if g, ok := l.grantProbe(w); ok {
			return g, true, true
		}
		proven := w.evaluated > 0 || !s.probed()
		seq = s.pop(func(_ int64, t *trial) bool {
			return t.doubt == nil || (proven || !t.doubt.alone()) && !l.better(s, t.doubt, w)
		})
		if r := s.probe(); seq < 0 && !proven && r != nil {
			return l.giveProbe(s, r, w), true, true
		}
	}
	if seq < 0 {
		if empty {
			g, ok = l.grantSecond(s, w)
		}
		return g, false, ok
	}
	t := s.course.at(seq)
	e := l.leases.Grant(l.now, s.key(seq), w.name)
	if t.attempts++; t.doubt != nil {
		t.doubt.restored = false
	}
	t.returned = false
	t.token, t.granted, t.holder = e.Token, l.awake, w.name
	s.move(t, Leased)
	l.changes.Leases = append(l.changes.Leases, s.record(seq, t))
	s.dirty = true
	l.ready(s, maxReuse)
	return s.grant(seq), t.doubt.alone(), true
}

// another reports whether a worker of another name than any of ids could take
// the sweep's trials.
func (l *Ledger) another(s *live, ids ...string) bool {
	for _, o := range l.sessions {
		if !slices.Contains(ids, o.worker.ID) && l.able(s, o) {
			return true
		}
	}
	return false
}
