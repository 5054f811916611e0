package standby

import (
	"io"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// Primary is the Store of a coordinator that has, or may get, a standby. A write
// returns when it is durable here and, if the record may name a standby, there. It is
// safe for concurrent use.
type Primary struct {
	*store.Bolt
	// Constant fields.
	keeper *Keeper
	timing Timing
	log    hclog.Logger
	node   string
	name   string // of the log of writes

	// writing is held while a write is done and gets its number.
	writing sync.Mutex

	// Mutable fields, under mu.
	mu       sync.Mutex
	begun    *begun // the incarnation that begins with the next write; nil: none does
	writes   writes
	follower *follower // nil: none is connected
	parted   time.Time // when one was connected last
	acked    uint64    // the last write that the standby has on disk, as it said last
	// joining says that answers wait for the standby already, so that the record can
	// name it once it has write joinAt. leaving: the record is to name none.
	joining bool
	joinAt  uint64
	leaving string        // why; "": it is not leaving
	left    time.Time     // when it was to leave last
	changed chan struct{} // closed at the next write or acknowledgement
	stopped chan struct{} // closed when nothing waits any more
}

// begun is an incarnation that begins.
type begun struct {
	name string
	did  tuner.Act
}

// follower is a standby that is connected.
type follower struct {
	node    string
	address string
	heard   time.Time
	problem string
	end     chan struct{} // closed when another takes its place
}

// NewPrimary returns the primary of a store whose lease a keeper holds.
func NewPrimary(st *store.Bolt, k *Keeper, t Timing, log hclog.Logger) *Primary {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	r := k.Record()
	return &Primary{
		Bolt: st, keeper: k, timing: t, log: log, node: r.Holder, name: r.Process, changed: make(chan struct{}), stopped: make(chan struct{}),
	}
}

// Begin is in store.Store.
func (p *Primary) Begin(name string, did tuner.Act) ([]tuner.Incarnation, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	past, err := p.Bolt.Begin(name, did)
	if err == nil {
		p.begins(&begun{name, did})
	}
	return past, err
}

func (p *Primary) begins(b *begun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = b
}

// first is a write with which an incarnation begins, if one is to.
func (p *Primary) first(do func() error, as func() ([]byte, error)) error {
	return p.write(func() error {
		err := do()
		if err == nil {
			p.begins(nil)
		}
		return err
	}, func() ([]byte, error) {
		p.mu.Lock()
		b := p.begun
		p.mu.Unlock()
		write, err := as()
		if b != nil && err == nil {
			write, err = store.BegunWrite(b.name, b.did, write)
		}
		return write, err
	})
}

// Commit is in store.Store.
func (p *Primary) Commit(c *tuner.Changes) error {
	return p.first(func() error { return p.Bolt.Commit(c) }, func() ([]byte, error) { return store.CommitWrite(c) })
}

// PutBundle is in store.Store.
func (p *Primary) PutBundle(digest string, content []byte, did tuner.Act) (added bool, err error) {
	err = p.first(func() error { added, err = p.Bolt.PutBundle(digest, content, did); return err },
		func() ([]byte, error) { return store.BundleWrite(digest, content, did) })
	return added && err == nil, err
}

// Compact is in store.Store.
func (p *Primary) Compact() (more bool, err error) {
	err = p.write(func() error { more, err = p.Bolt.Compact(); return err },
		func() ([]byte, error) { return store.CompactionWrite(), nil })
	return more, err
}

// Remove is in store.Store.
func (p *Primary) Remove(sweep uint64, limit int) (more bool, err error) {
	err = p.write(func() error { more, err = p.Bolt.Remove(sweep, limit); return err },
		func() ([]byte, error) { return store.RemovalWrite(sweep, limit), nil })
	return more, err
}

// DropBundles is in store.Store.
func (p *Primary) DropBundles(named map[string]bool) error {
	return p.write(func() error { return p.Bolt.DropBundles(named) },
		func() ([]byte, error) { return store.DropWrite(named) })
}

// write does a write here, and returns when the standby has it too, if need be.
func (p *Primary) write(do func() error, as func() ([]byte, error)) error {
	number, err := p.number(do, as)
	if err != nil {
		return err
	}
	return p.settle(number)
}

// number does a write and returns its number.
func (p *Primary) number(do func() error, as func() ([]byte, error)) (uint64, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	var write []byte
	if p.keeps(time.Now()) { // before it is done: a write that cannot be sent is not done either
		var err error
		if write, err = as(); err != nil {
			return 0, err
		}
	}
	if err := do(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes.add(write, p.acked)
	p.announceLocked()
	return p.writes.last, nil
}

// remembered is for how long writes are kept for a standby that was connected.
const remembered = time.Minute

// keeps reports whether writes are kept for a standby.
func (p *Primary) keeps(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.follower != nil || !p.parted.IsZero() && now.Sub(p.parted) < remembered
}

func (p *Primary) announceLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// settle returns when the standby has a write, or need not have it: when the record is
// known to name none. Its error says that neither will be: the write may be lost.
func (p *Primary) settle(number uint64) error {
	var patience <-chan time.Time
	for {
		p.mu.Lock()
		has, waits, changed := p.acked >= number, p.joining || p.timing.Wait <= 0, p.changed
		p.mu.Unlock()
		// The record is looked at last: whoever ends joining has told the keeper before.
		named, renamed := p.keeper.Named()
		switch {
		case has || !waits && !named:
			return nil
		case patience == nil && p.timing.Wait > 0:
			timer := time.NewTimer(p.timing.Wait)
			defer timer.Stop()
			patience = timer.C
		}
		select {
		case <-changed:
		case <-renamed:
		case <-patience:
			p.leave("it has not acknowledged a write within " + p.timing.Wait.String())
		case <-p.keeper.Lost():
			return tuner.Errorf(tuner.Unavailable, "write to the standby", "%w", p.keeper.Valid())
		case <-p.stopped:
			return tuner.Errorf(tuner.Unavailable, "write to the standby", "the coordinator stops, and no standby has the write")
		}
	}
}

// Stop ends the writes that wait.
func (p *Primary) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.stopped:
	default:
		close(p.stopped)
	}
}

