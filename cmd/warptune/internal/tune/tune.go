// Package tune has warptune tune: a plan's sweeps from submission to the ranked table.
package tune

import (
	"fmt"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/livepage"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
)

// Command is warptune tune.
func Command(a *cli.App) *cobra.Command {
	var conn connect.Connection
	var s plan.Flags
	var slots, top int
	var plots, accepted bool
	var page string
	var confirm confirmFlags
	cmd := &cobra.Command{
		Use:   "tune KERNEL --arch A[,A…]",
		Short: "Sweep a kernel's configurations and rank them",
		Long: "Sweep a kernel's configurations for an architecture, store every result, and print the\n" +
			"ranked table and what bounds the best. The same command again resumes an unfinished\n" +
			"sweep, and answers a finished one at once.",
		Args: cli.Exactly(1, input.KernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slots < 1 {
				return cli.Usagef("--slots must be at least 1, got %d", slots)
			}
			if cmd.Flags().Changed("confirm") {
				return confirm.run(cmd.Context(), a, args[0], &conn, &s, slots)
			}
			p, err := s.Plan(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			t := tuning{App: a, plan: p, conn: &conn, slots: slots, top: top, plots: plots, page: page, accepted: accepted}
			return t.run(cmd.Context())
		},
	}
	conn.Flags(cmd)
	s.Flags(cmd)
	confirm.flags(cmd)
	cmd.Flags().IntVar(&slots, "slots", input.DefaultSlots(), "configurations simulated at a time, when no --coordinator is given")
	cmd.Flags().IntVar(&top, "top", 10, "rows of the ranked table; 0: every configuration")
	cmd.Flags().BoolVar(&accepted, "accept", false, "tune the definition as it is now, though an unfinished sweep was begun with another: that one is\ncancelled, and its results answer for the configurations that stay")
	cmd.Flags().BoolVar(&plots, "plot", false, "also draw the best time found so far against the trials")
	cmd.Flags().StringVar(&page, "page", "", "also serve the page at this address until you interrupt, when the sweep has ended too; without an address "+livepage.DefaultAddress)
	cmd.Flags().Lookup("page").NoOptDefVal = livepage.DefaultAddress
	return cmd
}

// printSource says on stderr how much of an answer was evaluated just now, and how
// much was known already.
func printSource(a *cli.App, before []*warptunev1.SubmitResponse, after []*warptunev1.Sweep) {
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
		fmt.Fprintln(a.Stderr, "warptune: answered from the database, nothing evaluated")
	case reused == 0:
		fmt.Fprintf(a.Stderr, "warptune: %d configurations evaluated\n", evaluated)
	default:
		fmt.Fprintf(a.Stderr, "warptune: %d of %d evaluated, %d answered from earlier results\n", evaluated, all, reused)
	}
}
