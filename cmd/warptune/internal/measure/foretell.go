package measure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/search/strategies"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/rpc"
)

// foretell predicts the spaces that a plan searches by measuring, for the strategies that begin with
// predictions, if there is anybody to predict them. It returns what was predicted of each.
func foretell(ctx context.Context, a *cli.App, m *Measuring, p *plan.Plan) ([]selection, error) {
	out := make([]selection, len(p.Specs))
	if m.blind {
		return out, nil
	}
	q, of := &plan.Plan{}, []int{}
	for i, spec := range p.Specs {
		if spec.GetStrategy() != strategies.Recommended {
			continue
		}
		space, err := p.Of[i].Def.SpaceUntil(spec.GetProblem(), rpc.ToSpec(spec).Set, ctx.Err)
		if err != nil {
			return nil, err
		}
		spec = proto.CloneOf(spec)
		spec.Strategy, spec.Budget, spec.BudgetMs, spec.Patience, spec.Negligible = strategies.Choose(space.Size(), 0), 0, 0, 0, 0
		if spec.GetStrategy() == strategies.Recommended {
			spec.Patience = plan.DefaultPatience
		}
		q.Specs, q.Of, of = append(q.Specs, spec), append(q.Of, p.Of[i]), append(of, i)
	}
	if len(of) == 0 {
		return out, nil
	}
	if ok, err := m.simulates(ctx); err != nil || !ok {
		return out, err
	}
	predicted, err := predict(ctx, a, m, q, 0)
	for k, s := range predicted {
		out[of[k]] = s
	}
	return out, err
}

// simulates reports whether there is anybody to predict: this process, or a worker of the coordinator.
func (m *Measuring) simulates(ctx context.Context) (ok bool, err error) {
	if m.Conn.Coordinator == "" {
		return true, nil
	}
	err = m.Conn.With(ctx, func(c *connect.Client) error {
		r, err := c.Workers(ctx, &warptunev1.WorkersRequest{})
		ok = slices.ContainsFunc(r.GetWorkers(), func(w *warptunev1.WorkerStatus) bool {
			return !strings.HasPrefix(w.GetEngine(), tuner.MeasuringEngine)
		})
		return err
	})
	return ok, err
}

// begin has a spec's strategy begin with what was predicted.
func (s *selection) begin(spec *warptunev1.Spec, of *plan.Subject) error {
	if len(s.predicted) == 0 {
		return nil
	}
	p := cluster.Predictions{}
	for config, f := range s.predicted {
		p[config] = f.timeUS
	}
	text, err := p.Text()
	if err != nil {
		return fmt.Errorf("predictions of %s: %w", spec.GetKernel(), err)
	}
	spec.Predictions, of.Predictions = kernel.Digest(text), text
	return nil
}
