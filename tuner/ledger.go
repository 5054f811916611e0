package tuner

import (
	"slices"
	"strings"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/lease"
)

// LedgerOptions are the constants of a ledger; the zero value gets defaults.
type LedgerOptions struct {
	LeaseTTL time.Duration // how long a lease lasts unrenewed; 30 s
	// Attempts is how often a trial's failure must be the configuration's doing
	// before it is given up: see doubt; 3.
	Attempts int
	MaxGrant int // most trials a worker process may hold; 1024
	// MaxHeld is how many trials all workers may hold together beyond one for
	// each slot; 16384. It bounds what a restart or a wave of reports brings.
	MaxHeld int
	Token   uint64 // the greatest fencing token ever granted
	// MaxWorkers is how many worker processes are known at a time; 20000.
	MaxWorkers int
	// Straggles is how long a trial is leased at least before it is granted
	// once more to an idle worker; 10 s. Negative: that is never done.
	Straggles time.Duration
	// Warm is how many sweeps whose strategies learn keep what these could
	// compute again (search.Shedder), those that asked last; 8.
	Warm int
	// Audit is the share of outcomes, besides each best, that another worker
	// finds out once more: see check. 0: only a sweep's last best is checked.
	Audit float64
	// AuditSeed draws them; workers should not know it.
	AuditSeed uint64
}

func (o *LedgerOptions) fill() {
	if o.LeaseTTL <= 0 {
		o.LeaseTTL = 30 * time.Second
	}
	if o.Attempts <= 0 {
		o.Attempts = 3
	}
	if o.Straggles == 0 {
		o.Straggles = 10 * time.Second
	}
	if o.MaxGrant <= 0 {
		o.MaxGrant = 1024
	}
	if o.Warm <= 0 {
		o.Warm = 8
	}
	if o.MaxWorkers <= 0 {
		o.MaxWorkers = 20000
	}
	if o.MaxHeld <= 0 {
		o.MaxHeld = 16384
	}
}

// Ledger is the state of all live sweeps, their leases and the workers: a pure
// state machine. Calls change it at once and note in Changes what must be
// stored; Take hands that over. It is not safe for concurrent use.
type Ledger struct {
	// Constant fields.
	opts LedgerOptions

	// Mutable fields.
	now      time.Time     // never goes back
	behind   time.Duration // how much the clock was set back in all
	awake    time.Duration // how long the ledger's owner ran in all
	leases   *lease.Table
	live     map[uint64]*live
	order    []uint64 // live sweeps by number
	warm     []*live  // those that keep what they could compute again, the latest last
	turn     int      // whose turn it is to grant, an index into order
	ended    map[uint64]SweepState
	awaited  map[uint64]bool // stored sweeps that are being rebuilt
	sessions map[string]*session
	changes  Changes
	swept    time.Time         // when sessions were last looked through
	active   int               // workers heard of lately that take trials, then
	wrong    map[string]string // workers that are not believed: why
	// standings is what is held against workers, by name.
	standings map[string]*standing
	losses    losses
	// incomplete are sweeps that have completed so, by number; toRetry those of
	// them that are to be reopened.
	incomplete map[uint64]Sweep
	toRetry    []Sweep
	counts     CheckCounts
}

// NewLedger returns an empty ledger.
func NewLedger(opts LedgerOptions) *Ledger {
	opts.fill()
	return &Ledger{
		opts: opts, leases: lease.NewTable(opts.LeaseTTL, opts.Token), live: map[uint64]*live{},
		ended: map[uint64]SweepState{}, awaited: map[uint64]bool{}, sessions: map[string]*session{}, wrong: map[string]string{},
		standings: map[string]*standing{}, incomplete: map[uint64]Sweep{},
	}
}

// LeaseTTL returns how long leases last.
func (l *Ledger) LeaseTTL() time.Duration { return l.opts.LeaseTTL }

// maxReuse bounds how many trials of a sweep one Enter answers from the store.
const maxReuse = 512

