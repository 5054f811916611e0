// Package cluster puts the parts of a sweep system together with their concrete
// implementations: coordinators with a planner that knows kernels and
// strategies, workers with an evaluator that compiles and simulates, and both
// in one process over an in-memory connection. The daemons and the command
// line run the same parts.
//
// It decides nothing of its own.
package cluster

import (
	"context"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/seeded"
	"github.com/warptune/warptune/search/stopping"
	"github.com/warptune/warptune/search/strategies"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// Planner makes a spec's search space and strategy from its kernel bundle.
type Planner struct {
	// AnyCompiler takes sweeps that name a compiler by its path: who submits is who
	// evaluates.
	AnyCompiler bool
}

var _ tuner.Planner = Planner{}

// Plan opens the bundle and builds the space and the strategy the spec names.
func (p Planner) Plan(ctx context.Context, spec tuner.Spec, files tuner.Files) (tuner.Plan, error) {
	if err := compile.CheckChoice(spec.Compiler); err != nil && !p.AnyCompiler {
		return tuner.Plan{}, tuner.Errorf(tuner.Invalid, "", "%v", err)
	}
	if _, err := DescriptorOf(&spec, files.Descriptor); err != nil && spec.Descriptor != "" {
		return tuner.Plan{}, tuner.Errorf(tuner.Invalid, "", "%v", err)
	}
	def, _, err := kernel.OpenBundle(files.Bundle)
	if err != nil {
		return tuner.Plan{}, tuner.Errorf(tuner.Invalid, "", "kernel bundle: %v", err)
	}
	space, err := def.SpaceUntil(spec.Problem, spec.Set, ctx.Err)
	if err != nil {
		return tuner.Plan{}, tuner.Errorf(tuner.Invalid, "", "%v", err)
	}
	if space.Size() == 0 {
		return tuner.Plan{}, tuner.Errorf(tuner.Invalid, "", "the space is empty: no configuration satisfies its conditions and --set")
	}
	name := spec.Strategy
	if name == tuner.StrategyListed {
		name = "exhaustive" // its budget ends with the configurations that it starts with
	}
	prior, err := priorOf(space, files.Predictions)
	if err != nil {
		return tuner.Plan{}, tuner.Errorf(tuner.Invalid, "", "%v", err)
	}
	strategy, err := strategies.From(prior, name, space, spec.Seed)
	if err != nil {
		return tuner.Plan{}, tuner.Errorf(tuner.Invalid, "", "%v", err)
	}
	if rule := (stopping.Rule{Patience: spec.Patience, Negligible: spec.Negligible}); rule != (stopping.Rule{}) {
		strategy = stopping.New(strategy, rule)
	}
	first := known(space, spec.Start)
	if spec.Strategy == tuner.StrategyListed && len(first) < len(spec.Start) {
		return tuner.Plan{}, tuner.Errorf(tuner.Invalid, "", "of the %d configurations to evaluate, %d are not in the space", len(spec.Start), len(spec.Start)-len(first))
	}
	if len(first) > 0 {
		strategy = seeded.New(space, strategy, first)
	}
	plan := tuner.Plan{Space: space, Strategy: strategy, Refusal: def.Launchable()}
	for _, p := range space.Params() {
		plan.Names = append(plan.Names, p.Name)
	}
	if strategies.Oblivious(name) && spec.Patience == 0 {
		plan.Window = tuner.WideWindow
	}
	return plan, nil
}

// Parts says what a bundle's definition consists of (kernel.Definition.Parts).
func Parts(bundle []byte) (tuner.Parts, error) {
	def, _, err := kernel.OpenBundle(bundle)
	if err != nil {
		return nil, err
	}
	return def.Parts()
}

// known reads configurations, leaving out those of other parameters: they are
// suggestions, perhaps made for another version of the kernel.
func known(space *search.Space, texts []string) []search.Config {
	var out []search.Config
	for _, text := range texts {
		if c, err := space.ParseConfig(text); err == nil {
			out = append(out, c)
		}
	}
	return out
}
