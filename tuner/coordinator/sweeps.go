package coordinator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/warptune/warptune/tuner"
)

// Submitted is the answer to Submit.
type Submitted struct {
	Sweep   tuner.Sweep
	Created bool // by this call
	Resumed bool // it was paused, cancelled or failed, and runs again
}

// PutBundle stores a kernel bundle under its digest, the SHA-256 of content in
// hexadecimal.
func (c *Coordinator) PutBundle(ctx context.Context, digest string, content []byte) error {
	const op = "put bundle"
	if len(content) > c.opts.MaxBundle {
		return tuner.Errorf(tuner.Limit, op, "it has %d bytes, more than %d", len(content), c.opts.MaxBundle)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != digest {
		return tuner.Errorf(tuner.Invalid, op, "the content has the digest %x, not %q", sum, digest)
	}
	if err := c.Healthy(); err != nil {
		return err
	}
	did := tuner.Act{By: callerOf(ctx), What: tuner.ActPutBundle, Detail: fmt.Sprintf("%s, %d bytes", digest, len(content))}
	c.putting.Lock()
	defer c.putting.Unlock()
	c.submitting.RLock()
	defer c.submitting.RUnlock()
	c.mu.Lock()
	undo, err := c.receiveLocked(ctx, digest, int64(len(content)))
	did = c.ledger.Dated(did)
	c.mu.Unlock()
	if err != nil {
		return c.refused(ctx, did, err)
	}
	added, err := c.store.PutBundle(digest, content, did)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		undo()
		return err
	}
	if added {
		c.logActs([]tuner.Act{did})
	}
	return nil
}

// HasBundle reports whether a bundle is stored.
func (c *Coordinator) HasBundle(digest string) bool {
	_, release, err := c.lent.take(digest, c.store.Bundle)
	if err == nil {
		release()
	}
	return err == nil
}

// Bundle returns a bundle's content, which all who have it at a time share; call
// release when it is of no use any more.
func (c *Coordinator) Bundle(_ context.Context, digest string) (content []byte, release func(), err error) {
	return c.lent.take(digest, c.store.Bundle)
}

// Descriptor returns the text of the architecture descriptor that came with a sweep,
// nil if none did.
func (c *Coordinator) Descriptor(ctx context.Context, id string) ([]byte, error) {
	s, _, err := c.board.find(id)
	if err != nil || s.Spec.Descriptor == "" {
		return nil, err
	}
	return c.store.Bundle(s.Spec.Descriptor)
}

// Submit starts the sweep of a spec and key, or goes on with it, or answers
// that it has completed.
func (c *Coordinator) Submit(ctx context.Context, spec tuner.Spec, key string) (Submitted, error) {
	if err := spec.Validate(); err != nil {
		return Submitted{}, err
	}
	if len(key) > 256 {
		return Submitted{}, tuner.Errorf(tuner.Invalid, "submit sweep", "the key is longer than 256 bytes")
	}
	return c.submitAs(ctx, tuner.ActSubmit, spec, key)
}

// submitAs is Submit that is recorded as what is given.
func (c *Coordinator) submitAs(ctx context.Context, what string, spec tuner.Spec, key string) (Submitted, error) {
	id := spec.ID(key)
	out, err := c.submit(ctx, what, spec, key, id)
	return out, c.refused(ctx, tuner.Act{What: what, Sweep: id}, err)
}