// Enter brings the ledger to now: leases expire, workers are forgotten, trials
// are readied. It must be called before anything else at a given time, and
// every few seconds. more reports that there is work left that needs no
// worker: Enter should be called again soon.
func (l *Ledger) Enter(now time.Time) (more bool) {
	now = now.Add(l.behind)
	if now.Before(l.now) { // the clock was set back: time goes on from here
		l.behind += l.now.Sub(now)
		now = l.now
	}
	gap := now.Sub(l.now)
	if l.now.IsZero() {
		gap = 0
	}
	if gap > l.opts.LeaseTTL/3 {
		// Nobody could renew while the ledger's owner was stopped.
		l.leases.Slept(gap)
		for _, s := range l.sessions {
			s.seen = s.seen.Add(gap)
		}
		gap = 0 // nor was anything waited for
	}
	l.now = now
	l.awake += gap
	l.expire()
	if now.Sub(l.swept) >= time.Second {
		l.lookThrough()
	}
	for _, num := range slices.Clone(l.order) {
		s := l.live[num]
		s.spend(gap)
		if l.takeBack(s); l.live[num] == nil {
			continue
		}
		s.sample(now)
		if s.believe(false) {
			l.used(s)
		}
		more = l.ready(s, maxReuse) || more
	}
	return more
}

// expire takes back the leases of workers that are not heard of any more.
func (l *Ledger) expire() {
	gone := l.leases.Expire(l.now)
	if len(gone) == 0 {
		return
	}
	held := map[string]int{}
	for _, e := range gone {
		held[e.Holder]++
	}
	alone := func(e *lease.Lease) (t *trial, alone bool) {
		if s := l.live[e.Sweep]; s != nil {
			t = s.course.at(e.Seq)
		}
		if t == nil || t.state != Leased {
			return nil, false
		}
		return t, held[e.Holder]+l.leases.Count(e.Holder) == 1
	}
	l.losses.lost += float64(len(held))
	for i := range gone { // losses that a suspect may explain are not among the others
		if t, alone := alone(&gone[i]); alone && t.doubt.alone() {
			l.losses.lost--
		}
	}
	for i := range gone {
		e := &gone[i]
		if t, alone := alone(e); t != nil {
			l.wasLost(l.live[e.Sweep], t, e.Key, alone)
		}
		if s := l.live[e.Sweep]; s != nil {
			l.lost(s, e.Seq, "the lease of worker "+workerOf(e.Holder)+" expired", true)
		}
	}
}

// lookThrough forgets workers long gone and counts the others.
func (l *Ledger) lookThrough() {
	l.swept, l.active = l.now, 0
	for name, w := range l.sessions {
		silent := l.now.Sub(w.seen)
		if silent > 2*l.opts.LeaseTTL && l.leases.Count(name) == 0 {
			delete(l.sessions, name)
		} else if silent < l.opts.LeaseTTL && !w.draining && !l.Distrusts(w.worker.ID) && !l.aside(w.worker.ID) {
			l.active++
		}
	}
	l.forgetStandings()
}

// Add starts a new sweep.
func (l *Ledger) Add(rec Sweep, plan Plan, known Known) {
	rec.State = Running
	s := newLive(rec, plan, known)
	l.insert(s)
	l.put(s)
	l.ready(s, maxReuse)
}

// NoteEnded tells the ledger of a stored sweep that has ended.
func (l *Ledger) NoteEnded(num uint64, state SweepState) { l.ended[num] = state }

// Changed reports whether there is something to be stored.
func (l *Ledger) Changed() bool { return !l.changes.Empty() }

// Take appends what must be stored since it was last called to into.
func (l *Ledger) Take(into *Changes) {
	c := &l.changes
	if len(c.Leases) > 0 {
		c.Token = l.leases.Token()
	}
	into.Append(c)
	c.Reset()
}

// Shown returns the present state of the live sweeps that changed since it was
// last called.
func (l *Ledger) Shown() []Sweep {
	var shown []Sweep
	for _, num := range l.order {
		if s := l.live[num]; s.dirty {
			shown = append(shown, l.show(s))
			s.dirty = false
		}
	}
	return shown
}

// Queued returns how many trials are ready to be granted.
func (l *Ledger) Queued() int64 {
	var n int64
	for _, num := range l.order {
		if s := l.live[num]; s.rec.State == Running {
			n += s.rec.Counts.Queued
			if l.active > 1 {
				n += int64(len(s.unchecked))
			}
		}
	}
	return n
}

