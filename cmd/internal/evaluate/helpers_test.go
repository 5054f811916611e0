package evaluate_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// With helpers a study is what it is without, in the same order: of built-in kernels, in random configurations.
func TestHelpersChangeNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reduce", "histogram", "fat_threads", "transpose_tiled"} {
		k, err := catalogue.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		def, err := k.Definition()
		if err != nil {
			t.Fatal(err)
		}
		space, err := def.Space(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		job := evaluate.Job{Kernel: def, Config: space.At(r.Int64N(space.Size())), Arch: d, Level: simengine.Cycle, Answers: evaluate.NewAnswers()}
		study := func(helpers ...*evaluate.Evaluator) string {
			s, err := evaluate.New(compiler).Study(context.Background(), job, helpers...)
			if err != nil {
				t.Fatalf("%s %v: %v", name, job.Config, err)
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if alone, helped := study(), study(evaluate.New(compiler), evaluate.New(compiler)); alone != helped {
			t.Errorf("%s %v:\n%s\nwith helpers\n%s", name, job.Config, alone, helped)
		}
	}
}
