package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/tuner/plot"
)

// Size of a curve drawn as text, in characters.
const plotColumns, plotLines = 60, 12

func plotCommand(a *cli.App) *cobra.Command {
	var conn connect.Connection
	var output string
	cmd := &cobra.Command{
		Use:   "plot SWEEP",
		Short: "Draw the best time found so far against the trials: text, or SVG with -o",
		Args:  cli.Exactly(1, "one sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.With(cmd.Context(), func(c *connect.Client) error {
				r, err := c.Get(cmd.Context(), &warptunev1.GetRequest{Id: args[0]})
				if err != nil {
					return err
				}
				return Plot(cmd.Context(), a, c, r.GetSweep(), output)
			})
		},
	}
	conn.Flags(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "SVG file to write; default: text on standard output")
	return cmd
}

// Plot draws a sweep's course into an SVG file, or as text without one.
func Plot(ctx context.Context, a *cli.App, c *connect.Client, s *warptunev1.Sweep, output string) error {
	out, err := a.Create(output)
	if err != nil {
		return err
	}
	curve, damage, err := curveOf(ctx, c, s)
	switch {
	case err != nil:
	case a.JSON && output == "":
		err = a.PrintJSON(curve)
	case output == "":
		err = curve.Text(out, plotColumns, plotLines)
	default:
		err = curve.SVG(out)
	}
	return cmp.Or(out.Finish(err), damage)
}

// curveOf is the course of a sweep: its trials in the order in which they were asked for,
// of two levels those at the last; damage names those whose rows are damaged.
func curveOf(ctx context.Context, c *connect.Client, s *warptunev1.Sweep) (_ plot.Curve, damage, err error) {
	stream, err := c.Results(ctx, &warptunev1.ResultsRequest{Id: s.GetId()})
	if err != nil {
		return plot.Curve{}, nil, err
	}
	var lost []int64
	var trials []*warptunev1.Result
	ranked := 0
	for {
		page, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return plot.Curve{}, nil, err
		}
		lost = append(lost, page.GetDamaged()...)
		for _, r := range page.GetResults() {
			if r.GetLevel() == message.LastLevel(s.GetSpec()) {
				trials = append(trials, r)
			} else {
				ranked++
			}
		}
	}
	slices.SortFunc(trials, func(a, b *warptunev1.Result) int { return cmp.Compare(a.GetSeq(), b.GetSeq()) })
	var points []plot.Point
	for i, r := range trials {
		if t := r.GetOutcome().GetTimeUs(); t > 0 {
			points = append(points, plot.Point{Trial: int64(i) + 1, TimeUS: t})
		}
	}
	title := message.Target(s.GetSpec()) + ", " + s.GetSpec().GetStrategy()
	if ranked > 0 {
		title += fmt.Sprintf(", level %s after ranking %d", message.LastLevel(s.GetSpec()), ranked)
	}
	return plot.NewCurve(title, int64(len(trials)), points), cli.DamagedRows(int64(len(lost)), lost, s.GetId()), nil
}
