package evaluate_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// A machine of which a mechanism costs nothing is not slower: of the built-in kernels, in random configurations.
func TestIdealIsNeverSlower(t *testing.T) {
	seed := rand.Uint64()
	if text := os.Getenv("WARPTUNE_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt"})
	if err != nil {
		t.Fatal(err)
	}
	each := 1
	if text := os.Getenv("WARPTUNE_EACH"); text != "" {
		each, _ = strconv.Atoi(text)
	}
	for _, k := range catalogue.All() {
		def, err := k.Definition()
		if err != nil {
			t.Fatal(err)
		}
		space, err := def.Space(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := evaluate.New(compiler)
		for range each {
			name := []string{"h200", "a100", "rtx2080ti"}[r.IntN(3)]
			d, err := arch.Load(name)
			if err != nil {
				if d, err = arch.Load("h200"); err != nil {
					t.Fatal(err)
				}
			}
			job := evaluate.Job{Kernel: def, Config: space.At(r.Int64N(space.Size())), Arch: d, Level: []simengine.Level{simengine.Cycle, simengine.Model}[r.IntN(2)]}
			plain, _, err := e.Evaluate(context.Background(), job)
			if err != nil {
				t.Fatal(err)
			}
			if plain.Validity != tuner.Correct {
				continue
			}
			ideal.All.Each(func(m ideal.Set) {
				job.Ideal = m
				o, _, err := e.Evaluate(context.Background(), job)
				if err != nil || o.Validity != tuner.Correct {
					t.Errorf("seed %d, %s %v on %s without %s: %v %s", seed, k.Name, job.Config, d.Name, m, err, o.Message)
					return
				}
				if o.Digest == plain.Digest {
					t.Errorf("without %s the digest is the same", m)
				}
				if o.TimeUS > plain.TimeUS {
					t.Errorf("seed %d, %s %v on %s, level %s, without %s: %.4g us instead of %.4g", seed, k.Name, job.Config, d.Name, job.Level, m, o.TimeUS, plain.TimeUS)
				}
			})
			job.Ideal = 0
		}
	}
}
