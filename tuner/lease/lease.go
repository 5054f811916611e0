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
	byWho map[string]map[Key]*entry
	due   deadlines
	// slept is how long the table's owner was not running in all. Deadlines
	// are kept as if it had run always, so that a pause moves them all at once.
	slept time.Duration
}

// entry is a lease in the heap. Renewal moves only lease.Deadline; the heap
// catches up when the entry surfaces.
type entry struct {
	lease Lease
	due   time.Time // the heap's key, at or before lease.Deadline
	at    int       // its index in the heap
}

// NewTable returns an empty table whose leases last ttl and whose next token
// is greater than token.
func NewTable(ttl time.Duration, token uint64) *Table {
	return &Table{ttl: ttl, token: token, byKey: map[Key]*entry{}, byWho: map[string]map[Key]*entry{}}
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
	return nil
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
func (t *Table) Count(holder string) int { return len(t.byWho[holder]) }

// Held calls f for each lease of a holder, in no order, until it answers
// false. f must not change the table.
func (t *Table) Held(holder string, f func(Lease) bool) {
	for _, e := range t.byWho[holder] {
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
		if e.due.Before(e.lease.Deadline) { // renewed since
			e.due = e.lease.Deadline
			heap.Fix(&t.due, 0)
			continue
		}
		t.remove(e)
		gone = append(gone, t.awake(e.lease))
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
	e := &entry{lease: l, due: l.Deadline}
	t.byKey[l.Key] = e
	if t.byWho[l.Holder] == nil {
		t.byWho[l.Holder] = map[Key]*entry{}
	}
	t.byWho[l.Holder][l.Key] = e
	heap.Push(&t.due, e)
}

func (t *Table) remove(e *entry) {
	heap.Remove(&t.due, e.at)
	delete(t.byKey, e.lease.Key)
	held := t.byWho[e.lease.Holder]
	if delete(held, e.lease.Key); len(held) == 0 {
		delete(t.byWho, e.lease.Holder)
	}
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

func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].at, d[j].at = i, j
}

// Push is for package heap.
func (d *deadlines) Push(x any) {
	e := x.(*entry)
	e.at = len(*d)
	*d = append(*d, e)
}

// Pop is for package heap.
func (d *deadlines) Pop() any {
	old := *d
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	return e
}
