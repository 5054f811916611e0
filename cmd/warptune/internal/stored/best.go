// Package stored has the commands that answer from stored results: best, export, report.
package stored

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/plot"
	"github.com/warptune/warptune/tuner/rpc"
)

// BestCommand is warptune best.
func BestCommand(a *cli.App) *cobra.Command {
	var conn connect.Connection
	var archName string
	var problem []int64
	var groups input.Groups
	cmd := &cobra.Command{
		Use:   "best KERNEL --arch A [--problem …]",
		Short: "Print the best configuration known, and by which rule it was found",
		Args:  cli.Exactly(1, input.KernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if archName == "" {
				return cli.Usagef("--arch is required: one of %s", strings.Join(arch.Names(), ", "))
			}
			d, err := cluster.LoadArch(archName)
			if err != nil {
				return cli.Usage(err)
			}
			q, err := question(a, args[0], d.Descriptor, groups, problem)
			if err != nil {
				return err
			}
			return conn.With(cmd.Context(), func(c *connect.Client) error { return best(cmd.Context(), a, c, q) })
		},
	}
	conn.Flags(cmd)
	cmd.Flags().StringVar(&archName, "arch", "", input.ArchHelp("architecture"))
	cmd.Flags().Int64SliceVar(&problem, "problem", nil, "problem size; default: the definition's")
	groups.Flags(cmd)
	return cmd
}

// Question is what best is asked: for a definition, or for a name alone.
type Question struct {
	*warptunev1.BestRequest
	def *kernel.Definition // nil: there is none, and any definition of the name answers
	// arch is the one asked for, of which there may be something to be said.
	arch *arch.Descriptor
}

// question is what to ask of a kernel: for what its definition is now, at the problem
// size given or else the definition's own. A kernel whose file is gone is still found
// by its name.
func question(a *cli.App, name string, d *arch.Descriptor, groups input.Groups, problem []int64) (*Question, error) {
	req := &warptunev1.BestRequest{Kernel: name, Arch: d.Name, ArchDigest: d.Digest, Problem: problem, Similar: similar(d)}
	defs, _, err := input.FindKernels(a, name)
	if err != nil && input.IsPath(name) {
		return nil, err
	} else if err != nil {
		return &Question{BestRequest: req, arch: d}, nil
	}
	def, err := groups.One(name, defs, problem)
	if err != nil {
		return nil, err
	}
	q, err := QuestionOf(def, d, problem)
	if err == nil {
		q.Similar = req.Similar
	}
	return q, err
}

