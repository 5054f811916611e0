package coordinator

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// loadLocked makes the ledger anew from what is stored.
func (c *Coordinator) loadLocked() error {
	token, last, err := c.store.Numbers()
	if err != nil {
		return err
	}
	sweeps, lost, err := c.store.SalvageSweeps()
	if err != nil {
		return err
	}
	if len(lost) > 0 && !c.opts.Salvage {
		return damagedError(lost)
	}
	c.damaged.Store(&lost)
	if c.sizes, err = c.store.BundleSizes(); err != nil {
		return err
	}
	opts := c.opts.Ledger
	opts.Token = token
	ledger := tuner.NewLedger(opts)
	ledger.Enter(c.opts.Now())
	c.ledger, c.lastNum, c.again, c.doomed, c.asleep, c.woken = ledger, last, true, nil, nil, make(chan struct{})
	c.scopes, c.spaces, c.replaced = map[string]int{}, map[uint64]tuner.Space{}, map[string][]uint64{}
	c.dormant = map[string]tuner.Sweep{}
	live := map[string]bool{}
	for i := range sweeps {
		s := &sweeps[i]
		c.count(&s.Spec, 1)
		live[s.ID] = live[s.ID] || s.State.Live()
		for _, d := range s.Distrusted {
			ledger.NoteDistrust(d)
		}
	}
	if err := c.countOrphans(sweeps); err != nil {
		return err
	}
	// What is shown of a live sweep is newer than its record.
	c.board.put(slices.DeleteFunc(slices.Clone(sweeps), func(s tuner.Sweep) bool {
		_, shown := c.board.number(s.Num)
		return shown && s.State.Live()
	}))
	for i := range sweeps {
		s := &sweeps[i]
		switch {
		case c.opts.Dormant != nil && c.opts.Dormant(s.ID) && !c.risen[s.ID]:
			if s.State.Live() {
				c.dormant[s.ID] = *s
			}
		case s.State == tuner.Deleting && live[s.ID]: // it has started over
			c.replaced[s.ID] = append(c.replaced[s.ID], s.Num)
		case s.State == tuner.Deleting:
			c.doomed = append(c.doomed, s.Num)
		case s.State.Live():
			if err := c.restoreLocked(*s); err != nil {
				if kind := tuner.KindOf(err); kind == tuner.Unavailable || kind == tuner.DiskFull {
					return err
				}
				c.log.Error("sweep cannot go on", "sweep", s.ID, "error", err)
				ledger.Fail(*s, err.Error())
			}
		default:
			ledger.NoteEnded(s.Num, s.State)
			if s.Incomplete() {
				ledger.NoteIncomplete(*s)
			}
		}
	}
	c.board.put(ledger.Shown())
	return nil
}

// damagedError names sweeps whose records are damaged.
func damagedError(nums []uint64) error {
	return tuner.Errorf(tuner.Damaged, "read sweeps", "the records of sweeps number %s are damaged; \"warptune doctor\" looks through the database, \"warptune export --db\" saves what is whole of it, and a backup has it all", strings.Trim(fmt.Sprint(nums), "[]"))
}

// Damaged returns the numbers of the sweeps whose records are damaged, and which are
// therefore not listed. It waits for nobody.
func (c *Coordinator) Damaged() []uint64 { return slices.Clone(*c.damaged.Load()) }

// restoreLocked puts a stored sweep back into the ledger.
func (c *Coordinator) restoreLocked(s tuner.Sweep) error {
	plan, err := c.makePlan(c.opts.Context, s.Planned())
	if err != nil {
		return err
	}
	return c.restorePlannedLocked(s, plan)
}

func (c *Coordinator) restorePlannedLocked(s tuner.Sweep, plan tuner.Plan) error {
	leases, err := c.store.Leases(s.Num)
	if err != nil {
		return err
	}
	for i := range leases {
		if leases[i].Held && c.opts.Alone {
			leases[i].Orphan(c.orphans == 1)
		}
	}
	c.spaces[s.Num] = plan.Space
	stored := tuner.Restored{
		Sweep: s, Plan: plan, Known: c.known(&s.Spec, s.ID), Results: results(c.store, s.Num, 0), Leases: leases,
		Draws: c.opts.Ledger.Draws,
	}
	if long, err := c.long(&s); err != nil {
		return err
	} else if long {
		c.ledger.Await(s.Num)
		c.asleep = append(c.asleep, &sleeper{stored, c.ledger})
		select {
		case c.rouse <- struct{}{}:
		default:
		}
		return nil
	}
	return c.ledger.Restore(stored)
}

// countOrphans counts the leases of workers that ended with the coordinator.
func (c *Coordinator) countOrphans(sweeps []tuner.Sweep) error {
	c.orphans = 0
	for i := range sweeps {
		if !c.opts.Alone || !sweeps[i].State.Live() {
			continue
		}
		leases, err := c.store.Leases(sweeps[i].Num)
		if err != nil {
			return err
		}
		for _, l := range leases {
			if l.Held {
				c.orphans++
			}
		}
	}
	return nil
}

// count notes that n more sweeps have the scopes of a spec.
func (c *Coordinator) count(spec *tuner.Spec, n int) {
	for _, scope := range spec.Scopes() {
		c.scopes[scope] += n
	}
}

// known is what a ledger finds stored outcomes of a spec's scopes by, for the
// sweep of an identity. It is used under the lock.
type known struct {
	c      *Coordinator
	id     string
	scopes []string
}

func (c *Coordinator) known(spec *tuner.Spec, id string) tuner.Known {
	return &known{c, id, spec.Scopes()}
}

// Any is in tuner.Known.
func (k *known) Any() bool {
	for _, scope := range k.scopes {
		if k.c.scopes[scope] > 1 {
			return true
		}
	}
	return false
}

// Find is in tuner.Known.
func (k *known) Find(key []byte) (tuner.Answer, bool) {
	a, found, err := k.c.store.Answer(key)
	if err != nil {
		k.c.log.Error("a stored outcome could not be read and is evaluated anew", "error", err)
		return tuner.Answer{}, false
	}
	if !found || k.c.ledger.Distrusts(a.Result.Worker) {
		return tuner.Answer{}, false
	}
	return tuner.Answer{Result: a.Result, Own: k.c.board.id(a.Sweep) == k.id}, true
}

// results returns a sweep's results from trial seq on, in the order of trials. They are
// read ahead, on as many processors as there are: reading one costs several times what
// the ledger does with it.
func results(st store.Store, num uint64, seq int64) iter.Seq2[tuner.Result, error] {
	type page struct {
		rows []tuner.Result // of the PageLimit trials from the first on
		last bool           // there are none beyond
		err  error
	}
	read := func(first int64) <-chan page {
		out := make(chan page, 1) // who reads ends, whether or not anybody takes it
		go func() {
			rows, err := st.Results(num, first, store.PageLimit)
			p := page{last: len(rows) == 0, err: err}
			p.rows = slices.DeleteFunc(rows, func(r tuner.Result) bool { return r.Seq >= first+store.PageLimit })
			out <- p
		}()
		return out
	}
	return func(yield func(tuner.Result, error) bool) {
		var ahead []<-chan page
		for {
			for len(ahead) < runtime.GOMAXPROCS(0) {
				ahead = append(ahead, read(seq))
				seq += store.PageLimit
			}
			p := <-ahead[0]
			ahead = ahead[1:]
			if p.err != nil {
				yield(tuner.Result{}, p.err)
				return
			}
			for i := range p.rows {
				if !yield(p.rows[i], nil) {
					return
				}
			}
			if p.last {
				return
			}
		}
	}
}
