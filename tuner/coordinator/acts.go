package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/warptune/warptune/tuner"
)

// callerKey is the key of a caller in a context.
type callerKey struct{}

// WithCaller returns a context in which somebody calls: acts are recorded as his,
// and what he may is looked at. Without one the coordinator's own process calls.
func WithCaller(ctx context.Context, who tuner.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// callerOf returns who calls; nobody in particular may do anything.
func callerOf(ctx context.Context) *tuner.Caller {
	who, ok := ctx.Value(callerKey{}).(tuner.Caller)
	if !ok {
		who.Anything = true
	}
	return &who
}

// act is what a caller does to a sweep.
func act(ctx context.Context, what string, s *tuner.Sweep, detail string) tuner.Act {
	return tuner.Act{By: callerOf(ctx), What: what, Sweep: s.ID, Number: s.Num, Owner: s.Owner, Detail: detail}
}

// Note records what concerns the store as a whole: a backup, say. It returns when
// that is durable.
func (c *Coordinator) Note(ctx context.Context, a tuner.Act) error {
	return c.change(ctx, func(l *tuner.Ledger) error {
		l.Note(a)
		return nil
	})
}

// Acts returns up to limit acts of the audit log with numbers below before (0: from
// the newest), newest first, and the numbers of those that are damaged.
func (c *Coordinator) Acts(_ context.Context, before uint64, limit int) (page []tuner.Act, lost []uint64, err error) {
	return c.store.Acts(before, limit)
}

// refused records that what a caller wanted to do was refused, and returns err.
// Faults of the coordinator's are none, and of one caller only some a minute are
// recorded, so that nobody fills the log with them.
func (c *Coordinator) refused(ctx context.Context, a tuner.Act, err error) error {
	var known *tuner.Error
	if !errors.As(err, &known) {
		return err
	}
	switch known.Kind {
	case tuner.Invalid, tuner.Conflict, tuner.Mismatch, tuner.Limit, tuner.Unauthenticated, tuner.Denied:
	default:
		return err
	}
	who := callerOf(ctx)
	told, last := c.refusals.take(who.Name+" "+who.Address, c.opts.Now())
	if !told {
		return err
	}
	a.By, a.Refused, a.Detail = who, known.Kind.String(), err.Error()
	if last {
		a.Detail = "what else is refused to this caller within a minute is not recorded; " + a.Detail
	}
	if e := c.Note(ctx, a); e != nil {
		c.log.Warn("a refusal could not be recorded", "what", a.What, "sweep", a.Sweep, "error", e)
	}
	return err
}

// mostRefusals is how many refusals of one caller are recorded a minute.
const mostRefusals = 20

// refusals counts those of the last minute.
type refusals struct {
	mu    sync.Mutex
	since time.Time
	of    map[string]int // by caller
}

// take counts one of a caller and reports whether it is recorded, and is the last
// one that is.
func (r *refusals) take(caller string, now time.Time) (told, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil || now.Sub(r.since) >= time.Minute || now.Before(r.since) || len(r.of) > 10000 {
		r.since, r.of = now, map[string]int{}
	}
	r.of[caller]++
	n := r.of[caller]
	return n <= mostRefusals, n == mostRefusals
}

// sayLocked records what is unsaid with the next change, which there is then.
func (c *Coordinator) sayLocked() {
	for _, a := range c.unsaid {
		c.ledger.Note(a)
	}
	c.unsaid = nil
}

// begunLocked is the act of starting. Who only looks at a store leaves none in it.
func (c *Coordinator) begunLocked() {
	token, _, _ := c.store.Numbers()
	c.unsaid = append(c.unsaid, tuner.Act{
		At: c.opts.Now().UTC(), What: tuner.ActStart, Detail: fmt.Sprintf("incarnation %s, after token %d", c.incarnation, token),
	})
}

// Foreign records that a worker was last answered by an incarnation of this store
// that the store does not know: it is an older copy. It does so once for each.
func (c *Coordinator) Foreign(ctx context.Context, worker, name string) error {
	c.mu.Lock()
	known := !strings.HasPrefix(name, c.store.ID()+".") || len(name) != len(c.incarnation) || name == c.incarnation
	for i := range c.past {
		known = known || c.past[i].Name == name
	}
	known = known || c.foreign[name] || len(c.foreign) >= tuner.MaxPast
	if !known {
		c.foreign[name] = true
	}
	c.mu.Unlock()
	if known {
		return nil
	}
	err := c.Note(ctx, tuner.Act{What: tuner.ActRestore, Worker: worker, Detail: "the database is an older copy, or was replaced: the worker was last answered by incarnation " + name + ", which it does not know"})
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.foreign, name)
		return err
	}
	c.log.Warn("the database is an older copy: a worker was last answered by a coordinator that it does not know", "worker", worker, "incarnation", name)
	return nil
}

// logActs logs what callers did, once it is durable.
func (c *Coordinator) logActs(acts []tuner.Act) {
	for i := range acts {
		a := &acts[i]
		if a.By == nil {
			continue
		}
		c.log.Info("audit", "what", a.What, "sweep", a.Sweep, "caller", a.By.Name, "role", a.By.Role, "peer", a.By.Address, "refused", a.Refused, "detail", a.Detail)
	}
}