// leave has the record name no standby: writes are answered without it once it does.
func (p *Primary) leave(why string) {
	if p.timing.Wait <= 0 { // it has everything acknowledged, however long that takes
		return
	}
	p.keeper.Name("")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leaving == "" {
		p.log.Warn("the standby is behind, and cannot take over", "reason", why)
		p.leaving = why
	}
	p.joining, p.left = false, time.Now()
}

// nearly is how many writes behind a standby may be for answers to wait for it.
const nearly = 16

// acknowledge notes what a standby has.
func (p *Primary) acknowledge(f *follower, number uint64, problem string) {
	if p.noteAcknowledged(f, number, problem); problem != "" {
		p.leave(problem)
	}
}

func (p *Primary) noteAcknowledged(f *follower, number uint64, problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.follower != f || number > p.writes.last {
		return
	}
	if problem != f.problem && problem != "" {
		p.log.Warn("the standby takes no writes for now", "standby", f.node, "reason", problem)
	}
	f.heard, f.problem = time.Now(), problem
	if number > p.acked {
		p.acked = number
		p.announceLocked()
	}
	if problem != "" {
		return
	}
	if !p.joining && p.writes.last-number <= nearly && time.Since(p.left) >= lostAfter(p.timing) {
		p.joining, p.joinAt, p.leaving = true, p.writes.last, ""
		p.announceLocked()
	}
	if p.joining && number >= p.joinAt && p.keeper.Record().Standby != f.node {
		p.keeper.Name(f.node)
	}
}

// connect notes that a standby is connected, which has what number says of a log, and
// returns the write after which it goes on; false: it needs a copy.
func (p *Primary) connect(f *follower, log string, number uint64) (from uint64, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.follower; old != nil {
		if old.node != f.node && time.Since(old.heard) < lostAfter(p.timing) {
			return 0, false, tuner.Errorf(tuner.Conflict, "follow", "%s is the standby already: a coordinator has one", old.node)
		}
		close(old.end)
		p.follower = nil
	}
	if !p.keeper.CanName(f.node) {
		// What is acknowledged from now on this one has, and not the other.
		p.keeper.Name("")
		p.joining = false
		return 0, false, tuner.Errorf(tuner.Unavailable, "follow", "another standby may take over still: try again")
	}
	f.heard, f.end = time.Now(), make(chan struct{})
	p.follower, p.acked, p.joinAt = f, 0, p.writes.last
	if log == p.name {
		if _, ok = p.writes.after(number, 0); ok {
			p.acked = number
			p.announceLocked()
		}
	}
	p.log.Info("a standby follows", "standby", f.node, "peer", f.address, "copy", !ok)
	return number, ok, nil
}

// part notes that a standby is not connected any more.
func (p *Primary) part(f *follower, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.follower != f {
		return
	}
	p.follower, p.parted = nil, time.Now()
	p.log.Warn("the standby is not connected", "standby", f.node, "reason", why)
}

// lostAfter is after which time without a word the other side is lost.
func lostAfter(t Timing) time.Duration { return 10 * t.Heartbeat }

// copyTo writes a copy of the store and calls at, before anything is written, with
// the number of the write that it is of.
func (p *Primary) copyTo(w io.Writer, at func(number uint64)) error {
	p.writing.Lock()
	var once sync.Once
	begun := func() {
		once.Do(func() {
			p.mu.Lock()
			number := p.writes.last
			p.mu.Unlock()
			p.writing.Unlock()
			at(number)
		})
	}
	defer begun()
	return p.Backup(writerFunc(func(b []byte) (int, error) {
		begun() // its transaction has begun
		return w.Write(b)
	}))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