// submit is submitAs of what has the identity given.
func (c *Coordinator) submit(ctx context.Context, what string, spec tuner.Spec, key, id string) (Submitted, error) {
	if err := c.rise(ctx, id); err != nil {
		return Submitted{}, err
	}
	if s, ok := c.board.get(id); ok && (s.State == tuner.Running || s.State == tuner.Completed) {
		return Submitted{Sweep: s}, nil
	}
	if s, ok := c.board.get(id); ok && s.State != tuner.Deleting {
		if err := may(ctx, what, &s); err != nil {
			return Submitted{}, err
		}
		if err := c.awake(ctx, s.Num); err != nil {
			return Submitted{}, err
		}
	}
	if lost := c.Damaged(); len(lost) > 0 {
		return Submitted{}, damagedError(lost)
	}
	c.submitting.RLock()
	defer c.submitting.RUnlock()
	planned := tuner.Sweep{Spec: spec, Transferred: c.transferred(ctx, &spec, id)}
	plan, err := c.plan(ctx, planned.Planned(), c.opts.PlanTime)
	if err != nil {
		return Submitted{}, err
	}
	if plan.Refusal != nil {
		return Submitted{}, tuner.Errorf(tuner.Invalid, "submit sweep", "%w", plan.Refusal)
	}
	var out Submitted
	again := false
	err = c.change(ctx, func(l *tuner.Ledger) error {
		if s, ok := c.liveLocked(id); ok {
			if out.Resumed = s.State == tuner.Paused; !out.Resumed {
				return nil
			}
			err := may(ctx, what, &s)
			if err == nil {
				err = l.Steer(s.Num, tuner.Running)
			}
			if err == nil {
				l.Note(act(ctx, what, &s, "resumed"))
			}
			return err
		}
		if again = c.underWayLocked(id); again {
			return nil
		}
		if s, ok := c.board.get(id); ok {
			if !s.State.CanBecome(tuner.Running) {
				return tuner.Errorf(tuner.Conflict, "submit sweep", "the same sweep %s is %s: try again later", id, s.State)
			}
			if err := cmp.Or(may(ctx, what, &s), c.fitsLocked(ctx, s.Owner, &spec, trials(&spec, plan)-s.Counts.Done)); err != nil {
				return err
			}
			out.Resumed = true
			l.Note(act(ctx, what, &s, "resumed, was "+s.State.String()))
			return c.reviveLocked(s, plan)
		}
		if len(l.Live())+l.Awaiting() >= c.opts.MaxLive {
			return tuner.Errorf(tuner.Limit, "submit sweep", "%d sweeps are live, as many as may be: cancel some", c.opts.MaxLive)
		}
		if err := c.fitsLocked(ctx, callerOf(ctx).Name, &spec, trials(&spec, plan)); err != nil {
			return err
		}
		out.Created = true
		c.addLocked(ctx, id, key, planned, plan)
		return nil
	})
	if err != nil {
		return Submitted{}, err
	}
	if again { // how it ended is shown now
		return c.submit(ctx, what, spec, key, id)
	}
	out.Sweep, _ = c.board.get(id)
	return out, nil
}

// trials is how many configurations a sweep will evaluate at most, or nearly so.
func trials(spec *tuner.Spec, plan tuner.Plan) int64 {
	if spec.Budget > 0 {
		return min(spec.Budget, plan.Space.Size())
	}
	return plan.Space.Size()
}

// underWayLocked reports whether what is being stored has a sweep with an
// identity: one that is not live has ended then, in a way that is not shown yet.
func (c *Coordinator) underWayLocked(id string) bool {
	has := func(g *group) bool {
		return g != nil && slices.ContainsFunc(g.changes.Sweeps, func(s tuner.Sweep) bool { return s.ID == id })
	}
	return has(c.flying) || has(c.pending) || slices.ContainsFunc(c.full, has)
}

// liveLocked returns the live sweep with an identity, also one that is not
// shown yet.
func (c *Coordinator) liveLocked(id string) (tuner.Sweep, bool) {
	for _, num := range c.ledger.Live() {
		if s, ok := c.ledger.Sweep(num); ok && s.ID == id {
			return s, true
		}
	}
	return tuner.Sweep{}, false
}

func (c *Coordinator) addLocked(ctx context.Context, id, key string, planned tuner.Sweep, plan tuner.Plan) {
	c.lastNum++
	delete(c.fresh, planned.Spec.Bundle)
	delete(c.fresh, planned.Spec.Descriptor)
	delete(c.fresh, planned.Spec.Predictions)
	c.count(&planned.Spec, 1)
	c.spaces[c.lastNum] = plan.Space
	s := tuner.Sweep{
		Num: c.lastNum, ID: id, Key: key, Owner: callerOf(ctx).Name, Spec: planned.Spec.Clone(), Transferred: planned.Transferred, Window: plan.Window, Names: plan.Names,
		Submitted: c.opts.Now(),
	}
	c.ledger.Note(act(ctx, tuner.ActSubmit, &s, fmt.Sprintf("%s on %s, %d configurations", s.Spec.Kernel, s.Spec.Arch, plan.Space.Size())))
	c.ledger.Add(s, plan, c.known(&planned.Spec, id))
}

// reviveLocked sets a cancelled or failed sweep running again.
func (c *Coordinator) reviveLocked(s tuner.Sweep, plan tuner.Plan) error {
	if c.ledger.Awaited(s.Num) {
		return tuner.Errorf(tuner.Unavailable, "submit sweep", "%s is being read again after a start: try again", s.ID)
	}
	s.State, s.Message = tuner.Running, ""
	c.spaces[s.Num] = plan.Space
	err := c.ledger.Restore(tuner.Restored{
		Sweep: s, Plan: plan, Known: c.known(&s.Spec, s.ID), Results: results(c.store, s.Num, 0),
	})
	if err != nil {
		return err
	}
	return c.ledger.Revive(s.Num)
}

