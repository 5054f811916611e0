package cluster

import (
	"context"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// TestPlanBeginsWithPredictions: a plan's first question is what its files predict fastest, what they say of
// other spaces is left out, and what are no predictions is refused, as is a strategy that takes none.
func TestPlanBeginsWithPredictions(t *testing.T) {
	builtIn, err := catalogue.Open("transpose_tiled")
	if err != nil {
		t.Fatal(err)
	}
	def, err := builtIn.Definition()
	if err != nil {
		t.Fatal(err)
	}
	bundle, digest, err := def.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	space, err := def.Space(def.Problem, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	spec := tuner.Spec{Kernel: def.Name, Bundle: digest, Arch: "h200", Problem: def.Problem, Strategy: "portfolio", Seed: 1, Level: "measured", Engine: "gpu-1", ArchDigest: d.Digest, Predictions: "p"}
	const fastest = 123
	all := Predictions{"NOTHING=1": 0.1}
	for i := range space.Size() {
		all[space.At(i).String()] = 2
	}
	all[space.At(fastest).String()] = 1
	text, err := all.Text()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Planner{}.Plan(context.Background(), spec, tuner.Files{Bundle: bundle, Predictions: text})
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Strategy.Ask(1); len(got) != 1 || got[0] != fastest {
		t.Errorf("the first question is %v, want what is predicted fastest, %d", got, fastest)
	}
	if p, err := priorOf(space, text); err != nil || int64(len(p)) != space.Size() {
		t.Errorf("%d predictions of %d configurations: %v", len(p), space.Size(), err)
	}
	if _, err := (Planner{}).Plan(context.Background(), spec, tuner.Files{Bundle: bundle, Predictions: []byte("[1]")}); err == nil {
		t.Error("a list was taken for predictions")
	}
	spec.Strategy = "genetic"
	if _, err := (Planner{}).Plan(context.Background(), spec, tuner.Files{Bundle: bundle, Predictions: text}); err == nil {
		t.Error("predictions were taken for a strategy that takes none")
	}
	if p, err := priorOf(space, nil); p != nil || err != nil {
		t.Errorf("of no text there are %d predictions: %v", len(p), err)
	}
}
