package sweep

import (
	"context"
	"fmt"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/tuner/rpc"
)

// Work starts evaluating those of a plan's answered sweeps that have not ended, with the database at path. What this machine lacks for it is said before
// anything is evaluated.
func Work(ctx context.Context, a *cli.App, c *connect.Client, p *plan.Plan, path string, slots int, answers []*warptunev1.SubmitResponse, fault func(error)) error {
	if c.Embedded == nil && !c.Beside {
		return nil
	}
	for i, r := range answers {
		if message.Ended(r.GetSweep()) {
			continue
		}
		spec := rpc.ToSpec(p.Specs[i])
		if err := cluster.Ready(ctx, p.Of[i].Def, p.Of[i].Arch.Descriptor, &spec); err != nil {
			return err
		}
		if n := r.GetSweep().GetCounts(); n.GetDone() > 0 && !r.GetCreated() {
			fmt.Fprintf(a.Stderr, "warptune: resuming: %d of %d configurations of %s on %s are done\n", n.GetDone(), n.GetTotal(), spec.Kernel, spec.Arch)
		}
		if err := c.Work(path, slots, fault); err != nil {
			return err
		}
	}
	return nil
}
