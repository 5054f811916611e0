package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Options are a worker's constants; zero fields but Evaluator get defaults.
type Options struct {
	// ID names the worker, e.g. host name and process id.
	ID string
	// Epoch tells this process from others of the same name; drawn at random.
	Epoch  uint64
	Slots  int    // evaluations at a time; 1
	Engine string // version of the evaluator
	// Archs are the descriptors the evaluator has: name to digest.
	Archs     map[string]string
	Labels    map[string]string
	Evaluator Evaluator
	Log       hclog.Logger // none
	// Leave makes Run return when every sweep has ended.
	Leave bool
	// Grace is how long Run goes on after its context has ended, to finish
	// what is being evaluated and to report; 10 s.
	Grace time.Duration
	// MaxBackoff is the longest pause between calls while the coordinator is
	// away; 5 s.
	MaxBackoff time.Duration
	// CallTimeout is how long a call may take beyond the time it asks to be
	// held; 30 s.
	CallTimeout time.Duration
}

func (o *Options) fill() {
	if o.Epoch == 0 {
		o.Epoch = rand.Uint64()
	}
	if o.Slots <= 0 {
		o.Slots = 1
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Grace <= 0 {
		o.Grace = 10 * time.Second
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = 5 * time.Second
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = 30 * time.Second
	}
}

// Exit says why a worker ended. The zero value is invalid.
type Exit uint8

// Reasons to end.
const (
	ExitInvalid Exit = iota
	Finished         // every sweep has ended
	Drained          // its context ended; what it held is reported or returned
	Faulted          // it cannot go on; Run's error says why
)

// String returns the reason's name.
func (e Exit) String() string {
	return [...]string{"invalid", "finished", "drained", "faulted"}[e%4]
}

// Worker evaluates trials for one coordinator. Run it once.
type Worker struct {
	// Constant fields.
	opts     Options
	log      hclog.Logger
	client   warptunev1.WorkerServiceClient
	identity *warptunev1.WorkerIdentity
	bundles  *bundles
	started  chan *task
	results  chan *task
	replies  chan reply

	// Mutable fields, used by Run's goroutine alone.
	coordinator string // whose leases, and numbers of sweeps, these are
	sweeps      map[uint64]*particulars
	known       map[string]*particulars // by digest
	tasks       map[leaseKey]*task      // held, not finished
	newest      uint64                  // the greatest token of any task so far
	queue       []*task                 // of those, not started, in the order granted
	running     int
	runners     int                  // goroutines that evaluate, as many as ever ran at a time
	slots       []*slot              // that no task is in, and none was dropped in
	reports     []*warptunev1.Report // finished, not acknowledged
	call        *call                // under way; nil: none
	draining    bool
	told        bool // the coordinator knows that it is draining, and so that it holds nothing unmentioned
	finished    bool // the coordinator says that every sweep has ended
	due         time.Time
	answered    time.Time // when the last call was
	backoff     time.Duration
	refused     time.Time // since when the coordinator refuses this worker
	pace        pace
}

// leaseKey names a trial under one grant.
type leaseKey struct {
	sweep uint64
	seq   int64
	token uint64
}

func keyOf(l *warptunev1.Lease) leaseKey {
	return leaseKey{l.GetSweep(), l.GetSeq(), l.GetToken()}
}

// particulars are what the questions of a sweep share.
type particulars struct {
	digest string // of all of it; "": the coordinator is of before there were any
	id     string
	spec   tuner.Spec
	names  []string
	unfit  string // why the worker cannot evaluate for it; "": it can
}

// task is a trial that the worker holds.
type task struct {
	// Constant fields.
	lease  *warptunev1.Lease
	sweep  *particulars
	seq    int64 // the trial's number
	again  bool
	index  int64
	values []search.Value
	level  string // "": the spec's

	over bool  // it is not held any more
	told bool  // another's question was asked with this one ahead
	slot *slot // in which it is evaluated; nil: it was not started
	// ahead are configurations that follow it.
	ahead []search.Config

	// What evaluating it came to, once it has.
	outcome tuner.Outcome
	err     error
	took    time.Duration
}

func (t *task) config() search.Config { return search.Config{Names: t.sweep.names, Values: t.values} }

// question is what the evaluator is asked.
func (t *task) question() tuner.Question {
	q := tuner.Question{
		Sweep: t.sweep.id, Spec: t.sweep.spec, Seq: t.seq, Again: t.again, Index: t.index,
		Config: t.config(), Ahead: t.ahead,
	}
	if t.level != "" {
		q.Spec.Level = t.level
	}
	return q
}

// slot is where one task at a time is evaluated. Its context lasts over many, until
// one of them is dropped while it is under way.
type slot struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// New returns a worker for the coordinator at the other end of conn, which may
// be away.
func New(conn grpc.ClientConnInterface, opts Options) (*Worker, error) {
	opts.fill()
	if opts.Evaluator == nil || opts.ID == "" {
		return nil, errors.New("a worker needs a name and an evaluator")
	}
	client := warptunev1.NewWorkerServiceClient(conn)
	log := opts.Log.With("worker", opts.ID)
	return &Worker{
		opts: opts, log: log, client: client,
		identity: &warptunev1.WorkerIdentity{
			Id: opts.ID, Epoch: opts.Epoch, Slots: int64(opts.Slots), Engine: opts.Engine, Archs: opts.Archs, Labels: opts.Labels,
		},
		bundles: newBundles(client, opts.MaxBackoff),
		started: make(chan *task, opts.Slots), results: make(chan *task, opts.Slots), replies: make(chan reply, 1),
		sweeps: map[uint64]*particulars{}, known: map[string]*particulars{}, tasks: map[leaseKey]*task{},
	}, nil
}

// Run works until ctx ends, which drains the worker, or nothing is left. It
// returns when every evaluation that heeds its context has ended.
func (w *Worker) Run(ctx context.Context) (Exit, error) {
	hard, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer w.wind(stop)
	var grace <-chan time.Time
	drain := ctx.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		w.start(hard)
		w.callIfDue(hard)
		if exit, done := w.leave(); done {
			return exit, nil
		}
		timer.Reset(w.pause())
		select {
		case t := <-w.results:
			w.take(t)
			w.takeMore(hard)
		case r := <-w.replies:
			if err := w.answer(r); err != nil {
				return Faulted, fmt.Errorf("worker %s: %w", w.opts.ID, err)
			}
		case <-timer.C:
			w.renewNow()
		case <-drain:
			drain = nil
			w.log.Info("draining", "running", w.running, "queued", len(w.queue))
			w.drain()
			after := time.NewTimer(w.opts.Grace)
			defer after.Stop()
			grace = after.C
		case <-grace:
			grace = nil
			if exit, done := w.giveUp(); done {
				return exit, nil
			}
			after := time.NewTimer(time.Second)
			defer after.Stop()
			grace = after.C
		}
	}
}

