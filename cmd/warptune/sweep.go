package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/plot"
	"github.com/warptune/warptune/tuner/rpc"
)

func (a *app) sweepCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Submit, watch and steer sweeps",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command \"sweep %s\": run \"warptune sweep --help\" for the list", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(a.submitCommand(), a.listCommand(), a.statusCommand(), a.watchCommand(), a.plotCommand(), a.auditCommand())
	for _, s := range steering {
		cmd.AddCommand(a.steerCommand(s))
	}
	return cmd
}

// steering are the commands that change a sweep's state and show it.
var steering = []struct {
	name, short string
	call        func(context.Context, *client, string) (*warptunev1.Sweep, error)
}{
	{"pause", "Stop granting trials of a sweep", func(ctx context.Context, c *client, id string) (*warptunev1.Sweep, error) {
		r, err := c.Pause(ctx, &warptunev1.PauseRequest{Id: id})
		return r.GetSweep(), err
	}},
	{"resume", "Go on with a paused sweep", func(ctx context.Context, c *client, id string) (*warptunev1.Sweep, error) {
		r, err := c.Resume(ctx, &warptunev1.ResumeRequest{Id: id})
		return r.GetSweep(), err
	}},
	{"retry", "Try again what was given up in a sweep; all else is kept", func(ctx context.Context, c *client, id string) (*warptunev1.Sweep, error) {
		r, err := c.Retry(ctx, &warptunev1.RetryRequest{Id: id})
		return r.GetSweep(), err
	}},
	{"cancel", "End a sweep; its results stay", func(ctx context.Context, c *client, id string) (*warptunev1.Sweep, error) {
		r, err := c.Cancel(ctx, &warptunev1.CancelRequest{Id: id})
		return r.GetSweep(), err
	}},
	{"delete", "Remove a sweep that has ended, with its results", func(ctx context.Context, c *client, id string) (*warptunev1.Sweep, error) {
		_, err := c.Delete(ctx, &warptunev1.DeleteRequest{Id: id})
		return nil, err
	}},
}

func (a *app) steerCommand(s struct {
	name, short string
	call        func(context.Context, *client, string) (*warptunev1.Sweep, error)
}) *cobra.Command {
	var conn connection
	cmd := &cobra.Command{
		Use:   s.name + " SWEEP",
		Short: s.short,
		Args:  exactly(1, "one sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.with(cmd.Context(), func(c *client) error {
				sweep, err := s.call(cmd.Context(), c, args[0])
				if err != nil || sweep == nil {
					return err
				}
				if c.embedded != nil && s.name == "resume" && !ended(sweep) {
					fmt.Fprintf(a.stderr, "warptune: %v\n", unserved(sweep))
				}
				return a.printSweeps([]*warptunev1.Sweep{sweep})
			})
		},
	}
	conn.flags(cmd)
	return cmd
}

func (a *app) listCommand() *cobra.Command {
	var conn connection
	var kernel, arch string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sweeps, newest first",
		Args:  exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, digest, err := archNamed(arch)
			if err != nil {
				return err
			}
			return conn.with(cmd.Context(), func(c *client) error {
				var all []*warptunev1.Sweep
				var lacks error
				for s, err := range rpc.Sweeps(cmd.Context(), c, &warptunev1.ListRequest{Kernel: kernel, Arch: name}) {
					if tuner.KindOf(err) == tuner.Damaged {
						lacks = incompletes(err)
						continue
					} else if err != nil {
						return err
					}
					if digest == "" || s.GetSpec().GetArchDigest() == digest {
						all = append(all, s)
					}
				}
				return cmp.Or(a.printSweeps(all), lacks)
			})
		},
	}
	conn.flags(cmd)
	cmd.Flags().StringVar(&kernel, "kernel", "", "only sweeps of this kernel")
	cmd.Flags().StringVar(&arch, "arch", "", archHelp("only sweeps for this architecture"))
	return cmd
}

func (a *app) printSweeps(sweeps []*warptunev1.Sweep) error {
	if a.json {
		return a.printJSON(protoJSON(sweeps))
	}
	header := []string{"SWEEP", "KERNEL", "ARCH", "PROBLEM", "STATE", "DONE", "OF", "BEST"}
	owned := slices.ContainsFunc(sweeps, func(s *warptunev1.Sweep) bool { return s.GetOwner() != "" })
	if owned {
		header = append(header, "OWNER")
	}
	t := newTable(a.stdout, header...)
	for _, s := range sweeps {
		best := ""
		if s.GetBest() != nil {
			best = plot.Microseconds(s.GetBest().GetOutcome().GetTimeUs())
		}
		row := []string{
			shortID(s.GetId()), s.GetSpec().GetKernel(), s.GetSpec().GetArch(), problemText(s.GetSpec().GetProblem()), stateText(s),
			fmt.Sprint(s.GetCounts().GetDone() + s.GetCounts().GetAbandoned()), fmt.Sprint(s.GetCounts().GetTotal()), best,
		}
		if owned {
			row = append(row, s.GetOwner())
		}
		t.row(row...)
	}
	return t.flush()
}

