package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/plot"
)

func (a *app) bestCommand() *cobra.Command {
	var conn connection
	var archName string
	var problem []int64
	cmd := &cobra.Command{
		Use:   "best KERNEL --arch A [--problem …]",
		Short: "Print the best configuration known, and by which rule it was found",
		Args:  exactly(1, "one kernel"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if archName == "" {
				return usagef("--arch is required: one of %s", strings.Join(arch.Names(), ", "))
			}
			d, err := arch.Load(archName)
			if err != nil {
				return usageError{err}
			}
			name, problem, err := a.kernelName(args[0], problem)
			if err != nil {
				return err
			}
			return conn.with(cmd.Context(), func(c *client) error {
				return a.best(cmd.Context(), c, &warptunev1.BestRequest{Kernel: name, Arch: d.Name, Problem: problem, Similar: similar(d)})
			})
		},
	}
	conn.flags(cmd)
	cmd.Flags().StringVar(&archName, "arch", "", "architecture (see \"warptune archs\")")
	cmd.Flags().Int64SliceVar(&problem, "problem", nil, "problem size; default: the definition's")
	return cmd
}

// kernelName is the name results are stored under, and the problem size asked
// for or else the definition's own. A kernel whose file is gone is still found
// by its name.
func (a *app) kernelName(name string, problem []int64) (string, []int64, error) {
	def, _, err := a.findKernel(name)
	if err != nil {
		return name, problem, nil //nolint:nilerr // results outlive definitions
	}
	if len(problem) == 0 {
		problem = def.Problem
	}
	return def.Name, problem, nil
}

// similar are the other architectures of the same compute capability.
func similar(d *arch.Descriptor) []string {
	var out []string
	for _, name := range arch.Names() {
		if o, err := arch.Load(name); err == nil && o.Name != d.Name && o.CC == d.CC {
			out = append(out, o.Name)
		}
	}
	return out
}

func (a *app) best(ctx context.Context, c *client, req *warptunev1.BestRequest) error {
	r, err := c.Best(ctx, req)
	if err != nil {
		return err
	}
	lacks := incomplete(r.GetMissing(), r.GetSweep())
	if a.json {
		return cmp.Or(a.printJSON(protoJSON(r)), lacks)
	}
	o, spec := r.GetResult().GetOutcome(), r.GetSpec()
	t := newTable(a.stdout, "best", configText(r.GetNames(), r.GetResult().GetConfig()))
	t.row("found by", rule(r, req))
	t.row("time", plot.Microseconds(o.GetTimeUs())+" (simulated), bound by "+o.GetBound())
	t.row("for", target(spec))
	t.row("occupancy", fmt.Sprintf("%.0f %%, limited by %s; %d registers, %d bytes spilled", 100*o.GetOccupancy(), o.GetLimiter(), o.GetRegisters(), o.GetSpillBytes()))
	confirmed := "by one worker so far"
	if r.GetConfirmed() {
		confirmed = "by a second worker, with the same outcome"
	}
	t.row("evaluated", confirmed)
	t.row("from", fmt.Sprintf("PTX of %s, simulator %s, level %s, kernel %.12s, sweep %s", o.GetCompiler(), spec.GetEngine(), levelsText(spec), spec.GetBundle(), shortID(r.GetSweep())))
	return cmp.Or(t.flush(), lacks)
}

// rule says how near an answer is to the question.
func rule(r *warptunev1.BestResponse, req *warptunev1.BestRequest) string {
	switch r.GetMatch() {
	case warptunev1.BestMatch_BEST_MATCH_EXACT:
		return "exact match"
	case warptunev1.BestMatch_BEST_MATCH_OTHER_PROBLEM:
		return fmt.Sprintf("nearest problem size: nothing is known for %s, this is for %s", problemText(req.GetProblem()), problemText(r.GetSpec().GetProblem()))
	case warptunev1.BestMatch_BEST_MATCH_OTHER_ARCH:
		return fmt.Sprintf("same compute capability: nothing is known for %s, this is for %s", req.GetArch(), target(r.GetSpec()))
	}
	return r.GetMatch().String()
}
