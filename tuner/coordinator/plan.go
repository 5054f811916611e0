package coordinator

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/warptune/warptune/tuner"
)

// plannings is how many plans are made at a time, so that specs whose conditions
// take long leave processors for everybody else.
func plannings() int { return max(1, runtime.NumCPU()/2) }

// plan makes a spec's plan outside the lock, when its turn has come, for as long as
// the caller is there, the coordinator is not to end, and budget is not spent; 0:
// there is none.
func (c *Coordinator) plan(ctx context.Context, spec tuner.Spec, budget time.Duration) (tuner.Plan, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.opts.Context, func() { cancel(errStopped) })()
	select {
	case c.planning <- struct{}{}:
		defer func() { <-c.planning }()
	case <-ctx.Done():
		return tuner.Plan{}, context.Cause(ctx)
	}
	if budget > 0 {
		spent := tuner.Errorf(tuner.Limit, "plan sweep of "+spec.Kernel, "solving its conditions takes longer than %v: "+
			"restrict parameters, give them fewer values, or declare those of the same conditions next to one another", budget)
		timer := time.AfterFunc(budget, func() { cancel(spent) })
		defer timer.Stop()
	}
	return c.makePlan(ctx, spec)
}

// makePlan makes a spec's plan from its stored files.
func (c *Coordinator) makePlan(ctx context.Context, spec tuner.Spec) (tuner.Plan, error) {
	op := "plan sweep of " + spec.Kernel
	files, err := c.files(&spec)
	if err != nil {
		return tuner.Plan{}, err
	}
	plan, err := c.opts.Planner.Plan(ctx, spec, files)
	if err != nil && ctx.Err() != nil {
		return plan, ended(ctx, op)
	} else if err != nil {
		return plan, tuner.Errorf(tuner.Invalid, op, "%w", err)
	}
	switch size := plan.Space.Size(); {
	case size == 0:
		return plan, tuner.Errorf(tuner.Invalid, op, "no configuration meets the constraints and restrictions")
	case size > c.opts.MaxSpace:
		return plan, tuner.Errorf(tuner.Limit, op, "the space has %d configurations, more than %d: restrict parameters", size, c.opts.MaxSpace)
	}
	return plan, nil
}

// ended says why a context has ended before a plan was made: nothing is wrong with
// the spec unless the cause says so.
func ended(ctx context.Context, op string) error {
	var known *tuner.Error
	if cause := context.Cause(ctx); errors.As(cause, &known) {
		return cause
	}
	return &tuner.Error{Kind: tuner.Unavailable, Op: op, Err: context.Cause(ctx)}
}

// files reads what a spec names by digest.
func (c *Coordinator) files(spec *tuner.Spec) (files tuner.Files, err error) {
	for _, f := range []struct {
		digest string
		text   *[]byte
	}{{spec.Bundle, &files.Bundle}, {spec.Descriptor, &files.Descriptor}, {spec.Predictions, &files.Predictions}} {
		if f.digest == "" && f.text != &files.Bundle {
			continue
		}
		if *f.text, err = c.store.Bundle(f.digest); err != nil {
			return files, err
		}
	}
	return files, nil
}
