package evaluate

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// draw gives a configuration, two that differ from it in one parameter each, and
// another. Where the one parameter is a register cap or a carve-out they share a
// recorded execution.
func draw(t *testing.T, def *kernel.Definition, rng *rand.Rand) []search.Config {
	t.Helper()
	space, err := def.Space(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := rng.Int64N(space.Size())
	near := slices.Collect(space.Neighbours(at, search.Hamming))
	rng.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
	out := []search.Config{space.At(at)}
	for _, i := range append(near[:min(2, len(near))], rng.Int64N(space.Size())) {
		out = append(out, space.At(i))
	}
	return out
}

// answers evaluates jobs in the order given, with one evaluator, and returns the
// answers in the order of jobs, as JSON.
func answers(t *testing.T, jobs []Job, order []int) []string {
	t.Helper()
	c, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	ev, compared := New(c), NewAnswers()
	out := make([]string, len(jobs))
	for _, i := range order {
		job := jobs[i]
		job.Answers = compared
		outcome, report, err := ev.Evaluate(context.Background(), job)
		if err != nil {
			t.Fatalf("%s %v: %v", jobs[i].Kernel.Name, jobs[i].Config, err)
		}
		text, err := json.Marshal(struct {
			Outcome any
			Report  *simengine.Report
		}{outcome, report})
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(text)
	}
	return out
}

// What an evaluator keeps between configurations (parsed modules, assembled
// programs, the last recorded execution with its memory) changes no answer.
func TestOrderChangesNoAnswer(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range catalogue.All() {
		t.Run(k.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			def, err := k.Definition()
			if err != nil {
				t.Fatal(err)
			}
			var jobs []Job
			for i, cfg := range draw(t, def, rng) {
				jobs = append(jobs, Job{Kernel: def, Config: cfg, Arch: d, Level: simengine.Model})
				if i == 0 {
					jobs = append(jobs, Job{Kernel: def, Config: cfg, Arch: d, Level: simengine.Cycle})
				}
			}
			order := make([]int, len(jobs))
			for i := range order {
				order[i] = i
			}
			want := answers(t, jobs, order)
			slices.Reverse(order)
			for i, got := range answers(t, jobs, append(order, order[0])) {
				if got != want[i] {
					t.Errorf("%v, level %v: the answer depends on what was asked before:\n%s\n%s", jobs[i].Config, jobs[i].Level, want[i], got)
				}
			}
		})
	}
}
