package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/pagesource"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/livepage"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/cmd/warptune/internal/sweep"
	"github.com/warptune/warptune/tuner/rpc"
)

// tuning is one call of tune.
type tuning struct {
	*cli.App
	plan  *plan.Plan
	conn  *connect.Connection
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
	t.conn.Embed = cluster.EmbedOptions{Create: true, Sweeps: t.plan.IDs()}
	r := &livepage.Reach{Connection: t.conn, Ctx: ctx}
	interrupted := false
	defer func() {
		if e := r.Close(); e != nil && !interrupted { // what went wrong in a coordinator of our own is the cause
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

func (t *tuning) tuned(ctx context.Context, r *livepage.Reach) error {
	for {
		c, err := r.Client()
		if err == nil {
			err = t.tune(ctx, c)
		}
		if err == nil || ctx.Err() != nil || c == nil || !c.Beside || !rpc.Unreachable(err) {
			return t.conn.Remote(err)
		}
		r.Drop(c)
		fmt.Fprintln(t.Stderr, "warptune: the process that had the database has ended; going on")
	}
}

// servePageBeside serves the page while it tunes. What it returns waits until somebody interrupts, and returns the error
// that it is given.
func (t *tuning) servePageBeside(ctx context.Context, r *livepage.Reach) (func(error) error, error) {
	l, err := livepage.Listen(t.page)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- livepage.Serve(ctx, t.App, l, pagesource.New(r.Name(), r.With)) }()
	return func(err error) error {
		if ctx.Err() == nil {
			fmt.Fprintln(t.Stderr, "warptune: the page stays until you interrupt")
		}
		return cmp.Or(err, <-ended)
	}, nil
}

// tune submits the plan, evaluates it on this machine unless the coordinator is elsewhere, follows it, and prints what
// it found.
func (t *tuning) tune(ctx context.Context, c *connect.Client) error {
	if err := t.accept(ctx, c); err != nil {
		return err
	}
	answers, err := sweep.Submit(ctx, c, t.plan)
	if err != nil {
		return err
	}
	ctx, fault := context.WithCancelCause(ctx)
	defer fault(nil)
	if err := sweep.Work(ctx, t.App, c, t.plan, t.conn.Path(), t.slots, answers, fault); err != nil {
		return err
	}
	var failed error
	sweeps := make([]*warptunev1.Sweep, len(answers))
	for i, r := range answers {
		sweep, err := sweep.Watch(ctx, t.App, c, r.GetSweep().GetId())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			return err
		}
		sweeps[i] = sweep
		if i < t.shown {
			continue
		}
		if i > 0 && !t.JSON {
			fmt.Fprintln(t.Stdout)
		}
		err = t.print(ctx, c, i, sweep)
		if few := (cli.IncompleteError{}); errors.As(err, &few) {
			failed = cmp.Or(failed, err)
		} else if err != nil {
			return err
		}
		t.shown++
		failed = cmp.Or(failed, unfinished(sweep), message.IncompleteSweep(sweep))
	}
	if t.JSON {
		if err := printTunedJSON(t.App, t.docs); err != nil {
			return err
		}
	}
	if (c.Embedded != nil || c.Beside) && failed == nil {
		printSource(t.App, answers, sweeps)
	}
	return failed
}

// print prints what a sweep found.
func (t *tuning) print(ctx context.Context, c *connect.Client, i int, s *warptunev1.Sweep) error {
	err := printTuned(ctx, t.App, c, t.plan, i, s, t.top, &t.docs)
	if few := (cli.IncompleteError{}); t.plots && !t.JSON && (err == nil || errors.As(err, &few)) {
		err = cmp.Or(sweep.Plot(ctx, t.App, c, s, ""), err)
	}
	return err
}

// unfinished says that a sweep has not completed, or that nothing of it is valid.
func unfinished(sweep *warptunev1.Sweep) error {
	if sweep.GetState() != warptunev1.SweepState_SWEEP_STATE_COMPLETED {
		return fmt.Errorf("sweep %s is %s: %s", cli.ShortID(sweep.GetId()), message.StateName(sweep.GetState()), sweep.GetMessage())
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
