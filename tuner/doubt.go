package tuner

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/warptune/warptune/tuner/lease"
)

// A trial that does not come to an outcome may be the configuration's doing or
// the machine's. What speaks against the configuration is kept with the trial,
// and only that gives it up:
//
//   - A worker that is lost holds many trials, one of which may have ended it:
//     each is doubted a little. A trial that was lost soloAfter times is granted
//     alone from then on, so that it is known what ends a worker, and to workers
//     that have evaluated something else: one that has not evaluates first what is
//     known, if anything is (standing.go).
//   - A worker that is lost while it holds nothing else speaks against the
//     configuration, the less the more workers are lost anyway (losses.go).
//   - So does a worker's own fault, once the worker has evaluated something
//     since: until then it may be the worker that is broken (standing.go).
//
// LedgerOptions.Attempts of the last two, in all, and it is given up. Whoever
// failed at it is asked again only if there is nobody better: of another host,
// or of another name at least.
type doubt struct {
	losses   int    // workers lost that held it among others
	deaths   int    // workers lost that held nothing else
	weight   int    // of those, each up to lossWeight: see losses
	faults   int    // faults of workers that evaluated something since
	restored bool   // and nothing has happened since
	by       string // who failed at it or was lost with it, a line each: name, tab, host
}

// soloAfter is how many workers that held others too are lost with a trial before
// it is granted alone. One is what batch systems do every day.
const soloAfter = 2

// maxBy is how many of those who failed at a trial are remembered.
const maxBy = 16

// alone reports whether the trial must have no company.
func (d *doubt) alone() bool { return d != nil && (d.losses >= soloAfter || d.deaths > 0) }

// strikes is how much speaks against the configuration.
func (d *doubt) strikes() int {
	if d == nil {
		return 0
	}
	return d.weight/faultWeight + d.faults
}

// blame notes who failed.
func (d *doubt) blame(name, host string) {
	d.blameLine(plainText(name) + "\t" + plainText(host))
}

func (d *doubt) blameLine(line string) {
	if strings.Contains("\n"+d.by, "\n"+line+"\n") || strings.Count(d.by, "\n") >= maxBy {
		return
	}
	d.by += line + "\n"
}

// plainText returns a text without control characters.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// lines are those who failed: name, tab, host.
func (d *doubt) lines() []string {
	return strings.FieldsFunc(d.by, func(r rune) bool { return r == '\n' })
}

// names are those who failed.
func (d *doubt) names() []string {
	var names []string
	for _, line := range d.lines() {
		name, _, _ := strings.Cut(line, "\t")
		names = append(names, name)
	}
	return names
}

// rank says how a worker comes after others for the trial: 0 if nothing of its
// has failed at it, 1 if another of its host has, 2 if it has itself.
func (d *doubt) rank(w *Worker) int { return rankIn(d.by, w) }

func rankIn(by string, w *Worker) int {
	rank := 0
	id, host := plainText(w.ID), plainText(w.Host())
	for line := range strings.Lines(by) {
		name, at, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if name == id {
			return 2
		}
		if host != "" && at == host {
			rank = 1
		}
	}
	return rank
}

// Host returns the machine that the worker says it is on; "": it does not say.
func (w *Worker) Host() string { return w.Labels["host"] }

// doubted returns what is kept against a trial.
func (t *trial) doubted() *doubt {
	if t.doubt == nil {
		t.doubt = &doubt{}
	}
	return t.doubt
}

// blame is what the loss of a session counted for against a trial.
type blame struct {
	key    lease.Key
	weight int // 0: it held others too
}

// wasLost counts the loss of the worker that a trial was leased to.
func (l *Ledger) wasLost(s *live, t *trial, key lease.Key, alone bool) {
	d, w := t.doubted(), l.sessions[t.holder]
	host, proven := "", false
	if w != nil {
		host, proven = w.worker.Host(), w.evaluated > 0
	}
	b := blame{key: key}
	// A machine where every evaluation ends the worker begins with any trial: only
	// one that is doubted already was given to it for want of another worker.
	if alone && (proven || d.alone()) {
		b.weight = l.losses.weigh(d.losses, l.heldFor(s, t, w))
		d.weight += b.weight
		d.deaths++
	} else {
		d.losses++
	}
	d.blame(t.worker(), host)
	if w != nil {
		w.blames = append(w.blames, b)
	}
}

