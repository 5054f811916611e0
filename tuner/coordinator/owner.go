package coordinator

import (
	"context"
	"time"

	"github.com/warptune/warptune/tuner"
)

// A sweep is of whoever submitted it, by the name of the credential: he and admins
// steer it. Where the coordinator asks for no credential, anybody does.

// Quotas bound what the sweeps of one caller with a credential come to. Admins, and
// callers of whom no credential is asked, have none.
type Quotas struct {
	// Sweeps is the most sweeps that run or are paused; 0: 200. Negative: any number.
	Sweeps int
	// Configurations is the most that are still to be evaluated in those, but for sweeps
	// with a time budget of a day at most, which end by themselves; 0: 10^9. Negative:
	// any number.
	Configurations int64
	// BundleBytes is the most bytes of bundles that his sweeps are of, also those that
	// have ended, and that he has put; 0: 4 GiB. Negative: any number.
	BundleBytes int64
}

func (q *Quotas) fill() {
	if q.Sweeps == 0 {
		q.Sweeps = 200
	}
	if q.Configurations == 0 {
		q.Configurations = 1e9
	}
	if q.BundleBytes == 0 {
		q.BundleBytes = 4 << 30
	}
}

// may says why a caller may not do a thing to a sweep; nil: he may. Sweeps of
// programs that did not say whose they are may be steered by any submitter, but not
// deleted.
func may(ctx context.Context, what string, s *tuner.Sweep) error {
	who := callerOf(ctx)
	switch {
	case who.Anything, s.Owner != "" && s.Owner == who.Name, s.Owner == "" && what != tuner.ActDelete:
		return nil
	case s.Owner == "":
		return tuner.Errorf(tuner.Denied, what, "nobody is known to have submitted sweep %s: only an admin may %s it", s.ID, what)
	case what == tuner.ActSubmit:
		return tuner.Errorf(tuner.Denied, what, "sweep %s is %s's and is %s: ask %s or an admin to go on with it, or give something else that tells your sweep from it, a seed, say", s.ID, s.Owner, s.State, s.Owner)
	}
	return tuner.Errorf(tuner.Denied, what, "sweep %s is %s's: only %s or an admin may %s it", s.ID, s.Owner, s.Owner, what)
}

// put is a bundle that no sweep is of yet.
type put struct {
	when time.Time
	by   string // who put it, if he has a quota
}

// fitsLocked says why a caller may not have one more live sweep of so many
// configurations that are to be evaluated; nil: he may. owner is whose it will be.
// Sweeps that end by themselves within a day count as sweeps only.
func (c *Coordinator) fitsLocked(ctx context.Context, owner string, spec *tuner.Spec, configurations int64) error {
	const op = "check quotas"
	who := callerOf(ctx)
	if who.Anything || owner == "" {
		return nil
	}
	q := &c.opts.Quotas
	sweeps, left := 1, int64(0)
	add := func(s *tuner.Sweep) {
		if s.Owner != owner {
			return
		}
		sweeps++
		if !endsSoon(&s.Spec) {
			left += max(0, s.Counts.Total-s.Counts.Done-s.Counts.Abandoned)
		}
	}
	c.ledger.Each(add)
	for _, s := range c.asleepLocked() {
		add(s)
	}
	if !endsSoon(spec) {
		left += configurations
	}
	if q.Sweeps > 0 && sweeps > q.Sweeps {
		return tuner.Errorf(tuner.Limit, op, "%s has as many sweeps that run or are paused as one caller may have, %d (the coordinator's --max-caller-sweeps): wait until one has ended, or cancel one", owner, q.Sweeps)
	}
	if q.Configurations > 0 && left > q.Configurations {
		return tuner.Errorf(tuner.Limit, op, "%s would have %d configurations to be evaluated, and one caller may have %d (the coordinator's --max-caller-configurations): give a --budget, restrict parameters, or cancel sweeps", owner, left, q.Configurations)
	}
	return c.storableLocked(owner, spec.Bundle, spec.Descriptor, spec.Predictions)
}

// endsSoon reports whether a sweep ends by itself whatever it has left to evaluate.
func endsSoon(spec *tuner.Spec) bool {
	return spec.TimeBudget > 0 && spec.TimeBudget <= 24*time.Hour
}

// asleepLocked returns the sweeps that the ledger awaits.
func (c *Coordinator) asleepLocked() []*tuner.Sweep {
	if c.ledger.Awaiting() == 0 {
		return nil
	}
	var all []*tuner.Sweep
	c.board.each(func(s *tuner.Sweep) {
		if c.ledger.Awaited(s.Num) {
			all = append(all, s)
		}
	})
	return all
}

// storableLocked says why a caller's bundles would take too much with those of some
// digests; nil: they do not.
func (c *Coordinator) storableLocked(owner string, digests ...string) error {
	if c.opts.Quotas.BundleBytes < 0 {
		return nil
	}
	of := map[string]bool{}
	add := func(s *tuner.Sweep) {
		if s.Owner == owner {
			of[s.Spec.Bundle], of[s.Spec.Descriptor], of[s.Spec.Predictions] = true, true, true
		}
	}
	c.board.each(add)
	c.ledger.Each(add)
	for digest, p := range c.fresh {
		if p.by == owner {
			of[digest] = true
		}
	}
	for _, digest := range digests {
		of[digest] = true
	}
	bytes := int64(0)
	for digest := range of {
		bytes += c.sizes[digest] // "" has none
	}
	if bytes > c.opts.Quotas.BundleBytes {
		return tuner.Errorf(tuner.Limit, "check quotas", "%s's kernel bundles would take %d bytes, and those of one caller may take %d (the coordinator's --max-caller-bundles): delete sweeps that have ended (\"warptune sweep delete\")", owner, bytes, c.opts.Quotas.BundleBytes)
	}
	return nil
}

// receiveLocked notes that a bundle is about to be stored, or says why it may not be.
// undo takes back what it noted of one that was not stored before.
func (c *Coordinator) receiveLocked(ctx context.Context, digest string, size int64) (undo func(), err error) {
	owner := ""
	if who := callerOf(ctx); !who.Anything {
		owner = who.Name
	}
	_, stored := c.sizes[digest]
	_, fresh := c.fresh[digest]
	c.sizes[digest] = size
	if owner != "" {
		if err := c.storableLocked(owner, digest); err != nil {
			if !stored {
				delete(c.sizes, digest)
			}
			return nil, err
		}
	}
	c.fresh[digest] = put{c.opts.Now(), owner}
	return func() {
		if !stored {
			delete(c.sizes, digest)
		}
		if !fresh {
			delete(c.fresh, digest)
		}
	}, nil
}
