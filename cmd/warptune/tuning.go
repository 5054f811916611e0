package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/pagesource"
	"github.com/warptune/warptune/tuner/rpc"
)

// tuning is one call of tune.
type tuning struct {
	*app
	plan  *plan
	conn  *connection
	slots int
	top   int
	plots bool
	page  string // where to serve the page; "": nowhere
	// accepted says that the definition may have changed since a sweep was begun that is unfinished.
	accepted bool

	shown int // sweeps that are printed already
	docs  []*tunedDocument
}

// run tunes with whoever has the database: this process, or another one, whose coordinator it then joins with a worker
// of its own. Where that one ends first, this goes on with the database itself.
func (t *tuning) run(ctx context.Context) (err error) {
	t.conn.embed = cluster.EmbedOptions{Create: true, Sweeps: t.plan.ids()}
	r := &reach{connection: t.conn, ctx: ctx}
	interrupted := false
	defer func() {
		if e := r.close(); e != nil && !interrupted { // what went wrong in a coordinator of our own is the cause
			err = e
		}
	}()
	var page func(error) error
	if t.page != "" {
		if page, err = t.servePageBeside(ctx, r); err != nil {
			return err
		}
	}
	err = t.tuned(ctx, r)
	if interrupted = ctx.Err() != nil; interrupted {
		err = errors.New("interrupted: what was evaluated is stored, and the same command resumes")
	}
	if page != nil {
		err = page(err)
	}
	return err
}

func (t *tuning) tuned(ctx context.Context, r *reach) error {
	for {
		c, err := r.client()
		if err == nil {
			err = t.tune(ctx, c)
		}
		if err == nil || ctx.Err() != nil || c == nil || !c.beside || !rpc.Unreachable(err) {
			return t.conn.remote(err)
		}
		r.drop(c)
		fmt.Fprintln(t.stderr, "warptune: the process that had the database has ended; going on")
	}
}

// servePageBeside serves the page while it tunes. What it returns waits until somebody interrupts, and returns the error
// that it is given.
func (t *tuning) servePageBeside(ctx context.Context, r *reach) (func(error) error, error) {
	l, err := listenPage(t.page)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- t.servePage(ctx, l, pagesource.New(r.name(), r.with)) }()
	return func(err error) error {
		if ctx.Err() == nil {
			fmt.Fprintln(t.stderr, "warptune: the page stays until you interrupt")
		}
		return cmp.Or(err, <-ended)
	}, nil
}

// tune submits the plan, evaluates it on this machine unless the coordinator is elsewhere, follows it, and prints what
// it found.
func (t *tuning) tune(ctx context.Context, c *client) error {
	if err := t.accept(ctx, c); err != nil {
		return err
	}
	answers, err := submit(ctx, c, t.plan)
	if err != nil {
		return err
	}
	ctx, fault := context.WithCancelCause(ctx)
	defer fault(nil)
	if err := t.work(ctx, c, answers, fault); err != nil {
		return err
	}
	var failed error
	sweeps := make([]*warptunev1.Sweep, len(answers))
	for i, r := range answers {
		sweep, err := t.watch(ctx, c, r.GetSweep().GetId())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			return err
		}
		sweeps[i] = sweep
		if i < t.shown {
			continue
		}
		if i > 0 && !t.json {
			fmt.Fprintln(t.stdout)
		}
		err = t.print(ctx, c, i, sweep)
		if few := (incompleteError{}); errors.As(err, &few) {
			failed = cmp.Or(failed, err)
		} else if err != nil {
			return err
		}
		t.shown++
		failed = cmp.Or(failed, unfinished(sweep), incompleteSweep(sweep))
	}
	if t.json {
		if err := t.printTunedJSON(t.docs); err != nil {
			return err
		}
	}
	if (c.embedded != nil || c.beside) && failed == nil {
		t.printSource(answers, sweeps)
	}
	return failed
}

// print prints what a sweep found.
func (t *tuning) print(ctx context.Context, c *client, i int, sweep *warptunev1.Sweep) error {
	err := t.printTuned(ctx, c, t.plan, i, sweep, t.top, &t.docs)
	if few := (incompleteError{}); t.plots && !t.json && (err == nil || errors.As(err, &few)) {
		err = cmp.Or(t.plot(ctx, c, sweep, ""), err)
	}
	return err
}

// unfinished says that a sweep has not completed, or that nothing of it is valid.
func unfinished(sweep *warptunev1.Sweep) error {
	if sweep.GetState() != warptunev1.SweepState_SWEEP_STATE_COMPLETED {
		return fmt.Errorf("sweep %s is %s: %s", shortID(sweep.GetId()), stateName(sweep.GetState()), sweep.GetMessage())
	}
	if sweep.GetBest() != nil {
		return nil
	}
	which := "no configuration"
	if n := sweep.GetCounts(); n.GetDone() < n.GetSpace() {
		which = fmt.Sprintf("none of the %d configurations evaluated", n.GetDone())
	}
	return fmt.Errorf("%s of %s is valid on %s: see the examples above", which, sweep.GetSpec().GetKernel(), sweep.GetSpec().GetArch())
}

// work starts evaluating those of the answered sweeps that have not ended. What this machine lacks for it is said before
// anything is evaluated.
func (t *tuning) work(ctx context.Context, c *client, answers []*warptunev1.SubmitResponse, fault func(error)) error {
	if c.embedded == nil && !c.beside {
		return nil
	}
	for i, r := range answers {
		if ended(r.GetSweep()) {
			continue
		}
		spec := rpc.ToSpec(t.plan.specs[i])
		if err := cluster.Ready(ctx, t.plan.of[i].def, t.plan.of[i].arch.Descriptor, &spec); err != nil {
			return err
		}
		if n := r.GetSweep().GetCounts(); n.GetDone() > 0 && !r.GetCreated() {
			fmt.Fprintf(t.stderr, "warptune: resuming: %d of %d configurations of %s on %s are done\n", n.GetDone(), n.GetTotal(), spec.Kernel, spec.Arch)
		}
		if err := c.work(t.conn.path(), t.slots, fault); err != nil {
			return err
		}
	}
	return nil
}
