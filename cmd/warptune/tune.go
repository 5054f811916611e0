package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/tuner/rpc"
)

func (a *app) tuneCommand() *cobra.Command {
	var conn connection
	var s sweepFlags
	var slots, top int
	var plots bool
	var confirm confirmFlags
	cmd := &cobra.Command{
		Use:   "tune KERNEL --arch A[,A…]",
		Short: "Sweep a kernel's configurations and rank them",
		Long: "Sweep a kernel's configurations for an architecture, store every result, and print the\n" +
			"ranked table and what bounds the best. The same command again resumes an unfinished\n" +
			"sweep, and answers a finished one at once.",
		Args: exactly(1, kernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slots < 1 {
				return usagef("--slots must be at least 1, got %d", slots)
			}
			if cmd.Flags().Changed("confirm") {
				return confirm.run(cmd.Context(), a, args[0], &conn, &s, slots)
			}
			p, err := s.plan(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			tune := func(c *client) error { return a.tune(cmd.Context(), c, p, slots, top, plots) }
			if c, ok := conn.openBeside(); ok && completed(cmd.Context(), c, p) {
				return errors.Join(conn.remote(tune(c)), c.close())
			} else if ok {
				_ = c.close()
			}
			conn.embed = cluster.EmbedOptions{Create: true, Sweeps: p.ids()}
			err = conn.with(cmd.Context(), tune)
			if cmd.Context().Err() != nil {
				return errors.New("interrupted: what was evaluated is stored, and the same command resumes")
			}
			return err
		},
	}
	conn.flags(cmd)
	s.flags(cmd)
	confirm.flags(cmd)
	cmd.Flags().IntVar(&slots, "slots", defaultSlots(), "configurations simulated at a time, when no --coordinator is given")
	cmd.Flags().IntVar(&top, "top", 10, "rows of the ranked table; 0: every configuration")
	cmd.Flags().BoolVar(&plots, "plot", false, "also draw the best time found so far against the trials")
	return cmd
}

// tune submits a plan, evaluates it here unless the coordinator is elsewhere,
// follows it, and prints what it found.
func (a *app) tune(ctx context.Context, c *client, p *plan, slots, top int, plots bool) error {
	answers, err := submit(ctx, c, p)
	if err != nil {
		return err
	}
	ctx, fault := context.WithCancelCause(ctx)
	defer fault(nil)
	if c.embedded != nil {
		if err := a.work(ctx, c, p, answers, slots, fault); err != nil {
			return err
		}
	}
	var failed error
	var docs []*tunedDocument
	sweeps := make([]*warptunev1.Sweep, len(answers))
	for i, r := range answers {
		sweep, err := a.watch(ctx, c, r.GetSweep().GetId())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			return err
		}
		sweeps[i] = sweep
		if i > 0 && !a.json {
			fmt.Fprintln(a.stdout)
		}
		err = a.printTuned(ctx, c, p, i, sweep, top, &docs)
		if few := (incompleteError{}); plots && !a.json && (err == nil || errors.As(err, &few)) {
			err = cmp.Or(a.plot(ctx, c, sweep, ""), err)
		}
		if few := (incompleteError{}); errors.As(err, &few) {
			failed = cmp.Or(failed, err)
		} else if err != nil {
			return err
		}
		if sweep.GetState() != warptunev1.SweepState_SWEEP_STATE_COMPLETED {
			failed = fmt.Errorf("sweep %s is %s: %s", shortID(sweep.GetId()), stateName(sweep.GetState()), sweep.GetMessage())
		} else if sweep.GetBest() == nil && failed == nil {
			which := "no configuration"
			if n := sweep.GetCounts(); n.GetDone() < n.GetSpace() {
				which = fmt.Sprintf("none of the %d configurations evaluated", n.GetDone())
			}
			failed = fmt.Errorf("%s of %s is valid on %s: see the examples above", which, sweep.GetSpec().GetKernel(), sweep.GetSpec().GetArch())
		}
		failed = cmp.Or(failed, incompleteSweep(sweep))
	}
	if a.json {
		if err := a.printTunedJSON(docs); err != nil {
			return err
		}
	}
	if (c.embedded != nil || c.beside) && failed == nil {
		a.printSource(answers, sweeps)
	}
	return failed
}

// completed reports whether all of a plan's sweeps have completed, so that whoever has
// the database open can answer for them.
func completed(ctx context.Context, c *client, p *plan) bool {
	for _, id := range p.ids() {
		r, err := c.Get(ctx, &warptunev1.GetRequest{Id: id})
		if err != nil || r.GetSweep().GetState() != warptunev1.SweepState_SWEEP_STATE_COMPLETED {
			return false
		}
	}
	return true
}

// work starts evaluating those of the answered sweeps that have not ended. What
// this machine lacks for it is said before anything is evaluated.
func (a *app) work(ctx context.Context, c *client, p *plan, answers []*warptunev1.SubmitResponse, slots int, fault func(error)) error {
	for i, r := range answers {
		if ended(r.GetSweep()) {
			continue
		}
		spec := rpc.ToSpec(p.specs[i])
		if err := cluster.Ready(ctx, p.of[i].def, p.of[i].arch.Descriptor, &spec); err != nil {
			return err
		}
		if n := r.GetSweep().GetCounts(); n.GetDone() > 0 && !r.GetCreated() {
			fmt.Fprintf(a.stderr, "warptune: resuming: %d of %d configurations of %s on %s are done\n", n.GetDone(), n.GetTotal(), spec.Kernel, spec.Arch)
		}
		if err := c.embedded.Work(slots, fault); err != nil {
			return err
		}
	}
	return nil
}

// printSource says on stderr how much of an answer was evaluated just now, and how
// much was known already.
func (a *app) printSource(before []*warptunev1.SubmitResponse, after []*warptunev1.Sweep) {
	var all, evaluated, reused int64
	for i, s := range after {
		was, is := before[i].GetSweep().GetCounts(), s.GetCounts()
		if before[i].GetCreated() {
			was = nil // what was known then already was answered just now
		}
		all += is.GetDone()
		reused += is.GetReused() - was.GetReused()
		evaluated += is.GetDone() - was.GetDone() - (is.GetReused() - was.GetReused())
	}
	switch {
	case evaluated == 0:
		fmt.Fprintln(a.stderr, "warptune: answered from the database, nothing evaluated")
	case reused == 0:
		fmt.Fprintf(a.stderr, "warptune: %d configurations evaluated\n", evaluated)
	default:
		fmt.Fprintf(a.stderr, "warptune: %d of %d evaluated, %d answered from earlier results\n", evaluated, all, reused)
	}
}
