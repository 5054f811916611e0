package tuner

import "slices"

// What was given up can be tried again: its sweep starts over under a new number and the same identity, as one does
// in which a worker was wrong. Everything else is answered from what is stored, and the table in the end is that of
// a sweep in which nothing was given up. A user may ask for it. When a worker comes that is not among those that
// failed, nor its host, it is done without, up to mostRetries times. It is not done if what was given up has surely
// ended workers: those that were lost with it have weighed so much on average. In 400 sweeps of one configuration, of
// which nothing tells whether the workers are to blame, they weighed 8 to 22; in 400 of sixty of which one ended
// workers, 30 to 55 (TestUnsureVerdictsAreTriedAgain).

const (
	mostRetries = 3
	surely      = 26
)

// Incomplete reports whether a sweep has completed without configurations that
// were given up.
func (s *Sweep) Incomplete() bool { return s.State == Completed && s.Counts.Abandoned > 0 }

// nothingMissing is what there is to say of a sweep in which nothing was given up.
func nothingMissing(s *Sweep) error {
	return Errorf(Conflict, "retry sweep "+s.ID, "nothing was given up in it: it is %s", s.State)
}

// Retry has a live sweep start over: see Void.
func (l *Ledger) Retry(num uint64) error {
	s := l.live[num]
	switch {
	case l.awaited[num]:
		return Errorf(Unavailable, "retry sweep", "it is being read again after a start: try again")
	case s == nil:
		return Errorf(NotFound, "retry sweep", "no live sweep has the number %d", num)
	case s.rec.Counts.Abandoned == 0:
		return nothingMissing(&s.rec)
	}
	s.void = true
	return nil
}

// Reopen has a sweep that has completed start over under the number next. Known
// must find the outcomes of the old one, as Own; the old one is to be removed once
// the new one has ended. byItself says that nobody asked for it.
func (l *Ledger) Reopen(rec Sweep, next uint64, plan Plan, known Known, byItself bool) error {
	if !rec.Incomplete() {
		return nothingMissing(&rec)
	}
	fresh := rec.again(next)
	if byItself {
		fresh.Retries++
	} else {
		fresh.Retries = 0
	}
	delete(l.incomplete, rec.Num)
	rec.unconfirm()
	rec.State, rec.Best, rec.BestValues = Deleting, nil, nil
	l.ended[rec.Num] = Deleting
	l.changes.Append(&Changes{Sweeps: []Sweep{rec}, Void: []uint64{rec.Num}})
	if byItself {
		l.noteSweep(ActRetry, &fresh, "another worker has come")
	}
	l.Add(fresh, plan, known)
	return nil
}

// again is the record of a sweep that starts over.
func (s *Sweep) again(num uint64) Sweep {
	return Sweep{
		Num: num, ID: s.ID, Key: s.Key, Owner: s.Owner, Spec: s.Spec, Transferred: s.Transferred, Window: s.Window,
		Names: s.Names, Submitted: s.Submitted, Distrusted: s.Distrusted, Retries: s.Retries,
	}
}

// NoteIncomplete tells the ledger of a stored sweep that is Incomplete.
func (l *Ledger) NoteIncomplete(s Sweep) { l.incomplete[s.Num] = s }

// comes notes that a worker is new: what others failed at may be tried again.
func (l *Ledger) comes(w *Worker) {
	for num, s := range l.incomplete {
		ok, _ := w.suits(&s.Spec)
		if ok && !s.Deadly && s.Retries < mostRetries && rankIn(s.FailedOn, w) == 0 {
			delete(l.incomplete, num)
			l.toRetry = append(l.toRetry, s)
		}
	}
}

// Retries takes the sweeps that are to be reopened because a worker has come.
func (l *Ledger) Retries() []Sweep {
	all := l.toRetry
	l.toRetry = nil
	slices.SortFunc(all, func(a, b Sweep) int { return int(a.Num) - int(b.Num) })
	return all
}

// noteFailed notes in a sweep's record who failed at what is given up.
func (s *live) noteFailed(d *doubt) {
	if d == nil {
		return
	}
	for _, line := range d.lines() {
		all := doubt{by: s.rec.FailedOn}
		all.blameLine(line)
		s.rec.FailedOn = all.by
	}
	s.rec.Deadly = s.rec.Deadly || d.deaths > 0 && d.weight >= d.deaths*surely
}
