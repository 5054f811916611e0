package evaluate_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
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

// What idealising a mechanism gains is what the built-in kernels' variants without it gain, in the simulator and on an
// H200 (deploy/calibrate/datasets/h200-built-in and shared/silicon/h200, medians in microseconds of the configuration and
// of the variant). Each pair says by what factor at most the machine without the mechanism may differ from the variant,
// and its gain from the measured one.
//
//   - Where all lanes read one constant, the compiler makes it an operand: its load and its address are saved, too.
//   - The transpose in tiles of 16 by 16 has one element a thread, as the naive one; in tiles of 32 by 8 it has four.
//   - Atomics on few words are simulated as 1.6 times as fast as they were measured where a block updates many times.
//   - An array in registers needs unrolled loops. What else they save is the algorithm's matter: a network of exchanges
//     is half of the ranking's time.
func TestIdealPredictsVariants(t *testing.T) {
	for _, tt := range []struct {
		kernel, with     string
		variant, without string
		mechanism        ideal.Set
		measured         [2]float64
		factor           float64
	}{
		{"transpose_tiled", "TILE=32,ROWS=8,PAD=0", "", "TILE=32,ROWS=8,PAD=1", ideal.Banks, [2]float64{333.328, 149.515}, 1.05},
		{"copy_strided", "BLOCK_SIZE=256,STRIDE=4", "", "BLOCK_SIZE=256,STRIDE=1", ideal.Coalescing, [2]float64{23.0914, 12.3139}, 1.06},
		{"copy_strided", "BLOCK_SIZE=256,STRIDE=8", "", "BLOCK_SIZE=256,STRIDE=1", ideal.Coalescing, [2]float64{37.0647, 12.3139}, 1.06},
		{"copy_strided", "BLOCK_SIZE=256,STRIDE=32", "", "BLOCK_SIZE=256,STRIDE=1", ideal.Coalescing, [2]float64{76.576, 12.3139}, 1.06},
		{"transpose_naive", "BLOCK_X=32,BLOCK_Y=8", "transpose_tiled", "TILE=16,ROWS=16,PAD=1", ideal.Coalescing, [2]float64{1018.4, 267.232}, 1.06},
		{"transpose_naive", "BLOCK_X=8,BLOCK_Y=32", "transpose_tiled", "TILE=16,ROWS=16,PAD=1", ideal.Coalescing, [2]float64{277.8667, 267.232}, 1.06},
		{"transpose_naive", "BLOCK_X=8,BLOCK_Y=32", "transpose_tiled", "TILE=32,ROWS=8,PAD=1", ideal.Coalescing | ideal.Latency, [2]float64{277.8667, 149.515}, 1.3},
		{"reduce", "BLOCK_SIZE=256,ITEMS=1,VARIANT=0", "", "BLOCK_SIZE=256,ITEMS=1,VARIANT=1", ideal.Divergence | ideal.Banks, [2]float64{213.336, 170.726}, 1.06},
		{"reduce", "BLOCK_SIZE=256,ITEMS=1,VARIANT=0", "", "BLOCK_SIZE=256,ITEMS=8,VARIANT=0", ideal.CTAWork | ideal.Latency, [2]float64{213.336, 61.84}, 1.08},
		{"reduce", "BLOCK_SIZE=256,ITEMS=1,VARIANT=2", "", "BLOCK_SIZE=256,ITEMS=8,VARIANT=2", ideal.CTAWork | ideal.Latency, [2]float64{118.1349, 61.0674}, 1.08},
		{"const_filter", "BLOCK_SIZE=256,TAPS=32,DIVERGENT=1", "", "BLOCK_SIZE=256,TAPS=32,DIVERGENT=0", ideal.Constants, [2]float64{4131.01, 102.24}, 1.4},
		{"histogram", "BLOCK_SIZE=256,COPIES=0,ITEMS=4", "", "BLOCK_SIZE=256,COPIES=1,ITEMS=4", ideal.Atomics, [2]float64{17305.5996, 689.504}, 1.1},
		{"histogram", "BLOCK_SIZE=256,COPIES=0,ITEMS=64", "", "BLOCK_SIZE=256,COPIES=4,ITEMS=64", ideal.Atomics, [2]float64{17369.5059, 111.3305}, 1.6},
		{"histogram", "BLOCK_SIZE=256,COPIES=1,ITEMS=4", "", "BLOCK_SIZE=256,COPIES=4,ITEMS=64", ideal.L2Atomics, [2]float64{689.504, 111.3305}, 1.35},
		{"histogram", "BLOCK_SIZE=256,COPIES=1,ITEMS=4", "", "BLOCK_SIZE=256,COPIES=4,ITEMS=64", ideal.CTAWork, [2]float64{689.504, 111.3305}, 1.1},
		{"reduce_atomic", "BLOCK_SIZE=128,ITEMS=16,VARIANT=0", "", "BLOCK_SIZE=128,ITEMS=16,VARIANT=2", ideal.Atomics, [2]float64{7382.688, 81.0578}, 1.35},
		{"reduce_atomic", "BLOCK_SIZE=128,ITEMS=16,VARIANT=1", "", "BLOCK_SIZE=128,ITEMS=16,VARIANT=2", ideal.Atomics, [2]float64{244.4533, 81.0578}, 1.35},
		{"median_1d", "BLOCK_SIZE=128,SORT=0", "", "BLOCK_SIZE=256,SORT=2", ideal.LocalArrays | ideal.Divergence, [2]float64{1337.8881, 153.7209}, 1.3},
		{"median_1d", "BLOCK_SIZE=128,SORT=0", "", "BLOCK_SIZE=128,SORT=1", ideal.LocalArrays | ideal.Divergence, [2]float64{1337.8881, 83.0155}, 2.5},
	} {
		plain, machine := idealTime(t, tt.kernel, tt.with, 0), idealTime(t, tt.kernel, tt.with, tt.mechanism)
		other := cmp.Or(tt.variant, tt.kernel)
		variant := idealTime(t, other, tt.without, 0)
		gain, measured := plain/machine, tt.measured[0]/tt.measured[1]
		t.Logf("%s %s: %.1f us, %.1f without %s (%.2f times, measured %.2f), %.1f of %s %s", tt.kernel, tt.with, plain, machine, tt.mechanism, gain, measured, variant, other, tt.without)
		if apart(machine, variant) > tt.factor {
			t.Errorf("%s %s: %.1f us without %s, and %.1f of %s %s", tt.kernel, tt.with, machine, tt.mechanism, variant, other, tt.without)
		}
		if apart(gain, measured) > tt.factor {
			t.Errorf("%s %s: without %s %.2f times faster, measured %.2f", tt.kernel, tt.with, tt.mechanism, gain, measured)
		}
	}
}

