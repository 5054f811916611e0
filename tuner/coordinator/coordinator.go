// Package coordinator runs sweeps: it owns the lock, the clock and the ledger,
// and makes what the ledger changes durable before it answers anybody.
//
// Calls change the ledger under one lock and add what they changed to the group that waits for the disk. One writer
// commits group after group, each in one transaction. A call returns when the group with its changes is durable.
// What is shown of sweeps is what was durable when last looked at.
//
// It speaks no protocol (package rpc) and evaluates nothing.
package coordinator

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// Options are a coordinator's constants; the zero value of each field but
// Planner gets a default.
type Options struct {
	Planner tuner.Planner
	Log     hclog.Logger     // none
	Now     func() time.Time // time.Now
	Ledger  tuner.LedgerOptions
	// Alone says that all workers live in the coordinator's process, so that
	// nobody holds the leases found in the store: they need not expire.
	Alone bool
	// Tick is how often expired leases are looked for when nobody calls; 1 s.
	Tick time.Duration
	// MaxWait is the longest time a worker's call is held; 20 s.
	MaxWait time.Duration
	// MaxBundle is the most bytes of a bundle; 64 MiB.
	MaxBundle int
	// MaxLive is the most sweeps that run or are paused; 1000.
	MaxLive int
	// MaxSpace is the most configurations of a sweep's space; 2^53, up to which
	// indices are exact in every reader of JSON.
	MaxSpace int64
	// Quotas bound what one caller may have.
	Quotas Quotas
	// Context ends planning when it ends, also in New: the process is to end then.
	// Background.
	Context context.Context
	// PlanTime is the longest that a submitted sweep may take to plan; 30 s. Negative:
	// any time.
	PlanTime time.Duration
	// Parts says what a bundle's definition consists of, by the names that people
	// know, so that Best can say what of a definition has changed. nil: it cannot.
	Parts func(bundle []byte) (tuner.Parts, error)
	// Dormant says which of the stored sweeps, by identity, stay as they are:
	// shown, but not gone on with until somebody submits or steers them. None.
	Dormant func(id string) bool
	// Salvage serves what is whole of a store in which sweeps' records are damaged:
	// those are named (Damaged), nothing new is taken, and nothing is removed. false:
	// New refuses such a store.
	Salvage bool
}

