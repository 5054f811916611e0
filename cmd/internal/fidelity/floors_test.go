package fidelity

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/deploy/calibrate/datasets"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
	"github.com/warptune/warptune/tuner/record"
)

// measured finds a data set whose files are all here; without them the test is skipped.
func measured(t *testing.T, name string) *datasets.Set {
	t.Helper()
	m, err := datasets.Load("../../../deploy/calibrate/datasets")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Missing(); err != nil {
		t.Skip(err)
	}
	return s
}

// timings reads the records of a data set.
func timings(t *testing.T, s *datasets.Set) []record.Record {
	t.Helper()
	f, err := os.Open(s.Path(s.Files.Timings))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recs, _, err := record.Read(s.Name, f)
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

// newBatch evaluates records of built-in kernels with their prebuilt PTX.
func newBatch(t *testing.T, archName string) evaluate.Batch {
	t.Helper()
	d, err := arch.Load(archName)
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	defs, err := catalogue.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	return evaluate.Batch{
		Compiler: compiler, Arch: d, Slots: runtime.GOMAXPROCS(0),
		Kernels: func(name string) (*kernel.Definition, error) { return defs[name], nil },
	}
}

// batchOf evaluates records of a data set: of built-in kernels, or of its own with the PTX that was measured. Launch
// records need no definitions.
func batchOf(t *testing.T, s *datasets.Set) evaluate.Batch {
	t.Helper()
	batch := newBatch(t, s.Arch)
	if s.Files.PTX == "" {
		return batch
	}
	ptx, done, err := ptxfiles.Open(s.Path(s.Files.PTX))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	batch.PTX, batch.Repeated = ptx, true
	batch.Kernels = func(name string) (*kernel.Definition, error) {
		def, _, err := kernel.Load(filepath.Join(s.Path(s.Files.Kernels), name+".json"))
		return def, err
	}
	return batch
}

// run evaluates records at a level and compares.
func run(t *testing.T, batch evaluate.Batch, level simengine.Level, recs []record.Record) Result {
	t.Helper()
	batch.Level = level
	var err error
	if batch.Launches, err = evaluate.Launches(recs); err != nil {
		t.Fatal(err)
	}
	results, err := batch.Run(context.Background(), recs)
	if err != nil {
		t.Fatal(err)
	}
	return Compare(recs, results, batch.Arch)
}

// sampled draws n records by a fixed seed, in their order.
func sampled(recs []record.Record, n int) []record.Record {
	const seed = 11
	picked := rand.New(rand.NewPCG(seed, 0)).Perm(len(recs))[:n]
	sort.Ints(picked)
	out := make([]record.Record, n)
	for i, at := range picked {
		out[i] = recs[at]
	}
	return out
}

// floors are what a sample's scores do not fall under; limiter and spill are 0 where they are not held to anything.
type floors struct {
	regret, spearman, mape, limiter, spill float64
	failed                                 int // configurations without a prediction, at most
}

// floorsOf lists, for each data set, how many of its configurations are drawn and what they come to at least:
// what was reached when the row was written, less a little.
var floorsOf = []struct {
	set     string
	records int
	level   simengine.Level
	floors
}{
	{"h200-built-in", 160, simengine.Cycle, floors{1.04, 0.85, 0.18, 0.93, 0.95, 0}},
	{"h100-built-in", 160, simengine.Cycle, floors{1.05, 0.85, 0.18, 0.93, 0.95, 0}},
	{"h200-built-in", 160, simengine.Model, floors{1.10, 0.75, 0.30, 0.93, 0.95, 0}},
	{"h200-2026-11-21-project-a", 160, simengine.Cycle, floors{regret: 1.05, spearman: 0.75, mape: 0.14}},
	{"h200-2026-11-21-project-a", 160, simengine.Model, floors{regret: 1.05, spearman: 0.75, mape: 0.15}},
	{"h200-2026-11-21-project-b", 80, simengine.Cycle, floors{regret: 1.10, spearman: 0.60, mape: 0.25}},
	{"h200-2026-11-21-project-b", 80, simengine.Model, floors{regret: 1.10, spearman: 0.60, mape: 0.28}},
	{"h200-constant-tables", 90, simengine.Cycle, floors{regret: 1.05, spearman: 0.60, mape: 0.35}},
	{"h200-2026-11-22-project-c", 80, simengine.Cycle, floors{regret: 1.08, spearman: 0.80, mape: 0.18}},
	{"h200-2026-11-22-project-c", 80, simengine.Model, floors{regret: 1.15, spearman: 0.80, mape: 0.20}},
	{"h200-2026-11-22-project-d", 112, simengine.Cycle, floors{regret: 1.08, spearman: 0.70, mape: 0.16}},
	{"h200-2026-11-22-project-d", 112, simengine.Model, floors{regret: 1.12, spearman: 0.65, mape: 0.19}},
	{"h200-loops-and-doubles", 84, simengine.Cycle, floors{regret: 1.03, spearman: 0.70, mape: 0.13}},
	{"h200-loops-and-doubles", 84, simengine.Model, floors{regret: 1.06, spearman: 0.65, mape: 0.20}},
	{"h200-neural-networks", 96, simengine.Cycle, floors{regret: 1.15, spearman: 0.80, mape: 0.12}},
	{"h200-neural-networks", 96, simengine.Model, floors{regret: 1.18, spearman: 0.75, mape: 0.14}},
	{"h200-2026-11-23-project-e", 96, simengine.Cycle, floors{regret: 1.03, spearman: 0.83, mape: 0.13}},
	{"h200-2026-11-23-project-e", 96, simengine.Model, floors{regret: 1.05, spearman: 0.78, mape: 0.19}},
	{"h200-tensor-cores", 96, simengine.Cycle, floors{regret: 1.06, spearman: 0.85, mape: 0.15}},
	{"h200-tensor-cores", 96, simengine.Model, floors{regret: 1.06, spearman: 0.85, mape: 0.16}},
	{"h200-2026-11-24-project-f", 252, simengine.Cycle, floors{regret: 1.08, spearman: 0.70, mape: 0.15}},
	{"h200-2026-11-24-project-f", 126, simengine.Model, floors{regret: 1.09, spearman: 0.70, mape: 0.17}},
	{"h200-2026-11-24-independent", 96, simengine.Cycle, floors{regret: 1.10, spearman: 0.70, mape: 0.22}},
	{"h200-2026-11-24-independent", 96, simengine.Model, floors{regret: 1.10, spearman: 0.70, mape: 0.25}},
	{"h200-overlapping-reads", 48, simengine.Cycle, floors{regret: 1.10, spearman: 0.60, mape: 0.14}},
	{"h200-overlapping-reads", 48, simengine.Model, floors{regret: 1.10, spearman: 0.60, mape: 0.16}},
	{"h100-2026-11-25-independent-a", 308, simengine.Cycle, floors{regret: 1.10, spearman: 0.70, mape: 0.19}},
	{"h100-2026-11-25-independent-a", 112, simengine.Model, floors{regret: 1.12, spearman: 0.60, mape: 0.22}},
	{"h100-2026-11-25-independent-b", 128, simengine.Cycle, floors{regret: 1.10, spearman: 0.60, mape: 0.16}},
	{"h100-2026-11-25-independent-b", 128, simengine.Model, floors{regret: 1.10, spearman: 0.60, mape: 0.17}},
	{"h100-2026-11-26-independent-c", 128, simengine.Cycle, floors{regret: 1.10, spearman: 0.60, mape: 0.17}},
	{"h100-2026-11-26-independent-c", 128, simengine.Model, floors{regret: 1.10, spearman: 0.60, mape: 0.17}},
	{"h100-2026-11-26-independent-d", 112, simengine.Cycle, floors{regret: 1.08, spearman: 0.60, mape: 0.14}},
	{"h100-2026-11-26-independent-d", 112, simengine.Model, floors{regret: 1.10, spearman: 0.55, mape: 0.16}},
	{"h100-2026-11-26-triton-wgmma-a", 60, simengine.Cycle, floors{regret: 1.15, spearman: 0.40, mape: 0.26, failed: 1}},
	{"h100-2026-11-26-triton-wgmma-a", 60, simengine.Model, floors{regret: 1.15, spearman: 0.40, mape: 0.28, failed: 1}},
	{"h100-2026-11-27-triton-wgmma-b", 70, simengine.Cycle, floors{regret: 1.15, spearman: 0.45, mape: 0.24}},
	{"h100-2026-11-27-triton-wgmma-b", 70, simengine.Model, floors{regret: 1.15, spearman: 0.45, mape: 0.28}},
	{"h100-2026-11-27-triton-wgmma-c", 70, simengine.Cycle, floors{regret: 1.15, spearman: 0.60, mape: 0.24}},
	{"h100-2026-11-27-triton-wgmma-c", 70, simengine.Model, floors{regret: 1.15, spearman: 0.60, mape: 0.26}},
	{"h100-2026-11-27-triton-wgmma-d", 85, simengine.Cycle, floors{regret: 1.15, spearman: 0.55, mape: 0.22}},
	{"h100-2026-11-27-triton-wgmma-d", 85, simengine.Model, floors{regret: 1.15, spearman: 0.50, mape: 0.25}},
	{"h100-2026-11-27-triton-wgmma-e", 80, simengine.Cycle, floors{regret: 1.15, spearman: 0.55, mape: 0.18}},
	{"h100-2026-11-27-triton-wgmma-e", 80, simengine.Model, floors{regret: 1.15, spearman: 0.50, mape: 0.20}},
}

// Accuracy on a seeded sample of each measured data set does not fall under its floors.
func TestFloors(t *testing.T) {
	for _, c := range floorsOf {
		t.Run(c.set+"/"+c.level.String(), func(t *testing.T) {
			set := measured(t, c.set)
			c.check(t, run(t, batchOf(t, set), c.level, sampled(timings(t, set), c.records)))
		})
	}
}

// check compares a result with the floors.
func (f floors) check(t *testing.T, r Result) {
	t.Helper()
	s := r.Summary
	t.Logf("regret@1 %.3f, Spearman %.3f, MAPE %.3f, limiter %.3f, spill %.3f, registers %.3f exact, %.3f near", s.Regret1Geomean, s.SpearmanMedian,
		s.MAPE, r.Build.Limiter.Value(), r.Build.Spill.Value(), r.Build.RegistersExact.Value(), r.Build.RegistersWithin10.Value())
	if s.Failed > f.failed {
		t.Errorf("%d configurations have no prediction: %v", s.Failed, r.Failures)
	}
	if s.Regret1Geomean > f.regret || s.SpearmanMedian < f.spearman || s.MAPE > f.mape {
		t.Errorf("regret@1 %.3f, Spearman %.3f, MAPE %.3f: worse than the floors %.3f, %.3f, %.3f",
			s.Regret1Geomean, s.SpearmanMedian, s.MAPE, f.regret, f.spearman, f.mape)
	}
	if r.Build.Limiter.Value() < f.limiter || r.Build.Spill.Value() < f.spill {
		t.Errorf("limiter agrees %.3f, spill %.3f: worse than %.3f, %.3f", r.Build.Limiter.Value(), r.Build.Spill.Value(), f.limiter, f.spill)
	}
}

// Every data set of the manifest that can be predicted here is held to floors.
func TestEveryDatasetHasFloors(t *testing.T) {
	m, err := datasets.Load("../../../deploy/calibrate/datasets")
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]bool{}
	for _, c := range floorsOf {
		if _, err := m.Find(c.set); err != nil {
			t.Error(err)
		}
		held[c.set] = true
	}
	for _, s := range m.Sets {
		if s.Outside == "" && s.Author != datasets.Others && s.Role != datasets.HeldOut && !held[s.Name] {
			t.Errorf("data set %s has no floors", s.Name)
		}
	}
}
