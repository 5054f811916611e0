package tuner

import (
	"cmp"
	"fmt"

	"github.com/warptune/warptune/tuner/lease"
)

// A worker of which two others have shown that it says what is not so is not believed any more. It is granted
// nothing, what it holds goes back, and every live sweep that has an outcome of its starts over under a new number.
// There the outcomes of others answer, as stored ones do, so that only its own are found out again; and what a
// strategy asked on false grounds is not asked.

// Distrust says of a worker why it is not believed.
type Distrust struct {
	Worker string `json:"worker"`
	Why    string `json:"why"`
}

// CheckCounts are numbers of checks since the ledger was made.
type CheckCounts struct {
	Agreed    int64 // outcomes that another worker came to as well
	Disagreed int64 // outcomes that another worker did not come to
}

// Checks returns the numbers of checks.
func (l *Ledger) Checks() CheckCounts { return l.counts }

// NoteDistrust tells the ledger whom not to believe, as is stored of a sweep.
func (l *Ledger) NoteDistrust(d Distrust) { l.wrong[d.Worker] = d.Why }

// Distrusts reports whether a worker is not believed.
func (l *Ledger) Distrusts(worker string) bool { return l.wronged(worker) != "" }

// wronged says why a worker is not believed, "" if it is. Of whom older programs
// stored only the name, nobody of that name is.
func (l *Ledger) wronged(worker string) string {
	if len(l.wrong) == 0 {
		return ""
	}
	return cmp.Or(l.wrong[worker], l.wrong[nameOf(worker)])
}

// Distrusted returns how many workers are not believed.
func (l *Ledger) Distrusted() int64 { return int64(len(l.wrong)) }

// refusal is the error for a worker that is not believed.
func (l *Ledger) refusal(worker string) error {
	return Errorf(Mismatch, "synchronize", "worker %s is not believed: %s. Look at its machine and its program; when they are right again, start it under another name", worker, l.wronged(worker))
}

// distrust ends the belief in a worker because of what it said in a sweep.
func (l *Ledger) distrust(s *live, worker, why string) {
	if worker == "" || l.Distrusts(worker) { // "": rows of older programs do not say
		return
	}
	d := Distrust{worker, why}
	l.NoteDistrust(d)
	l.changes.Distrusted = append(l.changes.Distrusted, SweepDistrust{Sweep: s.rec.Num, Distrust: d})
	l.Note(Act{What: ActDistrust, Worker: worker, Sweep: s.rec.ID, Number: s.rec.Num, Owner: s.rec.Owner, Detail: why})
	for _, num := range l.order {
		if o := l.live[num]; o == s || o.by[worker] > 0 {
			l.disown(o, d)
		}
	}
	for name, w := range l.sessions {
		if w.worker.ID != worker {
			continue
		}
		w.refused = "not believed: " + why
		var held []lease.Key
		l.leases.Held(name, func(e lease.Lease) bool {
			held = append(held, e.Key)
			return true
		})
		for _, key := range held {
			if o := l.live[key.Sweep]; o != nil {
				l.lost(o, key.Seq, "", false)
			}
		}
	}
}

// disown notes in a sweep that a worker is not believed, and has it start over if
// it has an outcome of the worker's.
func (l *Ledger) disown(s *live, d Distrust) {
	s.rec.Distrusted = append(s.rec.Distrusted, d)
	s.void = s.void || s.by[d.Worker] > 0
	l.put(s)
	s.dirty = true
}

// Void returns the live sweeps that must start over, by number: see Again.
// Until then they grant nothing and take no report.
func (l *Ledger) Void() []uint64 {
	var void []uint64
	for _, num := range l.order {
		if l.live[num].void {
			void = append(void, num)
		}
	}
	return void
}

// Abort ends a live sweep that cannot go on.
func (l *Ledger) Abort(num uint64, why string) {
	if s := l.live[num]; s != nil {
		l.retire(s, Failed, why)
	}
}

// Again has a sweep start over under a new number, with a plan made anew. Known
// must find the outcomes of the old one, as Own, but not those of whom the
// ledger distrusts; the old one is to be removed once the new one has ended.
func (l *Ledger) Again(num, next uint64, plan Plan, known Known) {
	old := l.live[num]
	state := old.rec.State
	rec := old.rec.again(next)
	old.rec.unconfirm()
	old.rec.Best, old.rec.BestValues = nil, nil
	l.retire(old, Deleting, "")
	l.changes.Append(&Changes{Void: []uint64{num}})
	l.noteSweep(ActStartOver, &rec, fmt.Sprintf("it was number %d", num))
	l.Add(rec, plan, known)
	if state == Paused {
		_ = l.Steer(next, Paused)
	}
}