// Steer pauses (tuner.Paused), resumes (tuner.Running) or cancels
// (tuner.Cancelled) a sweep.
func (c *Coordinator) Steer(ctx context.Context, id string, to tuner.SweepState) (tuner.Sweep, error) {
	what := steers[to]
	s, err := c.steer(ctx, what, id, to)
	return s, c.refused(ctx, tuner.Act{What: what, Sweep: cmp.Or(s.ID, id), Number: s.Num, Owner: s.Owner}, err)
}

// steers are the acts that move a sweep to states.
var steers = map[tuner.SweepState]string{tuner.Paused: tuner.ActPause, tuner.Running: tuner.ActResume, tuner.Cancelled: tuner.ActCancel}

func (c *Coordinator) steer(ctx context.Context, what, id string, to tuner.SweepState) (tuner.Sweep, error) {
	s, _, err := c.board.find(id)
	if err == nil {
		err = c.rise(ctx, s.ID)
	}
	if err == nil {
		err = c.awake(ctx, s.Num)
	}
	if err == nil {
		s, _, err = c.board.find(s.ID)
	}
	if err != nil {
		return s, err
	}
	if s.State == to {
		return s, nil
	}
	if err := may(ctx, what, &s); err != nil {
		return s, err
	}
	if !s.State.Live() {
		if to == tuner.Running && s.State.CanBecome(tuner.Running) {
			out, err := c.submit(ctx, what, s.Spec, s.Key, s.ID)
			return out.Sweep, err
		}
		return s, tuner.Errorf(tuner.Conflict, "steer sweep "+s.ID, "it is %s and cannot become %s", s.State, to)
	}
	err = c.change(ctx, func(l *tuner.Ledger) error {
		now, _ := l.Sweep(s.Num)
		err := l.Steer(s.Num, to)
		if err == nil && now.State != to {
			l.Note(act(ctx, what, &s, ""))
		}
		return err
	})
	now, _, found := c.board.find(s.ID)
	switch {
	case tuner.KindOf(err) == tuner.NotFound && found == nil && now.State != s.State: // it has ended meanwhile
		return c.steer(ctx, what, s.ID, to)
	case err != nil:
		return s, err
	}
	return now, found
}

// Delete removes an ended sweep with its results. It returns when the sweep is
// marked; its results go bit by bit.
func (c *Coordinator) Delete(ctx context.Context, id string) error {
	s, err := c.delete(ctx, id)
	return c.refused(ctx, tuner.Act{What: tuner.ActDelete, Sweep: cmp.Or(s.ID, id), Number: s.Num, Owner: s.Owner}, err)
}

func (c *Coordinator) delete(ctx context.Context, id string) (tuner.Sweep, error) {
	s, _, err := c.board.find(id)
	if err != nil || s.State == tuner.Deleting {
		return s, err
	}
	if err := may(ctx, tuner.ActDelete, &s); err != nil {
		return s, err
	}
	return s, c.change(ctx, func(l *tuner.Ledger) error {
		if slices.Contains(c.doomed, s.Num) { // by somebody else, just now
			return nil
		}
		if err := l.Delete(s); err != nil {
			return err
		}
		l.Note(act(ctx, tuner.ActDelete, &s, fmt.Sprintf("%s on %s, %d results", s.Spec.Kernel, s.Spec.Arch, s.Counts.Done)))
		c.doomed = append(c.doomed, s.Num)
		c.count(&s.Spec, -1)
		delete(c.spaces, s.Num)
		return nil
	})
}

// Sweep returns a sweep's state; id may be a prefix that is unique.
func (c *Coordinator) Sweep(_ context.Context, id string) (tuner.Sweep, error) {
	s, _, err := c.board.find(id)
	return s, err
}

// Sweeps returns all sweeps, newest first.
func (c *Coordinator) Sweeps(context.Context) []tuner.Sweep { return c.board.all() }

// Before calls f for each sweep with a number below num, newest first, until it
// answers false. f must be quick, and not keep what it is given.
func (c *Coordinator) Before(_ context.Context, num uint64, f func(*tuner.Sweep) bool) {
	c.board.before(num, f)
}

// Watch returns a sweep's state once it has changed since version, which was
// returned by the call before; 0: at once. While the disk is full it returns
// that error instead of waiting.
func (c *Coordinator) Watch(ctx context.Context, id string, version uint64) (tuner.Sweep, uint64, error) {
	for {
		next, open := c.board.next()
		s, v, err := c.board.find(id)
		if err != nil || v != version {
			return s, v, err
		}
		if !open {
			return s, v, errStopped
		}
		if err := c.Healthy(); tuner.KindOf(err) == tuner.DiskFull {
			return s, v, err
		}
		select {
		case <-next:
		case <-ctx.Done():
			return s, v, ctx.Err()
		}
	}
}