func (o *Options) fill() {
	o.Quotas.fill()
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tick <= 0 {
		o.Tick = time.Second
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 20 * time.Second
	}
	if o.MaxBundle <= 0 {
		o.MaxBundle = 64 << 20
	}
	if o.MaxLive <= 0 {
		o.MaxLive = 1000
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.PlanTime == 0 {
		o.PlanTime = 30 * time.Second
	}
	if o.MaxSpace <= 0 {
		o.MaxSpace = 1 << 53
	}
}

// Coordinator runs the sweeps of one store. It is safe for concurrent use. Run
// must be running for any call that changes something to return.
type Coordinator struct {
	// Constant fields.
	store store.Store
	opts  Options
	log   hclog.Logger
	kick  chan struct{} // tells the writer that there is a group; capacity 1
	rouse chan struct{} // tells that sweeps are asleep; capacity 1
	board *board        // what is shown
	// damaged are the numbers of the sweeps whose records are: see Options.Salvage.
	damaged atomic.Pointer[[]uint64]
	meter   meter // what is counted
	lent    lent  // bundles that calls are sending
	// submitting is held, shared, from when a bundle is looked up for a sweep
	// until the sweep is durable, and so names it, and while one is stored.
	submitting sync.RWMutex
	putting    sync.Mutex    // held while a bundle is stored
	planning   chan struct{} // a place for each plan that is being made
	// leaseTTL is how long the ledger's leases last.
	leaseTTL time.Duration
	// incarnation is the present one's name, past those before it.
	incarnation string
	past        []tuner.Incarnation
	refusals    refusals

	// parts are of stored definitions, by their bundles' digests.
	partsMu sync.Mutex
	parts   map[string]tuner.Parts

	// ranked are what Top knows, by sweeps' numbers.
	rankedMu sync.Mutex
	ranked   map[uint64]*ranking

	// Mutable fields, under mu.
	mu      sync.Mutex
	ledger  *tuner.Ledger
	full    []*group      // to be committed next, oldest first
	pending *group        // to be committed after those; nil: none
	flying  *group        // being committed; nil: none
	spare   tuner.Changes // of a group that was committed: room to use again
	again   bool          // the ledger has work left that needs no worker
	orphans int           // leases of workers that ended with the coordinator before
	lastNum uint64        // the greatest sweep number used
	scopes  map[string]int
	spaces  map[uint64]tuner.Space
	waiting waiters
	doomed  []uint64         // sweeps being deleted
	unused  bool             // there may be bundles that no sweep is of
	loose   bool             // the store may have room to make of what removed sweeps have left
	fresh   map[string]put   // bundles that no sweep is of yet
	sizes   map[string]int64 // of the bundles that are stored, in bytes
	asleep  []*sleeper       // sweeps that the ledger awaits and nobody rebuilds yet, oldest first
	woken   chan struct{}    // closed when the next one is rebuilt
	// dormant are live sweeps, by identity, that nobody has asked for yet; risen those
	// that somebody has, since New.
	dormant map[string]tuner.Sweep
	risen   map[string]bool
	// replaced are, by identity, the former numbers of sweeps that have started
	// over and not ended: their outcomes are used again.
	replaced map[string][]uint64
	unbegun  bool            // nothing has been committed yet: the store does not know of this incarnation
	must     bool            // there is to be a group even if nothing is in it
	foreign  map[string]bool // incarnations that the store does not know, and workers do
	down     error           // why nothing can be changed; nil: it can
	drain    *drain          // nil: it is not to end
}

// New reads the store's sweeps and returns a coordinator that goes on with
// them once Run runs; with those of which much must be learnt again, a while
// after that (wake.go). The store remains the caller's, to close after Run has
// returned.
func New(st store.Store, opts Options) (*Coordinator, error) {
	opts.fill()
	if opts.Planner == nil {
		return nil, tuner.Errorf(tuner.Internal, "start coordinator", "no planner given")
	}
	c := &Coordinator{store: st, opts: opts, log: opts.Log, unused: true, fresh: map[string]put{}, risen: map[string]bool{}, ranked: map[uint64]*ranking{}, foreign: map[string]bool{}, kick: make(chan struct{}, 1), rouse: make(chan struct{}, 1), board: newBoard(), planning: make(chan struct{}, plannings())}
	if err := c.begin(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.loadLocked(); err != nil {
		return nil, err
	}
	c.leaseTTL = c.ledger.LeaseTTL()
	return c, nil
}

// ID returns the identity of the coordinator's store.
func (c *Coordinator) ID() string { return c.store.ID() }

// Incarnation returns the name of the present incarnation of the store.
func (c *Coordinator) Incarnation() string { return c.incarnation }

// Fence returns the greatest token of leases of this store that were granted by
// an incarnation of a name: see tuner.Fence.
func (c *Coordinator) Fence(name string) uint64 { return tuner.Fence(c.past, name) }

// Healthy returns nil when the coordinator can take changes, else why not.
func (c *Coordinator) Healthy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.down
}

// Now returns the coordinator's time.
func (c *Coordinator) Now() time.Time { return c.opts.Now() }

// change runs f on the ledger, brought to the present, and returns once
// everything the ledger did so far is durable. f's error comes back as it is;
// what the ledger changed is made durable nevertheless.
func (c *Coordinator) change(ctx context.Context, f func(l *tuner.Ledger) error) error {
	c.mu.Lock()
	if c.down != nil {
		defer c.mu.Unlock()
		return c.down
	}
	g, err := c.changeLocked(f)
	c.mu.Unlock()
	if waitErr := g.wait(ctx); waitErr != nil {
		return waitErr
	}
	return err
}

// changeLocked is change until there is a group to wait for. After a panic nobody knows
// what the ledger holds: nothing is stored of it any more, and Run ends.
func (c *Coordinator) changeLocked(f func(l *tuner.Ledger) error) (g *group, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.failLocked(tuner.Errorf(tuner.Internal, "change", "panic: %v\n%s", p, debug.Stack()))
			c.signal()
			g, err = nil, c.down
		}
	}()
	c.again = c.ledger.Enter(c.opts.Now())
	err = f(c.ledger)
	c.startOverLocked()
	g = c.gatherLocked()
	c.wakeLocked()
	c.drainedLocked()
	return g, err
}

// maxGroup is how many changes are enough for a group: more make a commit no
// cheaper, but more callers wait for it and then are answered all at once.
const maxGroup = 8192

// gatherLocked moves the ledger's changes to the pending group and returns the
// group to wait for until all changes so far are durable; nil: they are.
func (c *Coordinator) gatherLocked() *group {
	if c.ledger.Changed() || c.must {
		c.must, c.unbegun = false, false
		if c.pending == nil {
			c.pending = newGroup(c.spare)
			c.spare = tuner.Changes{}
		}
		c.ledger.Take(&c.pending.changes)
		c.waiting.turn++
	}
	last := c.flying
	if n := len(c.full); n > 0 {
		last = c.full[n-1]
	}
	if g := c.pending; g != nil {
		last = g
		c.signal()
		if g.changes.Len() >= maxGroup {
			g.shown = c.ledger.Shown()
			c.full, c.pending = append(c.full, g), nil
		}
	}
	return last
}

// nextLocked takes the group to be committed next; nil: there is none.
func (c *Coordinator) nextLocked() *group {
	if len(c.full) > 0 {
		c.flying = c.full[0]
		c.full = slices.Delete(c.full, 0, 1)
		return c.flying
	}
	if c.flying = c.pending; c.flying != nil {
		c.pending = nil
		c.flying.shown = c.ledger.Shown()
	}
	return c.flying
}

// voidLocked answers whoever waits for changes that will not be committed.
func (c *Coordinator) voidLocked(err error) {
	for _, g := range c.full {
		g.finish(err)
	}
	if c.pending != nil {
		c.pending.finish(err)
	}
	c.full, c.pending = nil, nil
}

// signal tells the writer that there is something to do.
func (c *Coordinator) signal() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// wakeLocked lets as many held calls go as there are trials for them.
func (c *Coordinator) wakeLocked() {
	if c.waiting.len() == 0 {
		return
	}
	if c.ledger.Finished() { // who is to leave then is told; who stays has looked, and waits on
		c.waiting.wake(c.waiting.len())
		return
	}
	c.waiting.wake(int(min(c.ledger.Queued(), int64(c.waiting.len()))))
}
