package fidelity

import (
	"archive/zip"
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sort"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/record"
)

// validation are the measured records in the repository, with built-in PTX.
const validation = "../../../deploy/calibrate/validation/"

func readValidation(t *testing.T, name string) []record.Record {
	t.Helper()
	f, err := os.Open(validation + name + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recs, _, err := record.Read(name, f)
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

// furtherBatch evaluates records of the kernels of a directory that are not built
// in, with the PTX that was measured.
func furtherBatch(t *testing.T, archName, dir string) evaluate.Batch {
	t.Helper()
	batch := newBatch(t, archName)
	ptx, err := zip.OpenReader(validation + dir + "/ptx.zip")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ptx.Close() })
	batch.PTX = ptx
	batch.Kernels = func(name string) (*kernel.Definition, error) {
		def, _, err := kernel.Load(validation + dir + "/kernels/" + name + ".json")
		return def, err
	}
	return batch
}

// predict evaluates records of built-in kernels and compares.
func predict(t *testing.T, archName string, level simengine.Level, recs []record.Record) Result {
	t.Helper()
	return run(t, newBatch(t, archName), level, recs)
}

// run evaluates records at a level and compares.
func run(t *testing.T, batch evaluate.Batch, level simengine.Level, recs []record.Record) Result {
	t.Helper()
	batch.Level = level
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

// Accuracy on a seeded sample of measured configurations does not fall under
// what was reached, less a little.
func TestFloors(t *testing.T) {
	for _, c := range []struct {
		arch                                  string
		level                                 simengine.Level
		regret, spearman, mape, limiter, spil float64
	}{
		{"h200", simengine.Cycle, 1.04, 0.85, 0.18, 0.93, 0.95},
		{"h100", simengine.Cycle, 1.05, 0.85, 0.18, 0.93, 0.95},
		{"h200", simengine.Model, 1.10, 0.75, 0.30, 0.93, 0.95},
	} {
		r := predict(t, c.arch, c.level, sampled(readValidation(t, c.arch), 160))
		s := r.Summary
		t.Logf("%s %s: regret@1 %.3f, Spearman %.3f, MAPE %.3f, limiter %.3f, spill %.3f, registers %.3f exact", c.arch, c.level,
			s.Regret1Geomean, s.SpearmanMedian, s.MAPE, r.Build.Limiter.Value(), r.Build.Spill.Value(), r.Build.RegistersExact.Value())
		if s.Failed > 0 {
			t.Errorf("%s %s: %d configurations have no prediction: %v", c.arch, c.level, s.Failed, r.Failures)
		}
		if s.Regret1Geomean > c.regret || s.SpearmanMedian < c.spearman || s.MAPE > c.mape {
			t.Errorf("%s %s: regret@1 %.3f, Spearman %.3f, MAPE %.3f: worse than the floors %.3f, %.3f, %.3f", c.arch, c.level,
				s.Regret1Geomean, s.SpearmanMedian, s.MAPE, c.regret, c.spearman, c.mape)
		}
		if r.Build.Limiter.Value() < c.limiter || r.Build.Spill.Value() < c.spil {
			t.Errorf("%s %s: limiter agrees %.3f, spill %.3f: worse than %.3f, %.3f", c.arch, c.level,
				r.Build.Limiter.Value(), r.Build.Spill.Value(), c.limiter, c.spil)
		}
	}
}

// The same for kernels that are not built in, which were predicted before anything
// here had been looked at with them.
func TestFloorsOfFurtherKernels(t *testing.T) {
	for _, c := range []struct {
		dir                    string
		records                int
		level                  simengine.Level
		regret, spearman, mape float64
	}{
		{"further", 160, simengine.Cycle, 1.05, 0.75, 0.14},
		{"further", 160, simengine.Model, 1.05, 0.75, 0.15},
		{"third", 80, simengine.Cycle, 1.10, 0.60, 0.25},
		{"third", 80, simengine.Model, 1.10, 0.60, 0.28},
		{"fourth", 90, simengine.Cycle, 1.05, 0.60, 0.35},
		{"fifth", 80, simengine.Cycle, 1.08, 0.80, 0.18},
		{"fifth", 80, simengine.Model, 1.15, 0.80, 0.20},
		{"sixth", 112, simengine.Cycle, 1.08, 0.70, 0.16},
		{"sixth", 112, simengine.Model, 1.12, 0.65, 0.19},
		{"seventh", 84, simengine.Cycle, 1.03, 0.70, 0.13},
		{"seventh", 84, simengine.Model, 1.06, 0.65, 0.20},
		{"eighth", 96, simengine.Cycle, 1.15, 0.80, 0.12},
		{"eighth", 96, simengine.Model, 1.18, 0.75, 0.14},
		{"ninth", 96, simengine.Cycle, 1.03, 0.83, 0.13},
		{"ninth", 96, simengine.Model, 1.05, 0.78, 0.19},
		{"tenth", 96, simengine.Cycle, 1.06, 0.85, 0.15},
		{"tenth", 96, simengine.Model, 1.06, 0.85, 0.16},
		{"eleventh", 252, simengine.Cycle, 1.08, 0.70, 0.15},
		{"eleventh", 126, simengine.Model, 1.09, 0.70, 0.17},
		{"twelfth", 96, simengine.Cycle, 1.10, 0.70, 0.22},
		{"twelfth", 96, simengine.Model, 1.10, 0.70, 0.25},
		{"thirteenth", 48, simengine.Cycle, 1.10, 0.60, 0.14},
		{"thirteenth", 48, simengine.Model, 1.10, 0.60, 0.16},
		{"fourteenth", 308, simengine.Cycle, 1.10, 0.70, 0.19},
		{"fourteenth", 112, simengine.Model, 1.12, 0.60, 0.22},
		{"fifteenth", 128, simengine.Cycle, 1.10, 0.60, 0.16},
		{"fifteenth", 128, simengine.Model, 1.10, 0.60, 0.17},
		{"sixteenth", 128, simengine.Cycle, 1.10, 0.60, 0.17},
		{"sixteenth", 128, simengine.Model, 1.10, 0.60, 0.17},
		{"seventeenth", 112, simengine.Cycle, 1.08, 0.60, 0.14},
		{"seventeenth", 112, simengine.Model, 1.10, 0.55, 0.16},
	} {
		arch := "h200"
		if slices.Contains([]string{"fourteenth", "fifteenth", "sixteenth", "seventeenth"}, c.dir) {
			arch = "h100"
		}
		recs := sampled(readValidation(t, c.dir+"/"+arch), c.records)
		r := run(t, furtherBatch(t, arch, c.dir), c.level, recs)
		s := r.Summary
		t.Logf("%s, %s: regret@1 %.3f, Spearman %.3f, MAPE %.3f, registers %.3f exact, %.3f near", c.dir, c.level,
			s.Regret1Geomean, s.SpearmanMedian, s.MAPE, r.Build.RegistersExact.Value(), r.Build.RegistersWithin10.Value())
		if s.Failed > 0 {
			t.Errorf("%s, %s: %d configurations have no prediction: %v", c.dir, c.level, s.Failed, r.Failures)
		}
		if s.Regret1Geomean > c.regret || s.SpearmanMedian < c.spearman || s.MAPE > c.mape {
			t.Errorf("%s, %s: regret@1 %.3f, Spearman %.3f, MAPE %.3f: worse than the floors %.3f, %.3f, %.3f", c.dir, c.level,
				s.Regret1Geomean, s.SpearmanMedian, s.MAPE, c.regret, c.spearman, c.mape)
		}
	}
}
