package evaluate

import (
	"os"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// smallProblems are sizes of the built-in kernels of which every CTA is executed in a moment.
var smallProblems = map[string][]int64{
	"blur": {256, 64}, "compute_bound": {4096, 4}, "const_filter": {4096}, "copy": {16384}, "copy_strided": {2048},
	"fat_threads": {1024, 2}, "histogram": {70000}, "laplace_2d": {256}, "median_1d": {4096}, "moving_average": {8192, 16},
	"nbody": {2048}, "prefix_sum": {5000}, "random_gather": {8192, 10000}, "reduce": {70000}, "reduce_atomic": {70000},
	"sgemm": {128}, "stencil_1d": {8192}, "table_lookup": {8192, 4096}, "transpose_naive": {128}, "transpose_tiled": {128},
}

// No right configuration is called wrong, whatever is executed of it: those of the built-in kernels.
func TestRightConfigurationsAreNotCalledWrong(t *testing.T) {
	each, rng := 3, seeded(t)
	if os.Getenv("WARPTUNE_FULL") != "" {
		each = 10
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	right, compared := 0, 0
	for _, k := range catalogue.All() {
		def, err := k.Definition()
		if err != nil {
			t.Fatal(err)
		}
		problem := smallProblems[k.Name]
		space, err := def.Space(problem, nil)
		if err != nil {
			t.Fatal(err)
		}
		ev, answers := New(compiler), NewAnswers()
		for range each {
			cfg := space.At(rng.Int64N(space.Size()))
			out, _, err := ev.Evaluate(t.Context(), Job{
				Kernel: def, Config: cfg, Problem: problem, Arch: d, Level: simengine.Model, Check: simengine.CheckAll, Answers: answers,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %v: %s %s %+v", k.Name, cfg, out.Validity, out.Message, out.Checked)
			if out.Validity != tuner.Correct {
				t.Errorf("%s %v: %s: %s", k.Name, cfg, out.Validity, out.Message)
				continue
			}
			if right++; out.Checked.Compared > 0 {
				compared++
			}
			if out.Checked.CTAs != out.Checked.Of {
				t.Errorf("%s %v: %d of %d CTAs executed", k.Name, cfg, out.Checked.CTAs, out.Checked.Of)
			}
		}
	}
	t.Logf("%d right configurations, outputs of %d compared", right, compared)
}