// QuestionOf asks for the best of a definition as it is, on one architecture.
func QuestionOf(def *kernel.Definition, d *arch.Descriptor, problem []int64) (*Question, error) {
	req := &warptunev1.BestRequest{Kernel: def.Name, Arch: d.Name, ArchDigest: d.Digest, Problem: problem}
	if len(problem) == 0 {
		req.Problem = def.Problem
	}
	var err error
	if _, req.Bundle, err = def.Bundle(); err != nil {
		return nil, err
	}
	if req.Parts, err = def.Parts(); err != nil {
		return nil, err
	}
	return &Question{req, def, d}, nil
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

func best(ctx context.Context, a *cli.App, c *connect.Client, q *Question) error {
	r, err := c.Best(ctx, q.BestRequest)
	if err != nil {
		return err
	}
	if err := q.Fits(r); err != nil {
		return err
	}
	lacks := cli.Incomplete(r.GetMissing(), r.GetSweep())
	if n := r.GetDamaged(); n > 0 {
		lacks = cli.Incompletes(lacks, fmt.Errorf("incomplete: %d records that might know of a better one are damaged in the database; \"warptune doctor\" looks through it, and a backup has it all", n))
	}
	if a.JSON {
		fields, err := message.Fields(r)
		if err != nil {
			return err
		}
		fields["schema"], fields["parameters"] = "warptune.best.v1", search.Config{Names: r.GetNames(), Values: rpc.ToValues(r.GetResult().GetConfig())}
		fields["found_by"], fields["caution"] = q.rule(r), q.caution(r.GetSpec())
		return cmp.Or(a.PrintJSON(fields), lacks)
	}
	o, spec := r.GetResult().GetOutcome(), r.GetSpec()
	t := cli.NewTable(a.Stdout, "best", message.ConfigText(r.GetNames(), r.GetResult().GetConfig()))
	t.Row("found by", q.rule(r))
	t.Row("time", timeText(o))
	t.Row("for", message.Target(spec))
	t.Row("occupancy", fmt.Sprintf("%.0f %%, limited by %s; %d registers, %d bytes spilled", 100*o.GetOccupancy(), explain.LimiterWords(o.GetLimiter()), o.GetRegisters(), o.GetSpillBytes()))
	t.Row("checked", message.CheckedText(o.GetChecked()))
	if o.GetDevice() == "" {
		t.Row("evaluated", cmp.Or(message.ConfirmedText(r), "by one worker so far"))
	}
	if c := q.caution(spec); c != "" {
		t.Row("caution", c)
	}
	t.Row("from", fmt.Sprintf("PTX of %s, %s, kernel %.12s, sweep %s", o.GetCompiler(), madeBy(o, spec), spec.GetBundle(), cli.ShortID(r.GetSweep())))
	return cmp.Or(t.Flush(), lacks)
}

// timeText says how fast, and how that is known.
func timeText(o *warptunev1.Outcome) string {
	if o.GetDevice() != "" {
		return fmt.Sprintf("%s, measured on %s", plot.Microseconds(o.GetTimeUs()), o.GetDevice())
	}
	return plot.Microseconds(o.GetTimeUs()) + " (simulated), bound by " + explain.BoundWords(o.GetBound())
}

// madeBy names what an outcome was found out with.
func madeBy(o *warptunev1.Outcome, spec *warptunev1.Spec) string {
	if o.GetDevice() != "" {
		return "measured by " + spec.GetEngine()
	}
	return fmt.Sprintf("simulator %s, level %s", spec.GetEngine(), message.LevelsText(spec))
}

// caution is what is to be said of the architecture that an answer is for.
func (q *Question) caution(spec *warptunev1.Spec) string {
	if message.LastLevel(spec) == tuner.LevelMeasured {
		return ""
	}
	d := q.arch
	if spec.GetArch() != d.Name {
		var err error
		if d, err = arch.Load(spec.GetArch()); err != nil {
			return ""
		}
	}
	return fidelity.Caveat(d, message.LastLevel(spec))
}

// Fits says why an answer found for an earlier definition is none for the present one:
// its configuration is not there.
func (q *Question) Fits(r *warptunev1.BestResponse) error {
	if q.def == nil || len(r.GetChanged()) == 0 {
		return nil
	}
	values := rpc.ToValues(r.GetResult().GetConfig())
	params := q.def.Params()
	fits := len(params) == len(r.GetNames()) && len(values) == len(params)
	for i := range params {
		fits = fits && params[i].Name == r.GetNames()[i] && slices.Contains(params[i].Values, values[i])
	}
	if fits {
		return nil
	}
	return fmt.Errorf("nothing is stored for this definition of %s on %s: it has changed since (%s), and what was best then, %s, is not in its space: tune it again",
		q.GetKernel(), q.GetArch(), strings.Join(r.GetChanged(), ", "), message.ConfigText(r.GetNames(), r.GetResult().GetConfig()))
}

// rule says how near an answer is to the question.
func (q *Question) rule(r *warptunev1.BestResponse) string {
	var text string
	switch r.GetMatch() {
	case warptunev1.BestMatch_BEST_MATCH_EXACT:
		text = "exact match"
	case warptunev1.BestMatch_BEST_MATCH_OTHER_PROBLEM:
		text = fmt.Sprintf("nearest problem size: nothing is known for %s, this is for %s", message.ProblemText(q.GetProblem()), message.ProblemText(r.GetSpec().GetProblem()))
	case warptunev1.BestMatch_BEST_MATCH_OTHER_ARCH:
		text = fmt.Sprintf("same compute capability: nothing is known for %s, this is for %s", q.GetArch(), message.Target(r.GetSpec()))
	default:
		text = r.GetMatch().String()
	}
	if changed := r.GetChanged(); len(changed) > 0 {
		text = strings.Replace(text, "exact match", "same name and problem size", 1) +
			"; not what is asked for: changed since are " + strings.Join(changed, ", ") + ": tune it again"
	} else if q.def == nil {
		text += " of the name: there is no definition here to compare"
	}
	if message.LastLevel(r.GetSpec()) != tuner.LevelMeasured && r.GetSpec().GetEngine() != simengine.Version() {
		text += "; by another version of the simulator"
	}
	return text
}
