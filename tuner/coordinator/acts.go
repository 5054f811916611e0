package coordinator

import (
	"context"
	"crypto/rand"
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
	if c.refusal(ctx, &a, err) {
		c.noteRefusal(ctx, a)
	}
	return err
}

// Denied records that a caller's role may not do what he wanted to, which err says, and
// does not wait for that.
func (c *Coordinator) Denied(ctx context.Context, a tuner.Act, err error) {
	if c.refusal(ctx, &a, err) {
		go c.noteRefusal(context.WithoutCancel(ctx), a)
	}
}

func (c *Coordinator) noteRefusal(ctx context.Context, a tuner.Act) {
	if err := c.Note(ctx, a); err != nil {
		c.log.Warn("a refusal could not be recorded", "what", a.What, "sweep", a.Sweep, "error", err)
	}
}

// refusal has an act say how it was refused, and reports whether that is recorded.
func (c *Coordinator) refusal(ctx context.Context, a *tuner.Act, err error) bool {
	var known *tuner.Error
	if !errors.As(err, &known) {
		return false
	}
	switch known.Kind {
	case tuner.Invalid, tuner.Conflict, tuner.Mismatch, tuner.Limit, tuner.Unauthenticated, tuner.Denied:
	default:
		return false
	}
	who := callerOf(ctx)
	told, last := c.refusals.take(who.Name+" "+who.Address, c.opts.Now())
	if !told {
		return false
	}
	a.By, a.Refused, a.Detail = who, known.Kind.String(), err.Error()
	if last {
		a.Detail = "what else is refused to this caller within a minute is not recorded; " + a.Detail
	}
	return true
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

// begin has the store note, with the first write, that the coordinator has started. Who
// only looks at a store leaves nothing of it there.
func (c *Coordinator) begin() error {
	token, _, err := c.store.Numbers()
	if err != nil {
		return err
	}
	c.incarnation = c.store.ID() + "." + rand.Text()[:16]
	c.past, err = c.store.Begin(c.incarnation, tuner.Act{
		At: c.opts.Now().UTC(), What: tuner.ActStart, Detail: fmt.Sprintf("incarnation %s, after token %d", c.incarnation, token),
	})
	c.unbegun = true
	return err
}

// Foreign records that a worker was last answered by an incarnation of this store
// that the store does not know: it is an older copy, or that was so many starts ago that
// the store has forgotten it. It does so once for each.
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
	what := "the database is an older copy, or was replaced"
	if len(c.past) >= tuner.MaxPast {
		what = fmt.Sprintf("the database is an older copy, was replaced, or has been started more than %d times since", tuner.MaxPast)
	}
	err := c.Note(ctx, tuner.Act{What: tuner.ActRestore, Worker: worker, Detail: what + ": the worker was last answered by incarnation " + name + ", which it does not know"})
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.foreign, name)
		return err
	}
	c.log.Warn(what+": a worker was last answered by a coordinator that it does not know", "worker", worker, "incarnation", name)
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
