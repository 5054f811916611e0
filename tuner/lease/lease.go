// Package lease grants time-bounded exclusive rights to trials. Each grant
// carries a fencing token greater than any before, so that what arrives under
// an older one can be told and refused.
//
// It is pure: time is an argument and expiry happens when Expire is called. It
// does not know what is leased, and does not store; who restores a table after
// a restart must hand NewTable the greatest token ever granted.
package lease

import (
	"container/heap"
	"errors"
	"time"
)

// Key names what is leased: a trial of a sweep.
type Key struct {
	Sweep uint64 // the sweep's number
	Seq   int64  // the trial's number in it
}

// Lease is a right to one key.
type Lease struct {
	Key
	Token    uint64 // greater than that of every earlier grant
	Holder   string // session of the worker
	Deadline time.Time
}

// Errors of Renew and Release.
var (
	// ErrUnknown says that nobody holds the key.
	ErrUnknown = errors.New("the lease has expired or was never granted")
	// ErrStale says that the key was granted again since, under a greater
	// token, or to another holder.
	ErrStale = errors.New("the lease was granted to another since: its token is stale")
)

// Table holds the leases of one coordinator. It is not safe for concurrent
// use.
type Table struct {
	ttl   time.Duration
	token uint64 // the greatest granted
	byKey map[Key]*entry
	byWho map[string]*holder
	due   deadlines // with entries that are over, which stay until they surface
	over  int       // how many of due those are
	spare *entry    // entries to use again, by next
	round uint64    // counts Rounds
	// slept is how long the table's owner was not running in all. Deadlines
	// are kept as if it had run always, so that a pause moves them all at once.
	slept time.Duration
}

// entry is a lease in the heap. Renewal moves only lease.Deadline, and the end
// of the lease only over; the heap catches up when the entry surfaces.
type entry struct {
	lease      Lease
	due        time.Time // the heap's key, at or before lease.Deadline
	over       bool      // the lease has ended
	round      uint64    // Table.round when it was last granted or renewed
	holder     *holder
	prev, next *entry // of the same holder
}

// holder is who holds leases: a list of them.
type holder struct {
	first *entry
	count int
}

// NewTable returns an empty table whose leases last ttl and whose next token
// is greater than token.
func NewTable(ttl time.Duration, token uint64) *Table {
	return &Table{ttl: ttl, token: token, byKey: map[Key]*entry{}, byWho: map[string]*holder{}}
}

// Token returns the greatest token granted so far.
func (t *Table) Token() uint64 { return t.token }

// Len returns the number of leases.
func (t *Table) Len() int { return len(t.byKey) }

// Grant leases the key to the holder under a new token. A lease of the key
// that exists is replaced and thereby stale.
func (t *Table) Grant(now time.Time, key Key, holder string) Lease {
	t.token++
	l := Lease{Key: key, Token: t.token, Holder: holder, Deadline: t.deadline(now)}
	t.put(l)
	return l
}

// Restore puts back a lease granted before a restart; it lasts ttl from now.
// Its token must not exceed the one given to NewTable.
func (t *Table) Restore(now time.Time, key Key, token uint64, holder string) {
	t.put(Lease{Key: key, Token: token, Holder: holder, Deadline: t.deadline(now)})
}

// Renew extends a lease to ttl from now.
func (t *Table) Renew(now time.Time, key Key, token uint64, holder string) error {
	e, err := t.check(key, token, holder)
	if err != nil {
		return err
	}
	if d := t.deadline(now); d.After(e.lease.Deadline) {
		e.lease.Deadline = d
	}
	e.round = t.round
	return nil
}

// Round begins a round: see Forgotten.
func (t *Table) Round() { t.round++ }

// Forgotten returns the leases of a holder that were neither granted nor
// renewed since Round, in no order.
func (t *Table) Forgotten(who string) []Lease {
	h := t.byWho[who]
	if h == nil {
		return nil
	}
	var all []Lease
	for e := h.first; e != nil; e = e.next {
		if e.round != t.round {
			all = append(all, t.awake(e.lease))
		}
	}
	return all
}

// Release ends a lease.
func (t *Table) Release(key Key, token uint64, holder string) error {
	e, err := t.check(key, token, holder)
	if err != nil {
		return err
	}
	t.remove(e)
	return nil
}

// Revoke ends whatever lease of the key there is.
func (t *Table) Revoke(key Key) {
	if e := t.byKey[key]; e != nil {
		t.remove(e)
	}
}

// Get returns the lease of a key.
func (t *Table) Get(key Key) (Lease, bool) {
	e := t.byKey[key]
	if e == nil {
		return Lease{}, false
	}
	return t.awake(e.lease), true
}

