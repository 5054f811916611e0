package standby

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/warptune/warptune/tuner"
)

// Timing is how often and how long.
type Timing struct {
	Renew time.Duration // between renewals of the record by the primary
	Lease time.Duration // after its last renewal the primary answers nothing
	// TakeOver is how long the record must stand still before a standby takes over;
	// greater than Lease, so that nobody reads from two. 0: by command only.
	TakeOver time.Duration
	// Wait is how long an answer waits for the standby before the primary goes on
	// alone. 0: for ever.
	Wait time.Duration
	// Heartbeat is how often an idle primary is heard of by its standby; both take
	// the other for lost after ten of them.
	Heartbeat time.Duration
}

// Usual is the timing of coordinators.
var Usual = Timing{Renew: 4 * time.Second, Lease: 15 * time.Second, TakeOver: 20 * time.Second, Wait: 2 * time.Second, Heartbeat: time.Second}

// ErrTakenOver says that another node serves.
var ErrTakenOver = tuner.Errorf(tuner.Conflict, "", "another coordinator has taken over")

// Keeper holds the lease for a primary. It is safe for concurrent use.
type Keeper struct {
	// Constant fields.
	arbiter Arbiter
	timing  Timing
	log     hclog.Logger
	kick    chan struct{} // there is something to write down; capacity 1
	ended   chan struct{} // closed when the lease is lost

	// Mutable fields, under mu.
	mu      sync.Mutex
	record  Record
	renewed time.Time     // when the last renewal that succeeded began
	wanted  string        // whom the record is to name as standby
	may     string        // the standby that the record may name; "": it names none
	changed chan struct{} // closed at the next change of record or may
	lost    error         // why it is no more held; nil: it is
}

// Hold takes the lease for a node, from the record that is there, and returns its
// keeper, which must Run; nil: the record is another by now. It names no standby.
func Hold(ctx context.Context, a Arbiter, now Record, node string, t Timing, log hclog.Logger) (*Keeper, error) {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	next := Record{Term: now.Term + 1, Holder: node, Process: rand.Text()[:12]}
	began := time.Now()
	var done bool
	var err error
	if now.Term == 0 {
		done, err = a.Create(ctx, next)
	} else {
		done, err = a.Swap(ctx, now, next)
	}
	if err != nil || !done {
		return nil, err
	}
	return &Keeper{
		arbiter: a, timing: t, log: log, kick: make(chan struct{}, 1), ended: make(chan struct{}), record: next, renewed: began, changed: make(chan struct{}),
	}, nil
}

// Record returns the record as it was last written.
func (k *Keeper) Record() Record {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.record
}

// Valid returns nil while nobody else can have begun to serve.
func (k *Keeper) Valid() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.validLocked(time.Now())
}

func (k *Keeper) validLocked(now time.Time) error {
	if k.lost != nil {
		return k.lost
	}
	if since := now.Sub(k.renewed); since > k.timing.Lease {
		return tuner.Errorf(tuner.Unavailable, "hold the lease", "it was renewed %v ago, and lasts %v", since.Round(time.Second), k.timing.Lease)
	}
	return nil
}

// Name has the record name a standby; "": none.
func (k *Keeper) Name(standby string) {
	k.mu.Lock()
	k.wanted = standby
	k.mu.Unlock()
	k.signal()
}

func (k *Keeper) signal() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// Named reports whether the record may name a standby, which may take over then, and
// returns a channel that is closed when that may have changed.
func (k *Keeper) Named() (bool, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.may != "", k.changed
}

// CanName reports whether the record can come to name a standby: it names no other,
// and is not about to.
func (k *Keeper) CanName(standby string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return (k.may == "" || k.may == standby) && (k.wanted == "" || k.wanted == standby)
}

// Lost returns a channel that is closed when the lease is lost.
func (k *Keeper) Lost() <-chan struct{} { return k.ended }

// Run renews the lease until ctx ends; its error says why it was lost.
func (k *Keeper) Run(ctx context.Context) error {
	watched := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { watched <- k.watch(ctx) }() // a call of the arbiter may hang
	renewing := make(chan error, 1)
	go func() { renewing <- k.renewals(ctx) }()
	select {
	case err := <-watched:
		return err
	case err := <-renewing:
		return err
	}
}

// watch returns when the lease has run out, or ctx ends.
func (k *Keeper) watch(ctx context.Context) error {
	for {
		k.mu.Lock()
		err, left := k.validLocked(time.Now()), k.timing.Lease-time.Since(k.renewed)
		k.mu.Unlock()
		if err != nil {
			k.lose(err)
			return err
		}
		timer := time.NewTimer(left + time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

func (k *Keeper) renewals(ctx context.Context) error {
	tick := time.NewTicker(k.timing.Renew)
	defer tick.Stop()
	for {
		if err := k.renew(ctx); err != nil {
			k.lose(err)
			return err
		}
		select {
		case <-tick.C:
		case <-k.kick:
		case <-ctx.Done():
			return nil
		}
	}
}

// renew writes the next record. Its error is that the lease is lost; what else goes
// wrong is logged, and tried again.
func (k *Keeper) renew(ctx context.Context) error {
	began := time.Now()
	k.mu.Lock()
	old := k.record
	next := Record{Term: old.Term + 1, Holder: old.Holder, Standby: k.wanted, Process: old.Process}
	if next.Standby != "" {
		k.may = next.Standby // from when the swap may be done
	}
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, k.timing.Lease)
	defer cancel()
	done, err := k.arbiter.Swap(ctx, old, next)
	if done && err == nil {
		k.write(next, began)
		return nil
	}
	now, readErr := k.arbiter.Read(ctx)
	switch {
	case readErr != nil || now.Term < old.Term: // or what a cache shows is old
		k.log.Warn("the lease could not be renewed", "error", errors.Join(err, readErr), "term", old.Term, "shown", now.Term)
	case now == old: // it failed
		k.log.Warn("the lease could not be renewed", "error", err, "term", old.Term)
	case now.Process == old.Process: // it was done, or one before it of which that was unknown
		k.write(now, k.renewed)
		k.signal()
	default:
		return tuner.Errorf(tuner.Conflict, "hold the lease", "%w: %s, in term %d", ErrTakenOver, now.Holder, now.Term)
	}
	return nil
}

// write notes what was written to the record.
func (k *Keeper) write(r Record, renewed time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.record, k.renewed, k.may = r, renewed, r.Standby
	k.announceLocked()
}

func (k *Keeper) announceLocked() {
	close(k.changed)
	k.changed = make(chan struct{})
}

func (k *Keeper) lose(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lost == nil {
		k.lost = err
		close(k.ended)
		k.announceLocked()
	}
}
