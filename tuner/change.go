package tuner

import "slices"

// LeaseRecord is a lease as it is stored: what must survive a restart. The
// deadline need not, since the lease lasts its full time again after one.
type LeaseRecord struct {
	Sweep   uint64
	Seq     int64
	Index   int64
	Token   uint64
	Attempt int // how many times the trial was granted
	// Losses, Deaths, Weight, Faults and By are what speaks against the configuration: see
	// doubt.
	Losses, Deaths, Weight, Faults int
	By                             string
	Holder                         string // session of the worker
	Held                           bool   // false: it was lost or returned, and the trial is queued
	Reason                         string // why the attempt before ended, if it failed
}

// Worker returns the name of the worker that holds it, or held it.
func (r *LeaseRecord) Worker() string { return workerOf(r.Holder) }

// ResultChange is a result to store, with the key under which other sweeps may
// find it (nil: none).
type ResultChange struct {
	Sweep  uint64
	Result Result
	Answer []byte
}

// SweepDistrust is a worker found to be wrong in a sweep.
type SweepDistrust struct {
	Sweep uint64
	Distrust
}

// Changes are what must be made durable, in one transaction, before anything
// of it is told to anybody. They apply in the order of the fields; within one,
// in order.
type Changes struct {
	Revoked []uint64 // sweeps whose leases all go
	Sweeps  []Sweep
	Leases  []LeaseRecord
	Results []ResultChange // a result removes its trial's lease
	Void    []uint64       // sweeps that have started over: no best is theirs
	Bests   []Best         // with those that are stored: see Stands
	// Distrusted are workers that were found to be wrong. It is for the log: what
	// is stored of it is in the sweeps.
	Distrusted []SweepDistrust
	// Aside are workers that were set aside, for the log.
	Aside []Aside
	Acts  []Act  // for the audit log
	Token uint64 // the greatest fencing token granted; 0: unchanged
}

// Empty reports whether there is nothing to store.
func (c *Changes) Empty() bool { return c.Len() == 0 && c.Token == 0 }

// Len returns the number of records changed.
func (c *Changes) Len() int {
	return len(c.Revoked) + len(c.Sweeps) + len(c.Leases) + len(c.Results) + len(c.Void) + len(c.Bests) + len(c.Acts)
}

// most is how many records Reset keeps room for.
const most = 1 << 14

// emptied returns a slice without its elements, whose room is used again unless
// it is for very many.
func emptied[T any](a []T) []T {
	if cap(a) > most {
		return nil
	}
	clear(a)
	return a[:0]
}

// Reset empties c, which keeps the room it takes.
func (c *Changes) Reset() {
	c.Revoked, c.Sweeps, c.Leases = emptied(c.Revoked), emptied(c.Sweeps), emptied(c.Leases)
	c.Results, c.Bests, c.Token = emptied(c.Results), emptied(c.Bests), 0
	c.Void, c.Distrusted, c.Aside = emptied(c.Void), emptied(c.Distrusted), emptied(c.Aside)
	c.Acts = emptied(c.Acts)
}

// Append adds later changes to c.
func (c *Changes) Append(d *Changes) {
	for _, num := range d.Revoked {
		c.Leases = slices.DeleteFunc(c.Leases, func(l LeaseRecord) bool { return l.Sweep == num })
	}
	for _, num := range d.Void {
		c.Bests = slices.DeleteFunc(c.Bests, func(b Best) bool { return b.Sweep == num })
	}
	c.Revoked = append(c.Revoked, d.Revoked...)
	c.Void = append(c.Void, d.Void...)
	c.Distrusted = append(c.Distrusted, d.Distrusted...)
	c.Aside = append(c.Aside, d.Aside...)
	c.Acts = append(c.Acts, d.Acts...)
	c.Sweeps = append(c.Sweeps, d.Sweeps...)
	c.Leases = append(c.Leases, d.Leases...)
	c.Results = append(c.Results, d.Results...)
	c.Bests = append(c.Bests, d.Bests...)
	c.Token = max(c.Token, d.Token)
}