// Count returns how many leases a holder has.
func (t *Table) Count(who string) int {
	if h := t.byWho[who]; h != nil {
		return h.count
	}
	return 0
}

// Held calls f for each lease of a holder, in no order, until it answers
// false. f must not change the table.
func (t *Table) Held(who string, f func(Lease) bool) {
	h := t.byWho[who]
	if h == nil {
		return
	}
	for e := h.first; e != nil; e = e.next {
		if !f(t.awake(e.lease)) {
			return
		}
	}
}

// Expire removes and returns the leases whose deadline is not after now, in
// the order of their deadlines.
func (t *Table) Expire(now time.Time) []Lease {
	now = now.Add(-t.slept)
	var gone []Lease
	for len(t.due) > 0 && !t.due[0].due.After(now) {
		e := t.due[0]
		if !e.over && e.due.Before(e.lease.Deadline) { // renewed since
			e.due = e.lease.Deadline
			heap.Fix(&t.due, 0)
			continue
		}
		heap.Pop(&t.due)
		if e.over {
			t.over--
		} else {
			gone = append(gone, t.awake(e.lease))
			t.unlink(e)
		}
		t.letGo(e)
	}
	return gone
}

// Slept tells the table that its owner did not run for d, and so could not be
// renewed at: every lease lasts that much longer.
func (t *Table) Slept(d time.Duration) { t.slept += d }

func (t *Table) deadline(now time.Time) time.Time { return now.Add(t.ttl - t.slept) }

// awake returns a lease with its deadline in the owner's time.
func (t *Table) awake(l Lease) Lease {
	l.Deadline = l.Deadline.Add(t.slept)
	return l
}

func (t *Table) check(key Key, token uint64, holder string) (*entry, error) {
	e := t.byKey[key]
	switch {
	case e == nil:
		return nil, ErrUnknown
	case e.lease.Token != token || e.lease.Holder != holder:
		return nil, ErrStale
	}
	return e, nil
}

func (t *Table) put(l Lease) {
	t.Revoke(l.Key)
	e := t.spare
	if e == nil {
		e = &entry{}
	} else {
		t.spare = e.next
	}
	h := t.byWho[l.Holder]
	if h == nil {
		h = &holder{}
		t.byWho[l.Holder] = h
	}
	*e = entry{lease: l, due: l.Deadline, round: t.round, holder: h, next: h.first}
	if h.first != nil {
		h.first.prev = e
	}
	h.first = e
	h.count++
	t.byKey[l.Key] = e
	heap.Push(&t.due, e)
}

// remove ends a lease. Its entry stays in the heap until it surfaces, or until
// half of the heap is of that kind.
func (t *Table) remove(e *entry) {
	t.unlink(e)
	e.over = true
	if t.over++; t.over <= leastOver || t.over <= len(t.due)/2 {
		return
	}
	kept := t.due[:0]
	for _, e := range t.due {
		if e.over {
			t.letGo(e)
		} else {
			kept = append(kept, e)
		}
	}
	clear(t.due[len(kept):])
	t.due, t.over = kept, 0
	heap.Init(&t.due)
}

// leastOver is how many entries that are over are not worth looking for.
const leastOver = 8

// unlink takes a lease out of all but the heap.
func (t *Table) unlink(e *entry) {
	delete(t.byKey, e.lease.Key)
	h := e.holder
	if e.prev == nil {
		h.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
	if h.count--; h.count == 0 {
		delete(t.byWho, e.lease.Holder)
	}
}

// letGo keeps an entry that is out of the heap, to be used again.
func (t *Table) letGo(e *entry) {
	*e = entry{next: t.spare}
	t.spare = e
}

// deadlines is a heap of entries by due time, then key, so that expiry is in
// one order whatever the history.
type deadlines []*entry

func (d deadlines) Len() int { return len(d) }

func (d deadlines) Less(i, j int) bool {
	a, b := d[i], d[j]
	switch {
	case !a.due.Equal(b.due):
		return a.due.Before(b.due)
	case a.lease.Sweep != b.lease.Sweep:
		return a.lease.Sweep < b.lease.Sweep
	}
	return a.lease.Seq < b.lease.Seq
}

func (d deadlines) Swap(i, j int) { d[i], d[j] = d[j], d[i] }

// Push is for package heap.
func (d *deadlines) Push(x any) {
	*d = append(*d, x.(*entry))
}

// Pop is for package heap.
func (d *deadlines) Pop() any {
	old := *d
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	return e
}