// Leases returns how many trials workers hold, with those being checked.
func (l *Ledger) Leases() int { return l.leases.Len() }

// Finished reports whether every sweep has ended, and there was one.
func (l *Ledger) Finished() bool {
	return len(l.live) == 0 && len(l.awaited) == 0 && len(l.ended) > 0
}

// Touch has Shown return every live sweep, for what changes with time alone.
func (l *Ledger) Touch() {
	for _, num := range l.order {
		l.live[num].dirty = true
	}
}

// Sweep returns the present state of a live sweep.
func (l *Ledger) Sweep(num uint64) (Sweep, bool) {
	s := l.live[num]
	if s == nil {
		return Sweep{}, false
	}
	return l.show(s), true
}

// Awaiting returns how many sweeps are still to be inserted.
func (l *Ledger) Awaiting() int { return len(l.awaited) }

// Live returns the numbers of the sweeps that run or are paused, in order.
func (l *Ledger) Live() []uint64 { return slices.Clone(l.order) }

// Each calls f for the record of every live sweep, by number. f must not keep or
// change it.
func (l *Ledger) Each(f func(*Sweep)) {
	for _, num := range l.order {
		f(&l.live[num].rec)
	}
}

// Workers returns the workers heard of lately, by session.
func (l *Ledger) Workers() []WorkerStatus {
	var all []WorkerStatus
	for _, s := range l.sessions {
		status := WorkerStatus{
			Worker: s.worker, Held: l.leases.Count(s.name), Reported: s.reported,
			Silent: l.now.Sub(s.seen), Draining: s.draining, Refused: s.refused,
		}
		if st := l.standings[s.worker.ID]; st != nil && st.aside {
			status.Aside = st.why
		}
		all = append(all, status)
	}
	slices.SortFunc(all, func(a, b WorkerStatus) int { return strings.Compare(a.Worker.Session(), b.Worker.Session()) })
	return all
}

func (l *Ledger) insert(s *live) {
	num := s.rec.Num
	l.live[num] = s
	delete(l.ended, num)
	delete(l.awaited, num)
	at, _ := slices.BinarySearch(l.order, num)
	l.order = slices.Insert(l.order, at, num)
}

// used notes that a sweep's strategy has computed something, and has the one
// that did so least recently let go of what it could compute again, if too many
// keep that.
func (l *Ledger) used(s *live) {
	n := len(l.warm)
	if s.rec.Window != 0 || n > 0 && l.warm[n-1] == s {
		return
	}
	l.cool(s)
	if l.warm = append(l.warm, s); len(l.warm) <= l.opts.Warm {
		return
	}
	if first, ok := l.warm[0].course.strategy.(search.Shedder); ok {
		first.Shed()
	}
	l.cool(l.warm[0])
}

// cool takes a sweep off those that keep what they could compute again.
func (l *Ledger) cool(s *live) {
	if at := slices.Index(l.warm, s); at >= 0 {
		l.warm = slices.Delete(l.warm, at, at+1)
	}
}

// put notes the sweep's record for storing.
func (l *Ledger) put(s *live) { l.changes.Sweeps = append(l.changes.Sweeps, l.show(s)) }

// show returns the sweep's state as others may keep it.
func (l *Ledger) show(s *live) Sweep {
	rec := s.rec
	rec.Proof = s.proof()
	if rec.Best != nil {
		b := rec.Best.Clone()
		rec.Best = &b
	}
	rec.Examples, rec.Distrusted = slices.Clone(rec.Examples), slices.Clone(rec.Distrusted)
	slices.SortFunc(rec.Examples, func(a, b Example) int { return strings.Compare(a.Kind, b.Kind) })
	if rec.State.Ended() {
		return rec // it is not written again, so that workers shown now would be shown for ever
	}
	for _, w := range l.sessions {
		if ok, _ := w.worker.suits(&rec.Spec); ok && l.leases.Count(w.name) > 0 {
			rec.Workers++
		}
	}
	rec.Aside = l.asideFor(s)
	return rec
}