// pause returns how long to wait for anything but a call to be due.
func (w *Worker) pause() time.Duration {
	if w.call != nil {
		return w.opts.CallTimeout // its reply comes first
	}
	next := w.due
	if soon := w.gathers(); w.backoff == 0 && soon.Before(next) && (len(w.reports) > 0 || w.want() > len(w.tasks)) {
		next = soon
	}
	return max(0, time.Until(next))
}

// leave says whether the worker is done.
func (w *Worker) leave() (Exit, bool) {
	if len(w.tasks)+w.running+len(w.reports) > 0 {
		return ExitInvalid, false
	}
	switch {
	case w.draining && w.call == nil && (w.told || w.backoff > 0):
		return Drained, true // a coordinator that is away is not waited for: nothing is held
	case w.finished && w.opts.Leave:
		return Finished, true
	}
	return ExitInvalid, false
}

// drain returns what is not started and lets a held call go.
func (w *Worker) drain() {
	w.draining = true
	for _, t := range w.queue {
		w.release(t)
	}
	w.queue = nil
	if w.call != nil && w.call.held {
		w.call.cancel()
	}
	w.due = time.Time{}
}

// release reports a task as returned untouched.
func (w *Worker) release(t *task) {
	t.over = true
	delete(w.tasks, keyOf(t.lease))
	w.reports = append(w.reports, &warptunev1.Report{Lease: t.lease, Result: &warptunev1.Report_Released{Released: true}})
}

// giveUp ends what is still being evaluated when the grace is over; the second
// time it leaves whatever is left to expire.
func (w *Worker) giveUp() (Exit, bool) {
	if len(w.tasks) == 0 {
		w.log.Warn("leaving with reports that the coordinator did not take", "reports", len(w.reports))
		return Drained, true
	}
	w.log.Warn("ending evaluations", "running", w.running)
	for _, t := range w.tasks {
		if t.slot != nil {
			t.slot.cancel()
		}
		w.release(t)
	}
	w.renewNow()
	return ExitInvalid, false
}

// wind waits for evaluations and the call under way after everything they
// depend on has ended.
func (w *Worker) wind(stop context.CancelFunc) {
	stop()
	defer close(w.started)
	stuck := time.NewTimer(stuckGrace)
	defer stuck.Stop()
	for w.running > 0 || w.call != nil {
		select {
		case <-w.results:
			w.running--
		case <-w.replies:
			w.call = nil
		case <-stuck.C:
			w.log.Warn("evaluations that do not end are left behind", "running", w.running)
			go func(n int) {
				for range n {
					<-w.results
				}
			}(w.running)
			return
		}
	}
}
