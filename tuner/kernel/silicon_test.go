package kernel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// shared returns a path in the data beside the repository, or skips.
func shared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not beside the repository", name)
	}
	return path
}

// measured is a record of silicon/h200/timings.jsonl.gz.
type measured struct {
	Kernel      string                     `json:"kernel"`
	Group       string                     `json:"group"`
	ProblemSize []int64                    `json:"problem_size"`
	Params      map[string]json.RawMessage `json:"params"`
	PTX         string                     `json:"ptx"`
	Block       [3]int64                   `json:"block"`
	Grid        [3]int64                   `json:"grid"`
	DynamicSmem int                        `json:"dynamic_smem"`
}

func readMeasured(t testing.TB, name string) []measured {
	t.Helper()
	list, err := results.Read[measured](shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// siliconSizes are the spaces' sizes that the definitions' conditions leave.
var siliconSizes = map[string]int64{
	"blur": 128, "compute_bound": 72, "const_filter": 36, "copy": 24, "copy_strided": 30, "fat_threads": 112, "laplace_2d": 216,
	"random_gather": 24, "reduce": 90, "sgemm": 714, "stencil_1d": 224, "transpose_naive": 27, "transpose_tiled": 374,
}

func loadSilicon(t testing.TB) map[string]*Definition {
	t.Helper()
	dir := shared(t, "silicon/kernels")
	defs := map[string]*Definition{}
	for name := range siliconSizes {
		d, warnings, err := Load(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range warnings {
			if !strings.Contains(w.Message, "own defaults") { // four of the definitions start outside their space
				t.Errorf("%s: %s", name, w)
			}
		}
		defs[name] = d
	}
	return defs
}

func TestSiliconSpaces(t *testing.T) {
	for name, d := range loadSilicon(t) {
		s, err := d.Space(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Size() != siliconSizes[name] || d.Name != name {
			t.Errorf("%s: %d configurations, want %d", name, s.Size(), siliconSizes[name])
		}
	}
}

// TestSiliconLaunches: every measured configuration is in its space, is
// launched as it was measured, and shares its compilation with exactly those
// that shared a PTX file.
func TestSiliconLaunches(t *testing.T) {
	defs := loadSilicon(t)
	spaces := map[string]*search.Space{}
	keys, files := map[string]string{}, map[string]string{}
	for _, m := range readMeasured(t, "silicon/h200/timings.jsonl.gz") {
		d := defs[m.Kernel]
		if spaces[m.Kernel] == nil {
			spaces[m.Kernel], _ = d.Space(m.ProblemSize, nil)
		}
		values := map[string]string{}
		for k, v := range m.Params {
			values[k] = string(v)
		}
		cfg, err := d.Config(values)
		if err != nil {
			t.Fatal(err)
		}
		if err := spaces[m.Kernel].Check(cfg); err != nil {
			t.Fatal(err)
		}
		if _, ok := spaces[m.Kernel].IndexOf(cfg); !ok {
			t.Fatalf("%s %s is not in the space", m.Kernel, cfg)
		}
		l, err := d.Launch(cfg, m.ProblemSize)
		if err != nil {
			t.Fatal(err)
		}
		if l.Block != m.Block || l.Grid != m.Grid || l.DynamicShared != m.DynamicSmem {
			t.Fatalf("%s %s: grid %v block %v shared %d, measured %v %v %d", m.Kernel, cfg, l.Grid, l.Block, l.DynamicShared, m.Grid, m.Block, m.DynamicSmem)
		}
		checkCaps(t, l, cfg)
		key := l.Compile.Key
		if other, ok := keys[key]; ok && other != m.PTX || files[m.PTX] != "" && files[m.PTX] != key {
			t.Fatalf("%s %s: key %s, PTX %s, earlier PTX %s", m.Kernel, cfg, key, m.PTX, keys[key])
		}
		keys[key], files[m.PTX] = m.PTX, key
	}
}

func checkCaps(t *testing.T, l *call.Launch, cfg search.Config) {
	t.Helper()
	if v, ok := cfg.Get("max_registers"); ok && int64(l.MaxRegisters) != v.I || !ok && l.MaxRegisters != 0 {
		t.Fatalf("%s: register cap %d", cfg, l.MaxRegisters)
	}
	if v, ok := cfg.Get("smem_carveout"); ok && int64(l.CarveOut) != v.I || !ok && l.CarveOut != -1 {
		t.Fatalf("%s: carve-out %d", cfg, l.CarveOut)
	}
}

// TestSiliconArguments: sizes and values of some arguments, by hand.
func TestSiliconArguments(t *testing.T) {
	defs := loadSilicon(t)
	launch := func(kernel string, problem []int64, text map[string]string) *call.Launch {
		cfg, err := defs[kernel].Config(text)
		if err != nil {
			t.Fatal(err)
		}
		l, err := defs[kernel].Launch(cfg, problem)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := launch("const_filter", nil, nil)
	if c := l.Constants; len(c) != 1 || c[0].Name != "coef" || c[0].Count != 256 || c[0].Fill != (call.Fill{Kind: call.FillConstant, Value: 0.03125}) || len(l.Args) != 3 {
		t.Errorf("const_filter: %+v", c)
	}
	l = launch("random_gather", []int64{1024, 4096}, nil)
	if a := l.Args[1]; a.Type != call.Int32 || a.Count != 1024 || a.Fill.Kind != call.FillRandom || a.Fill.Value != 4096 || a.Access != call.ReadOnly {
		t.Errorf("random_gather: %+v", a)
	}
	if a := l.Args[3]; !a.Scalar || a.Bits != 1024 || a.Type != call.Int32 {
		t.Errorf("random_gather: %+v", a)
	}
	l = launch("copy_strided", []int64{512}, map[string]string{"STRIDE": "8"})
	if a := l.Args[0]; a.Count != 4096 {
		t.Errorf("copy_strided: %+v", a)
	}
}

func TestSiliconBundles(t *testing.T) {
	for name, d := range loadSilicon(t) {
		data, digest, err := d.Bundle()
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := OpenBundle(data)
		if err != nil {
			t.Fatal(err)
		}
		again, digest2, err := o.Bundle()
		if err != nil || digest2 != digest || string(again) != string(data) {
			t.Errorf("%s: bundle changes when reopened: %v", name, err)
		}
		a, _ := d.Launch(d.Default(), nil)
		b, _ := o.Launch(o.Default(), nil)
		if a == nil || b == nil || a.Compile.Key != b.Compile.Key {
			t.Errorf("%s: launches differ", name)
		}
	}
}
