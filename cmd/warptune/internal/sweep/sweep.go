// Package sweep has warptune sweep: submits sweeps and follows them, which tune and measure
// do, too, and lists, steers, draws and audits those that a coordinator has.
package sweep

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
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/plot"
	"github.com/warptune/warptune/tuner/rpc"
)

// Command is warptune sweep, with its subcommands.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Submit, watch and steer sweeps",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("unknown command \"sweep %s\": run \"warptune sweep --help\" for the list", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(submitCommand(a), listCommand(a), statusCommand(a), watchCommand(a), plotCommand(a), auditCommand(a))
	for _, s := range steering {
		cmd.AddCommand(steerCommand(a, s))
	}
	return cmd
}

// steering are the commands that change a sweep's state and show it.
var steering = []struct {
	name, short string
	call        func(context.Context, *connect.Client, string) (*warptunev1.Sweep, error)
}{
	{"pause", "Stop granting trials of a sweep", func(ctx context.Context, c *connect.Client, id string) (*warptunev1.Sweep, error) {
		r, err := c.Pause(ctx, &warptunev1.PauseRequest{Id: id})
		return r.GetSweep(), err
	}},
	{"resume", "Go on with a paused sweep", func(ctx context.Context, c *connect.Client, id string) (*warptunev1.Sweep, error) {
		r, err := c.Resume(ctx, &warptunev1.ResumeRequest{Id: id})
		return r.GetSweep(), err
	}},
	{"retry", "Try again what was given up in a sweep; all else is kept", func(ctx context.Context, c *connect.Client, id string) (*warptunev1.Sweep, error) {
		r, err := c.Retry(ctx, &warptunev1.RetryRequest{Id: id})
		return r.GetSweep(), err
	}},
	{"cancel", "End a sweep; its results stay", func(ctx context.Context, c *connect.Client, id string) (*warptunev1.Sweep, error) {
		r, err := c.Cancel(ctx, &warptunev1.CancelRequest{Id: id})
		return r.GetSweep(), err
	}},
	{"delete", "Remove a sweep that has ended, with its results", func(ctx context.Context, c *connect.Client, id string) (*warptunev1.Sweep, error) {
		_, err := c.Delete(ctx, &warptunev1.DeleteRequest{Id: id})
		return nil, err
	}},
}

func steerCommand(a *cli.App, s struct {
	name, short string
	call        func(context.Context, *connect.Client, string) (*warptunev1.Sweep, error)
}) *cobra.Command {
	var conn connect.Connection
	cmd := &cobra.Command{
		Use:   s.name + " SWEEP",
		Short: s.short,
		Args:  cli.Exactly(1, "one sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.With(cmd.Context(), func(c *connect.Client) error {
				sweep, err := s.call(cmd.Context(), c, args[0])
				if err != nil || sweep == nil {
					return err
				}
				if c.Embedded != nil && s.name == "resume" && !message.Ended(sweep) {
					fmt.Fprintf(a.Stderr, "warptune: %v\n", unserved(sweep))
				}
				return printSweeps(a, []*warptunev1.Sweep{sweep})
			})
		},
	}
	conn.Flags(cmd)
	return cmd
}

func listCommand(a *cli.App) *cobra.Command {
	var conn connect.Connection
	var kernel, arch string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sweeps, newest first",
		Args:  cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, digest, err := input.ArchNamed(arch)
			if err != nil {
				return err
			}
			return conn.With(cmd.Context(), func(c *connect.Client) error {
				var all []*warptunev1.Sweep
				var lacks error
				for s, err := range rpc.Sweeps(cmd.Context(), c, &warptunev1.ListRequest{Kernel: kernel, Arch: name}) {
					if tuner.KindOf(err) == tuner.Damaged {
						lacks = cli.Incompletes(err)
						continue
					} else if err != nil {
						return err
					}
					if digest == "" || s.GetSpec().GetArchDigest() == digest {
						all = append(all, s)
					}
				}
				return cmp.Or(printSweeps(a, all), lacks)
			})
		},
	}
	conn.Flags(cmd)
	cmd.Flags().StringVar(&kernel, "kernel", "", "only sweeps of this kernel")
	cmd.Flags().StringVar(&arch, "arch", "", input.ArchHelp("only sweeps for this architecture"))
	return cmd
}

func printSweeps(a *cli.App, sweeps []*warptunev1.Sweep) error {
	if a.JSON {
		return a.PrintJSON(message.JSON(sweeps))
	}
	header := []string{"SWEEP", "KERNEL", "ARCH", "PROBLEM", "STATE", "DONE", "OF", "BEST"}
	owned := slices.ContainsFunc(sweeps, func(s *warptunev1.Sweep) bool { return s.GetOwner() != "" })
	if owned {
		header = append(header, "OWNER")
	}
	t := cli.NewTable(a.Stdout, header...)
	for _, s := range sweeps {
		best := ""
		if s.GetBest() != nil {
			best = plot.Microseconds(s.GetBest().GetOutcome().GetTimeUs())
		}
		row := []string{
			cli.ShortID(s.GetId()), s.GetSpec().GetKernel(), s.GetSpec().GetArch(), message.ProblemText(s.GetSpec().GetProblem()), message.StateText(s),
			fmt.Sprint(s.GetCounts().GetDone() + s.GetCounts().GetAbandoned()), fmt.Sprint(s.GetCounts().GetTotal()), best,
		}
		if owned {
			row = append(row, s.GetOwner())
		}
		t.Row(row...)
	}
	return t.Flush()
}

