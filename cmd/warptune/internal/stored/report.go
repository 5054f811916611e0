package stored

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/pagesource"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/rpc"
)

// reportFlags are the flags of report.
type reportFlags struct {
	conn      connect.Connection
	archs     []string
	problem   []int64
	groups    input.Groups
	output    string
	explained int
}

// ReportCommand is warptune report.
func ReportCommand(a *cli.App) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report KERNEL --arch A[,A…] -o FILE.html",
		Short: "Write what sweeps found as one self-contained page",
		Long: "Write the page of the newest sweep of a kernel for each architecture as one HTML file, which needs\n" +
			"no server and no network. The best configurations are simulated again and explained in it.",
		Args: cli.Exactly(1, input.KernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(f.archs) == 0 || f.output == "" {
				return cli.Usagef("--arch and -o FILE.html are required")
			}
			if f.explained < 1 {
				return cli.Usagef("--explained must be at least 1, got %d", f.explained)
			}
			return report(cmd.Context(), a, args[0], &f)
		},
	}
	f.conn.Flags(cmd)
	cmd.Flags().StringSliceVar(&f.archs, "arch", nil, input.ArchHelp("architectures, comma-separated, each"))
	cmd.Flags().Int64SliceVar(&f.problem, "problem", nil, "problem size; default: the definition's")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "the file to write")
	cmd.Flags().IntVar(&f.explained, "explained", 3, "configurations of each sweep to explain: the best, and the fastest of the groups of ties after it")
	f.groups.Flags(cmd)
	return cmd
}

func report(ctx context.Context, a *cli.App, name string, f *reportFlags) error {
	return f.conn.With(ctx, func(c *connect.Client) error {
		var ids []string
		for _, text := range f.archs {
			d, err := cluster.LoadArch(text)
			if err != nil {
				return cli.Usage(err)
			}
			q, err := question(a, name, d.Descriptor, f.groups, f.problem)
			if err != nil {
				return err
			}
			id, err := sweepFor(ctx, c, q)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		source := pagesource.New("report", pagesource.Over(c.Raw))
		out, err := a.Create(f.output)
		if err != nil {
			return err
		}
		return out.Finish(page.Report(ctx, source, ids, f.explained, out))
	})
}

// sweepFor is the newest sweep with a result of what is asked for: of the same definition, if there is one, else of the
// same name.
func sweepFor(ctx context.Context, c *connect.Client, q *Question) (string, error) {
	byName := ""
	for s, err := range rpc.Sweeps(ctx, c, &warptunev1.ListRequest{Kernel: q.GetKernel(), Arch: q.GetArch()}) {
		if tuner.KindOf(err) == tuner.Damaged {
			break
		} else if err != nil {
			return "", err
		}
		spec := s.GetSpec()
		if s.GetCounts().GetDone() == 0 || spec.GetArchDigest() != q.GetArchDigest() || len(q.GetProblem()) > 0 && !slices.Equal(spec.GetProblem(), q.GetProblem()) {
			continue
		}
		if q.GetBundle() == "" || spec.GetBundle() == q.GetBundle() {
			return s.GetId(), nil
		}
		byName = cmp.Or(byName, s.GetId())
	}
	if byName == "" {
		return "", fmt.Errorf("nothing is stored of %s on %s: \"warptune tune\" makes a sweep", q.GetKernel(), q.GetArch())
	}
	return byName, nil
}
