package evaluate

import (
	"fmt"
	"math"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// Staging a convolution's input in shared memory wins on A100 and loses on A4000 and
// A6000 (the best of Kernel Tuner's convolution spaces): GA102's load/store unit
// takes a warp's shared load no faster than one that hits L1.
func TestConvolutionInSharedMemory(t *testing.T) {
	k, err := catalogue.Open("blur")
	if err != nil {
		t.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	ev := New(compiler)
	best := func(d *arch.Descriptor, level simengine.Level, shared int) float64 {
		least := math.Inf(1)
		for _, block := range [][2]int{{32, 4}, {32, 8}, {64, 4}} {
			cfg := def.Default()
			for name, v := range map[string]int{"BLOCK_X": block[0], "BLOCK_Y": block[1], "USE_SMEM": shared, "PAD": 0, "R": 4} {
				set(t, cfg, name, v)
			}
			out, _, err := ev.Evaluate(t.Context(), Job{Kernel: def, Config: cfg, Problem: []int64{4096, 4096}, Arch: d, Level: level})
			if err != nil || out.Validity != tuner.Correct {
				t.Fatalf("%v on %s: %v %s %v", cfg, d.Name, out.Validity, out.Message, err)
			}
			least = min(least, out.TimeUS)
		}
		return least
	}
	for name, wins := range map[string]bool{"a100": true, "a4000": false, "a6000": false} {
		d, err := arch.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			with, without := best(d, level, 1), best(d, level, 0)
			t.Logf("%s, level %v: %.0f us with shared memory, %.0f us without", name, level, with, without)
			if (with < without) != wins {
				t.Errorf("%s, level %v: %.0f us with shared memory, %.0f us without", name, level, with, without)
			}
		}
	}
}

func set(t *testing.T, cfg search.Config, name string, value int) {
	t.Helper()
	for i, n := range cfg.Names {
		if n == name {
			v, err := search.ParseValue(cfg.Values[i].Kind, fmt.Sprint(value))
			if err != nil {
				t.Fatal(err)
			}
			cfg.Values[i] = v
			return
		}
	}
	t.Fatalf("no parameter %s", name)
}