func statusCommand(a *cli.App) *cobra.Command {
	var conn connect.Connection
	cmd := &cobra.Command{
		Use:   "status SWEEP",
		Short: "Show where a sweep stands: rate, time left, workers, failures by kind",
		Args:  cli.Exactly(1, "one sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.With(cmd.Context(), func(c *connect.Client) error {
				r, err := c.Get(cmd.Context(), &warptunev1.GetRequest{Id: args[0]})
				if err != nil {
					return err
				}
				if a.JSON {
					return cmp.Or(a.PrintJSON(message.JSON(r.GetSweep())), message.IncompleteSweep(r.GetSweep()))
				}
				return cmp.Or(printStatus(a, r.GetSweep()), message.IncompleteSweep(r.GetSweep()))
			})
		},
	}
	conn.Flags(cmd)
	return cmd
}

func printStatus(a *cli.App, s *warptunev1.Sweep) error {
	n := s.GetCounts()
	t := cli.NewTable(a.Stdout, "sweep", s.GetId())
	t.Row("tunes", fmt.Sprintf("%s, level %s, strategy %s", message.Target(s.GetSpec()), message.LevelsText(s.GetSpec()), s.GetSpec().GetStrategy()))
	if s.GetOwner() != "" {
		t.Row("owner", s.GetOwner())
	}
	t.Row("state", strings.TrimSpace(message.StateText(s)+" "+s.GetMessage()))
	t.Row("trials", fmt.Sprintf("%d of %d done (%d reused), %d leased, %d queued, %d abandoned, %d requeued",
		n.GetDone(), n.GetTotal(), n.GetReused(), n.GetLeased(), n.GetQueued(), n.GetAbandoned(), n.GetRequeued()))
	if s.GetRate() > 0 && s.GetState() == warptunev1.SweepState_SWEEP_STATE_RUNNING {
		left := "time left not known yet"
		if s.GetTimeLeftMs() > 0 {
			left = "about " + rpc.Milliseconds(s.GetTimeLeftMs()).Round(time.Second).String() + " left"
		}
		t.Row("rate", fmt.Sprintf("%.3g/s, %s", s.GetRate(), left))
	}
	t.Row("workers", fmt.Sprint(s.GetWorkers()))
	if best := s.GetBest(); best != nil {
		t.Row("best", fmt.Sprintf("%s, trial %d, bound by %s", plot.Microseconds(best.GetOutcome().GetTimeUs()), best.GetSeq(), explain.BoundWords(best.GetOutcome().GetBound())))
	}
	if best := s.GetBest(); best != nil {
		t.Row("checked", "the best "+message.CheckedText(best.GetOutcome().GetChecked()))
		t.Row("evaluated", "the best "+cmp.Or(message.ConfirmedText(s), "by one worker so far"))
	}
	if s.GetBest() != nil && s.GetCounts().GetTotal() > 0 {
		t.Row("proof", message.ProofText(s))
	}
	if s.GetSpec().GetBudgetMs() > 0 {
		t.Row("time", fmt.Sprintf("%s of %s spent", rpc.Milliseconds(s.GetSpentMs()), rpc.Milliseconds(s.GetSpec().GetBudgetMs())))
	}
	if left := s.GetLeft(); left != nil {
		t.Row("left to gain", message.LeftText(left, message.RoofLeaves(s.GetBest().GetOutcome(), nil))+" (believed by "+s.GetSpec().GetStrategy()+")")
	}
	for _, w := range s.GetSetAside() {
		t.Row("set aside", fmt.Sprintf("worker %s, for %s more: %s", w.GetWorker(), rpc.Milliseconds(w.GetForMs()).Round(time.Second), cli.OneLineText(w.GetWhy())))
	}
	for _, d := range s.GetDistrusted() {
		t.Row("not believed", fmt.Sprintf("worker %s, %s; others evaluate again what it did", d.GetWorker(), cli.OneLineText(d.GetWhy())))
	}
	kinds := make(map[string]int64)
	for i, count := range n.GetByValidity() {
		kinds[message.ValidityName(warptunev1.Validity(i))] = count
	}
	kinds["abandoned"] = n.GetAbandoned()
	examples := s.GetFailures()
	sort.Slice(examples, func(i, j int) bool { return examples[i].GetKind() < examples[j].GetKind() })
	for _, e := range examples {
		t.Row("failed", fmt.Sprintf("%d x %s, e.g. %s: %s", kinds[e.GetKind()], e.GetKind(), message.ExampleText(e), cli.OneLineText(e.GetMessage())))
	}
	return t.Flush()
}