// apart is the larger of two numbers over the smaller.
func apart(a, b float64) float64 { return max(a, b) / min(a, b) }

// idealTime is the time of a configuration on an H200 on which mechanisms cost nothing.
func idealTime(t *testing.T, name, config string, without ideal.Set) float64 {
	t.Helper()
	k, err := catalogue.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		t.Fatal(err)
	}
	cfg := def.Default()
	list, err := search.ParseAssignments(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		i := slices.Index(cfg.Names, a.Name)
		if i < 0 {
			t.Fatalf("%s has no %s", name, a.Name)
		}
		if cfg.Values[i], err = search.ParseValue(cfg.Values[i].Kind, a.Text); err != nil {
			t.Fatal(err)
		}
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	o, _, err := evaluate.New(compiler).Evaluate(context.Background(), evaluate.Job{Kernel: def, Config: cfg, Arch: d, Level: simengine.Cycle, Ideal: without})
	if err != nil || o.Validity != tuner.Correct {
		t.Fatalf("%s %s: %v %s", name, config, err, o.Message)
	}
	return o.TimeUS
}

// Asking for lines changes nothing of an outcome, and all that has lines are those of the kernel's source.
func TestStudyIsTheOutcome(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
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
		job := evaluate.Job{Kernel: def, Config: space.At(r.Int64N(space.Size())), Arch: d, Level: simengine.Cycle}
		plain, _, err := evaluate.New(compiler).Evaluate(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		job.Lines = true
		lines, report, err := evaluate.New(compiler).Evaluate(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(plain, lines) {
			t.Errorf("seed %d, %s %v: with lines %+v, without %+v", seed, k.Name, job.Config, lines, plain)
		}
		if report == nil {
			continue
		}
		if report.Digest != plain.Digest {
			t.Errorf("%s: the report's digest is %s, the outcome's %s", k.Name, report.Digest, plain.Digest)
		}
		some := 0
		for _, l := range report.Lines {
			if strings.HasPrefix(l.Line, k.Name+".cu:") {
				some++
			}
		}
		if some == 0 {
			t.Errorf("seed %d, %s %v: no line of the source", seed, k.Name, job.Config)
		}
	}
}