// heldFor is how long a worker that was lost has held its only trial at most, unless
// the trial takes many times as long as others do.
func (l *Ledger) heldFor(s *live, t *trial, w *session) time.Duration {
	lived := l.awake - t.granted // until it was last heard of, and it would have called again
	if w != nil {
		lived = max(0, lived-l.now.Sub(w.seen))
	}
	most := lived + l.opts.LeaseTTL/3
	if s.took > 0 { // it would have reported
		most = min(most, stragglerFactor*s.took)
	}
	return max(lived, most)
}

// isBack takes back what the loss of a session counted for that was not lost.
func (l *Ledger) isBack(w *session) {
	for _, b := range w.blames {
		s := l.live[b.key.Sweep]
		if s == nil {
			continue
		}
		t := s.course.at(b.key.Seq)
		switch {
		case t == nil || t.doubt == nil:
		case b.weight == 0:
			t.doubt.losses--
		default:
			t.doubt.deaths--
			t.doubt.weight -= b.weight
		}
	}
	w.blames = nil
}

// goesOn takes back the same for a lease that goes on, of a session that was lost
// before the ledger was restored.
func (t *trial) goesOn() {
	d := t.doubt
	if d == nil || !d.restored {
		return
	}
	if d.restored = false; d.deaths > 0 {
		d.weight -= d.weight / d.deaths
		d.deaths--
	} else if d.losses > 0 {
		d.losses--
	}
}

// verdict says why a trial is given up.
func (t *trial) verdict() string {
	what := t.reason
	if d := t.doubt; d != nil {
		what = fmt.Sprintf("%s (%s; it failed on %s)", Clip(t.reason, 1024), d.count(), strings.Join(d.names(), ", "))
	}
	return Clip(what, MaxMessage)
}

func (d *doubt) count() string {
	switch {
	case d.faults == 0:
		return fmt.Sprintf("it ended %d workers that evaluated nothing else", d.deaths)
	case d.deaths == 0:
		return fmt.Sprintf("%d faults of workers that evaluate others", d.faults)
	}
	return fmt.Sprintf("it ended %d workers that evaluated nothing else, %d faults of workers that evaluate others", d.deaths, d.faults)
}

// better reports whether another worker should rather have a doubted trial than
// w: one of another host than those who failed or, if there is none, of another
// name; and of those that must be alone, one that has evaluated something.
func (l *Ledger) better(s *live, d *doubt, w *session) bool {
	mine := d.rank(&w.worker)
	unproven := d.alone() && w.evaluated == 0
	if mine == 0 && !unproven {
		return false
	}
	for _, o := range l.sessions {
		if o == w || !l.able(s, o) {
			continue
		}
		if rank := d.rank(&o.worker); rank < mine || unproven && rank == mine && o.evaluated > 0 {
			return true
		}
	}
	return false
}

// able reports whether a worker that was heard of lately could take a sweep's
// trials.
func (l *Ledger) able(s *live, o *session) bool {
	return !l.aside(o.worker.ID) && l.present(s, o)
}

// present is able, of a worker that may be set aside.
func (l *Ledger) present(s *live, o *session) bool {
	if _, unfit := o.unfit[s.rec.Num]; unfit || o.draining || l.Distrusts(o.worker.ID) || l.now.Sub(o.seen) >= l.opts.LeaseTTL {
		return false
	}
	ok, _ := o.worker.suits(&s.rec.Spec)
	return ok
}

// Orphan counts in a stored lease the loss of its holder, whose process was the
// coordinator's and has ended; alone says that it held nothing else.
func (r *LeaseRecord) Orphan(alone bool) {
	d := doubt{losses: r.Losses, deaths: r.Deaths}
	if r.Held = false; alone && d.alone() {
		r.Deaths++
		r.Weight += faultWeight // nobody likes to start a program again and again
	} else {
		r.Losses++
	}
	r.Reason = "the process of worker " + r.Worker() + " ended"
}
