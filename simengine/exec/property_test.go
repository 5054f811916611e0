package exec

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/ir"
)

// variants picks one file of each kernel of the dataset that fits its small
// problem.
func variants(t *testing.T, archive string) []record {
	var out []record
	seen := map[string]bool{}
	name := map[string]string{"ptx.zip": "timings.jsonl.gz", "ptx-clang.zip": "timings-clang.jsonl.gz"}[archive]
	for _, rec := range records(t, name) {
		// USE_SMEM and VARIANT are different programs.
		key := fmt.Sprint(rec.Kernel, rec.Params["USE_SMEM"], rec.Params["VARIANT"])
		if !seen[key] && fits(&rec) && rec.Block[0]*rec.Block[1] >= 64 {
			seen[key] = true
			out = append(out, rec)
		}
	}
	return out
}

// TestMissingBarriers takes each barrier out of each kernel in turn and
// expects a race, unless the barrier orders nothing.
func TestMissingBarriers(t *testing.T) {
	found := 0
	for _, rec := range variants(t, "ptx.zip") {
		text := string(ptxFile(t, "ptx.zip", rec.PTX))
		parts := strings.Split(text, "bar.sync \t0;")
		for cut := 1; cut < len(parts); cut++ {
			mutant := strings.Join(parts[:cut], "bar.sync \t0;") + strings.Join(parts[cut:], "bar.sync \t0;")
			k := buildKernel(t, rec.PTX, []byte(mutant))
			p := setUp(t, k, rec.Kernel, small[rec.Kernel], rec.Params, rec.Block)
			err := NewRunner(compileFor(t, k, Full)).Run(p.launch, p.mem, 0, Options{Races: true}, nil)
			var f *fault.Fault
			if errors.As(err, &f) && f.Kind == fault.Race {
				found++
				continue
			}
			// The reductions synchronise once more than they need: after the
			// last step, where one warp is left.
			if rec.Kernel != "reduce" || err != nil {
				t.Errorf("%s %v without barrier %d: %v, want a race", rec.PTX, rec.Params, cut, err)
			}
		}
	}
	if found < 8 {
		t.Errorf("%d races found in kernels without one of their barriers", found)
	}
}

// TestNewNames checks that the names of registers and labels do not matter.
func TestNewNames(t *testing.T) {
	register := regexp.MustCompile(`%(rd|rs|r|f|p|fd)(\d+)`)
	for _, rec := range variants(t, "ptx.zip") {
		text := string(ptxFile(t, "ptx.zip", rec.PTX))
		named := regexp.MustCompile(`%(rd|rs|r|f|p|fd)<`).ReplaceAllString(text, "%zz_$1<")
		named = register.ReplaceAllString(named, "%zz_$1$2")
		named = strings.ReplaceAll(named, "$L__BB0_", "LABEL_")
		var traces [2]map[int][]event
		for i, source := range []string{text, named} {
			k := buildKernel(t, rec.PTX, []byte(source))
			p := setUp(t, k, rec.Kernel, small[rec.Kernel], rec.Params, rec.Block)
			traces[i] = runJournal(t, p, compileFor(t, k, Slice), 0, Options{LoopSample: 3}).warps
		}
		if !reflect.DeepEqual(traces[0], traces[1]) {
			t.Errorf("%s: other names, another trace", rec.PTX)
		}
	}
}

// TestOrderOfCTAs checks that independent CTAs leave the same memory in any
// order, and that a runner used before leaves the same as a new one.
func TestOrderOfCTAs(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	for _, rec := range variants(t, "ptx.zip") {
		if rec.Kernel == "sgemm" || rec.Kernel == "compute_bound" {
			continue // long, and no different in this
		}
		k := buildKernel(t, rec.PTX, ptxFile(t, "ptx.zip", rec.PTX))
		p := setUp(t, k, rec.Kernel, small[rec.Kernel], rec.Params, rec.Block)
		run := NewRunner(compileFor(t, k, Full))
		var images [2][]byte
		for i := range images {
			p.mem.Reset()
			for _, cta := range r.Perm(int(p.launch.Grid.Count())) {
				if err := run.Run(p.launch, p.mem, int64(cta), Options{}, nil); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if images[i], err = p.mem.ReadBuffer("out"); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(images[0], images[1]) {
			t.Errorf("%s: the order of CTAs changes the result (seed %d)", rec.PTX, seed)
		}
	}
}

// discard is an observer that does nothing.
type discard struct{}

func (discard) Step(int, int, uint32)                                     {}
func (discard) Repeat(int, int, int64)                                    {}
func (discard) Access(int, int, ir.Space, int, uint32, *[WarpSize]uint64) {}
func (discard) Restart()                                                  {}

func TestRunAllocates(t *testing.T) {
	for _, rec := range variants(t, "ptx.zip") {
		k := buildKernel(t, rec.PTX, ptxFile(t, "ptx.zip", rec.PTX))
		p := setUp(t, k, rec.Kernel, small[rec.Kernel], rec.Params, rec.Block)
		run := NewRunner(compileFor(t, k, Slice))
		var obs Observer = discard{}
		cta := func() {
			if err := run.Run(p.launch, p.mem, 0, Options{LoopSample: 3}, obs); err != nil {
				t.Fatal(err)
			}
		}
		cta()
		if n := testing.AllocsPerRun(3, cta); n > 0 {
			t.Errorf("%s: %v allocations a CTA, want none", rec.PTX, n)
		}
	}
}

// TestEveryFile compiles every PTX file of the dataset in both modes.
func TestEveryFile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles 1,094 files")
	}
	seen := map[string]bool{}
	for _, archive := range [][2]string{{"timings.jsonl.gz", "ptx.zip"}, {"timings-clang.jsonl.gz", "ptx-clang.zip"}} {
		for i, rec := range records(t, archive[0]) {
			key := archive[1] + rec.PTX
			if seen[key] || i%7 != 0 {
				continue
			}
			seen[key] = true
			k := buildKernel(t, rec.PTX, ptxFile(t, archive[1], rec.PTX))
			compileFor(t, k, Full)
			compileFor(t, k, Slice)
		}
	}
}
