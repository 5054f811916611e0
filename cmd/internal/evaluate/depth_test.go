package evaluate

import (
	"reflect"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// However much is checked, the prediction is the same, and the answers are never taken for each other.
func TestCheckingChangesNoPrediction(t *testing.T) {
	rng := seeded(t)
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
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
		cfg := space.At(rng.Int64N(space.Size()))
		for _, level := range []simengine.Level{simengine.Model, simengine.Cycle} {
			digests := map[string]bool{}
			var first *simengine.Report
			ev, answers := New(compiler), NewAnswers()
			for _, depth := range []simengine.Depth{simengine.CheckNone, simengine.CheckSample, simengine.CheckAll} {
				for _, warn := range []bool{false, true} {
					out, report, err := ev.Evaluate(t.Context(), Job{
						Kernel: def, Config: cfg, Problem: problem, Arch: d, Level: level, Check: depth, Warn: warn, Answers: answers,
					})
					if err != nil || out.Validity != tuner.Correct {
						t.Fatalf("%s %v: %v %s %v", k.Name, cfg, out.Validity, out.Message, err)
					}
					digests[report.Digest] = true
					if first == nil {
						first = report
					}
					same := *report
					same.Checked, same.Execution, same.Digest = first.Checked, first.Execution, first.Digest
					if !reflect.DeepEqual(&same, first) {
						t.Errorf("%s %v, --check %v, warn %v: %g us, and %g us with --check none", k.Name, cfg, depth, warn, report.TimeUS, first.TimeUS)
					}
				}
			}
			if len(digests) != 6 {
				t.Errorf("%s: %d digests of 6 questions", k.Name, len(digests))
			}
		}
	}
}
