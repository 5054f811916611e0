package evaluate

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// How near clang's programs in nvcc's place have to come to nvcc's, by ptxas and by the predicted time.
const (
	typicalTime     = 1.08 // geometric mean of the larger time over the smaller
	nearTime        = 1.25 // what timesWithin of the configurations keep to
	timesWithin     = 0.9  // nvcc makes an sgemm of 128x32 tiles 2.6 times as slow as clang: 1,796 us, 1,629 measured
	registersWithin = 0.7  // share of configurations within 10 % or 2 registers
)

// knownToDiffer are the files people brought of which the two compilers are known to make different programs, and why.
var knownToDiffer = map[string]string{
	"cub_scan": "CUB's storage is larger than that of the device headers' BlockScan, 288 bytes for 8",
	"pingpong": "ptxas gives nvcc's 135 registers and clang's 128: one CTA of 256 threads fits on an SM, or two",
}

// TestNVCCAndClangAgree holds the two compilers to each other: drawn configurations of the built-in kernels, and those that people
// brought where they are at hand. Registers are what ptxas gives both.
func TestNVCCAndClangAgree(t *testing.T) {
	drivers := []compile.Driver{compile.NewNVCC("", sandbox.DefaultLimits()), compile.NewClangAsNVCC(sandbox.DefaultLimits()).KeepHeaders(t.TempDir())}
	assembler := compile.NewPTXAS("", "", sandbox.DefaultLimits())
	var u *compile.UnavailableError
	for _, d := range drivers {
		if _, err := d.Identify(t.Context()); errors.As(err, &u) {
			t.Skip(err)
		}
	}
	if _, err := assembler.Identify(t.Context(), "sm_90"); errors.As(err, &u) {
		t.Skip(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	var count, near, close int
	var sum float64
	for _, c := range drawnConfigs(t) {
		var out [2]tuner.Outcome
		for i, driver := range drivers {
			if out[i], _, err = New(compile.Of(driver)).Evaluate(t.Context(), Job{Kernel: c.def, Config: c.config, Problem: c.problem, Arch: d, Level: simengine.Model, Check: simengine.CheckNone, Assembler: assembler}); err != nil {
				t.Fatal(err)
			}
		}
		nvcc, clang := &out[0], &out[1]
		if why := knownToDiffer[c.def.Name]; why != "" {
			t.Logf("%s %s: %s %.2f us by nvcc, %s %.2f us by clang: %s", c.def.Name, c.config, nvcc.Validity, nvcc.TimeUS, clang.Validity, clang.TimeUS, why)
			continue
		}
		if nvcc.Validity != clang.Validity {
			t.Errorf("%s %s: by nvcc %s %s, by clang %s %s", c.def.Name, c.config, nvcc.Validity, nvcc.Message, clang.Validity, clang.Message)
			continue
		}
		if nvcc.Validity != tuner.Correct {
			continue
		}
		ratio := clang.TimeUS / nvcc.TimeUS
		t.Logf("%-16s %-60s time x%.3f, registers %d and %d, spills %d and %d", c.def.Name, c.config, ratio, nvcc.Registers, clang.Registers, nvcc.SpillBytes, clang.SpillBytes)
		count++
		sum += math.Abs(math.Log(ratio))
		if off := math.Abs(float64(clang.Registers - nvcc.Registers)); off <= max(2, 0.1*float64(nvcc.Registers)) {
			near++
		}
		if ratio <= nearTime && ratio >= 1/nearTime {
			close++
		}
		if clang.Shared != nvcc.Shared {
			t.Errorf("%s %s: %d bytes of shared memory by clang, %d by nvcc", c.def.Name, c.config, clang.Shared, nvcc.Shared)
		}
	}
	typical, times, registers := math.Exp(sum/float64(count)), float64(close)/float64(count), float64(near)/float64(count)
	t.Logf("%d configurations: times a factor of %.3f apart, %.0f %% within %.2f; registers of %.0f %% near", count, typical, 100*times, nearTime, 100*registers)
	if typical > typicalTime || times < timesWithin || registers < registersWithin {
		t.Errorf("want a factor of at most %.3f, %.0f %% of the times and %.0f %% of the registers", typicalTime, 100*timesWithin, 100*registersWithin)
	}
}

// drawn is a configuration to compile.
type drawn struct {
	def     *kernel.Definition
	config  search.Config
	problem []int64
}

// drawnConfigs are two configurations of each built-in kernel, drawn, and one of each file that people brought.
func drawnConfigs(t *testing.T) (list []drawn) {
	rng := rand.New(rand.NewPCG(1, 0)) // the bounds are of these
	for _, k := range catalogue.All() {
		def, err := k.Definition()
		if err != nil {
			t.Fatal(err)
		}
		space, err := def.Space(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			list = append(list, drawn{def, space.At(rng.Int64N(space.Size())), nil})
		}
	}
	names, _ := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "cases", "wild", "*.json"))
	for _, name := range names {
		def, _, err := kernel.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if space, err := def.Space(nil, nil); err == nil && wildRefused[def.Name] == "" {
			list = append(list, drawn{def, space.At(0), nil})
		}
	}
	return list
}
