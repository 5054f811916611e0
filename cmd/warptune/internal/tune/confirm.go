package tune

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/measure"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
)

// confirmFlags are those of tune that have the best predictions measured.
type confirmFlags struct {
	count int
	on    string
	gpu   measure.GPUFlags
}

func (f *confirmFlags) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.count, "confirm", 0, "measure so many of those predicted fastest, and a few of the next of which the prediction is\n"+
		"unsure, on this machine's GPU or by a coordinator's measuring workers, and answer with the measured best")
	cmd.Flags().StringVar(&f.on, "on", "", "labels that a measuring worker must have, NAME=VALUE,…; a value alone is the GPU's name")
	f.gpu.Flags(cmd)
}

// run predicts a kernel's configurations, and measures the best of them.
func (f *confirmFlags) run(ctx context.Context, a *cli.App, name string, conn *connect.Connection, s *plan.Flags, slots int) error {
	if f.count < 1 {
		return cli.Usagef("--confirm must be at least 1, got %d", f.count)
	}
	m := measure.Measuring{Conn: *conn, Sweep: *s, GPU: f.gpu, On: f.on, Slots: slots, Top: f.count}
	return measure.Run(ctx, a, &m, name, "", "")
}
