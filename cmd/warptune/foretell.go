package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/search/strategies"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/rpc"
)

// foretell predicts the spaces that a plan searches by measuring, for the strategies that begin with
// predictions, if there is anybody to predict them. It returns what was predicted of each.
func (a *app) foretell(ctx context.Context, m *measuring, p *plan) ([]selection, error) {
	out := make([]selection, len(p.specs))
	if m.blind {
		return out, nil
	}
	q, of := &plan{}, []int{}
	for i, spec := range p.specs {
		if spec.GetStrategy() != strategies.Recommended {
			continue
		}
		space, err := p.of[i].def.SpaceUntil(spec.GetProblem(), rpc.ToSpec(spec).Set, ctx.Err)
		if err != nil {
			return nil, err
		}
		spec = proto.CloneOf(spec)
		spec.Strategy, spec.Budget, spec.BudgetMs, spec.Patience, spec.Negligible = strategies.Choose(space.Size(), 0), 0, 0, 0, 0
		if spec.GetStrategy() == strategies.Recommended {
			spec.Patience = defaultPatience
		}
		q.specs, q.of, of = append(q.specs, spec), append(q.of, p.of[i]), append(of, i)
	}
	if len(of) == 0 {
		return out, nil
	}
	if ok, err := m.simulates(ctx); err != nil || !ok {
		return out, err
	}
	predicted, err := a.predict(ctx, m, q, 0)
	for k, s := range predicted {
		out[of[k]] = s
	}
	return out, err
}

// simulates reports whether there is anybody to predict: this process, or a worker of the coordinator.
func (m *measuring) simulates(ctx context.Context) (ok bool, err error) {
	if m.conn.coordinator == "" {
		return true, nil
	}
	err = m.conn.with(ctx, func(c *client) error {
		r, err := c.Workers(ctx, &warptunev1.WorkersRequest{})
		ok = slices.ContainsFunc(r.GetWorkers(), func(w *warptunev1.WorkerStatus) bool {
			return !strings.HasPrefix(w.GetEngine(), tuner.MeasuringEngine)
		})
		return err
	})
	return ok, err
}

// begin has a spec's strategy begin with what was predicted.
func (s *selection) begin(spec *warptunev1.Spec, of *subject) error {
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
	spec.Predictions, of.predictions = kernel.Digest(text), text
	return nil
}