func (a *app) statusCommand() *cobra.Command {
	var conn connection
	cmd := &cobra.Command{
		Use:   "status SWEEP",
		Short: "Show where a sweep stands: rate, time left, workers, failures by kind",
		Args:  exactly(1, "one sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.with(cmd.Context(), func(c *client) error {
				r, err := c.Get(cmd.Context(), &warptunev1.GetRequest{Id: args[0]})
				if err != nil {
					return err
				}
				if a.json {
					return cmp.Or(a.printJSON(protoJSON(r.GetSweep())), incompleteSweep(r.GetSweep()))
				}
				return cmp.Or(a.printStatus(r.GetSweep()), incompleteSweep(r.GetSweep()))
			})
		},
	}
	conn.flags(cmd)
	return cmd
}

func (a *app) printStatus(s *warptunev1.Sweep) error {
	n := s.GetCounts()
	t := newTable(a.stdout, "sweep", s.GetId())
	t.row("tunes", fmt.Sprintf("%s, level %s, strategy %s", target(s.GetSpec()), levelsText(s.GetSpec()), s.GetSpec().GetStrategy()))
	if s.GetOwner() != "" {
		t.row("owner", s.GetOwner())
	}
	t.row("state", strings.TrimSpace(stateText(s)+" "+s.GetMessage()))
	t.row("trials", fmt.Sprintf("%d of %d done (%d reused), %d leased, %d queued, %d abandoned, %d requeued",
		n.GetDone(), n.GetTotal(), n.GetReused(), n.GetLeased(), n.GetQueued(), n.GetAbandoned(), n.GetRequeued()))
	if s.GetRate() > 0 && s.GetState() == warptunev1.SweepState_SWEEP_STATE_RUNNING {
		left := "time left not known yet"
		if s.GetTimeLeftMs() > 0 {
			left = "about " + rpc.Milliseconds(s.GetTimeLeftMs()).Round(time.Second).String() + " left"
		}
		t.row("rate", fmt.Sprintf("%.3g/s, %s", s.GetRate(), left))
	}
	t.row("workers", fmt.Sprint(s.GetWorkers()))
	if best := s.GetBest(); best != nil {
		t.row("best", fmt.Sprintf("%s, trial %d, bound by %s", plot.Microseconds(best.GetOutcome().GetTimeUs()), best.GetSeq(), explain.BoundWords(best.GetOutcome().GetBound())))
	}
	if best := s.GetBest(); best != nil {
		t.row("checked", "the best "+checkedText(best.GetOutcome().GetChecked()))
		t.row("evaluated", "the best "+cmp.Or(confirmedText(s), "by one worker so far"))
	}
	if s.GetBest() != nil && s.GetCounts().GetTotal() > 0 {
		t.row("proof", proofText(s))
	}
	if s.GetSpec().GetBudgetMs() > 0 {
		t.row("time", fmt.Sprintf("%s of %s spent", rpc.Milliseconds(s.GetSpentMs()), rpc.Milliseconds(s.GetSpec().GetBudgetMs())))
	}
	if left := s.GetLeft(); left != nil {
		t.row("left to gain", leftText(left, roofLeaves(s.GetBest().GetOutcome(), nil))+" (believed by "+s.GetSpec().GetStrategy()+")")
	}
	for _, w := range s.GetSetAside() {
		t.row("set aside", fmt.Sprintf("worker %s, for %s more: %s", w.GetWorker(), rpc.Milliseconds(w.GetForMs()).Round(time.Second), oneLineText(w.GetWhy())))
	}
	for _, d := range s.GetDistrusted() {
		t.row("not believed", fmt.Sprintf("worker %s, %s; others evaluate again what it did", d.GetWorker(), oneLineText(d.GetWhy())))
	}
	kinds := make(map[string]int64)
	for i, count := range n.GetByValidity() {
		kinds[validityName(warptunev1.Validity(i))] = count
	}
	kinds["abandoned"] = n.GetAbandoned()
	examples := s.GetFailures()
	sort.Slice(examples, func(i, j int) bool { return examples[i].GetKind() < examples[j].GetKind() })
	for _, e := range examples {
		t.row("failed", fmt.Sprintf("%d x %s, e.g. %s: %s", kinds[e.GetKind()], e.GetKind(), exampleText(e), oneLineText(e.GetMessage())))
	}
	return t.flush()
}
