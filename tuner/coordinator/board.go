package coordinator

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/warptune/warptune/tuner"
)

// board holds the state of every sweep as it was when last durable, for those
// who ask and watch. They never wait for the ledger.
type board struct {
	mu      sync.RWMutex
	byNum   map[uint64]*shown
	byID    map[string]*shown
	order   []uint64      // numbers of all sweeps that are listed, ascending
	changed chan struct{} // closed at the next change
	closed  bool
}

// shown is one sweep's state and how often it changed.
type shown struct {
	sweep   tuner.Sweep
	version uint64
}

func newBoard() *board {
	return &board{byNum: map[uint64]*shown{}, byID: map[string]*shown{}, changed: make(chan struct{})}
}

// put shows new states.
func (b *board) put(sweeps []tuner.Sweep) {
	if len(sweeps) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range sweeps {
		e := b.byNum[s.Num]
		if e == nil {
			e = &shown{}
			b.byNum[s.Num] = e
			if old := b.byID[s.ID]; old != nil { // it has started over
				e.version = old.version
				b.unlist(old.sweep.Num)
			}
			at, _ := slices.BinarySearch(b.order, s.Num)
			b.order = slices.Insert(b.order, at, s.Num)
		}
		e.sweep = s
		e.version++
		if old := b.byID[s.ID]; old == nil || old.sweep.Num <= s.Num {
			b.byID[s.ID] = e
		}
	}
	b.announce()
}

// unlist takes a sweep off the list; it is found by its number still.
func (b *board) unlist(num uint64) {
	if at, found := slices.BinarySearch(b.order, num); found {
		b.order = slices.Delete(b.order, at, at+1)
	}
}

// moved returns the sweeps that come to be in a state they are not shown in.
func (b *board) moved(sweeps []tuner.Sweep) []tuner.Sweep {
	b.mu.RLock()
	defer b.mu.RUnlock()
	states := map[uint64]tuner.SweepState{}
	var moved []tuner.Sweep
	for _, s := range sweeps {
		was, seen := states[s.Num]
		if e := b.byNum[s.Num]; !seen && e != nil {
			was = e.sweep.State
		}
		if was != s.State {
			moved = append(moved, s)
		}
		states[s.Num] = s.State
	}
	return moved
}

// rouse has watchers look again, though nothing that is shown has changed.
func (b *board) rouse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.announce()
}

func (b *board) announce() {
	if !b.closed {
		close(b.changed)
		b.changed = make(chan struct{})
	}
}

// remove takes a sweep off.
func (b *board) remove(num uint64) (tuner.Sweep, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.byNum[num]
	if e == nil {
		return tuner.Sweep{}, false
	}
	delete(b.byNum, num)
	b.unlist(num)
	if b.byID[e.sweep.ID] == e {
		delete(b.byID, e.sweep.ID)
	}
	b.announce()
	return e.sweep, true
}

// close lets all watchers go.
func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		close(b.changed)
	}
}

// find returns the sweep with the identity, or with the only one that begins
// so.
func (b *board) find(id string) (tuner.Sweep, uint64, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if e := b.byID[id]; e != nil {
		return e.sweep, e.version, nil
	}
	var found *shown
	for full, e := range b.byID {
		if id == "" || !strings.HasPrefix(full, id) {
			continue
		}
		if found != nil {
			return tuner.Sweep{}, 0, tuner.Errorf(tuner.Invalid, "find sweep", "more than one begins with %q: give more of it", id)
		}
		found = e
	}
	if found == nil {
		return tuner.Sweep{}, 0, tuner.Errorf(tuner.NotFound, "find sweep", "none begins with %q: list them", id)
	}
	return found.sweep, found.version, nil
}

// get returns the sweep with exactly this identity.
func (b *board) get(id string) (tuner.Sweep, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if e := b.byID[id]; e != nil {
		return e.sweep, true
	}
	return tuner.Sweep{}, false
}

// number returns the sweep with the number.
func (b *board) number(num uint64) (tuner.Sweep, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if e := b.byNum[num]; e != nil {
		return e.sweep, true
	}
	return tuner.Sweep{}, false
}

// id returns a sweep's identity for a log line.
func (b *board) id(num uint64) string {
	s, _ := b.number(num)
	return s.ID
}

// bundles are the digests of all sweeps' bundles.
func (b *board) bundles() map[string]bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	named := map[string]bool{}
	for _, e := range b.byNum {
		named[e.sweep.Spec.Bundle] = true
		named[e.sweep.Spec.Descriptor] = true // "" is no bundle's digest
		named[e.sweep.Spec.Predictions] = true
	}
	return named
}

// all returns every sweep, newest first.
func (b *board) all() []tuner.Sweep {
	list := make([]tuner.Sweep, 0, b.len())
	b.before(math.MaxUint64, func(s *tuner.Sweep) bool {
		list = append(list, *s)
		return true
	})
	return list
}

// each calls f for every sweep that is shown, which must not keep or change it.
func (b *board) each(f func(*tuner.Sweep)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, e := range b.byNum {
		f(&e.sweep)
	}
}

func (b *board) len() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.order)
}

// before calls f for each sweep with a number below num, newest first, until it
// answers false. f must be quick, and not keep what it is given.
func (b *board) before(num uint64, f func(*tuner.Sweep) bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	at, _ := slices.BinarySearch(b.order, num)
	for at--; at >= 0 && f(&b.byNum[b.order[at]].sweep); at-- {
	}
}

// next returns a channel closed at the next change, and whether there can be
// any.
func (b *board) next() (<-chan struct{}, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.changed, !b.closed
}
