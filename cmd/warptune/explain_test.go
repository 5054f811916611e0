package main

import (
	"cmp"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/simengine"
)

// explain names what bounds a launch and how near that is to its peak, which time is which, and an array that is in
// local memory though nothing is spilled; the ranked table says so of its rows.
func TestExplainSaysWhatBinds(t *testing.T) {
	out := warptune(t, "explain", "median_1d", "--arch", "h200", "--level", "model", "--problem", "65536", "--config", "SORT=0,BLOCK_SIZE=128").ok(t).stdout
	for _, want := range []string{"bound by", "of its peak", " on the GPU (gpu__time_duration.sum) and ", "0 bytes spilled", "local memory", "is indexed at run time (PTX line "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	db := filepath.Join(t.TempDir(), "x.db")
	out = warptune(t, "tune", "median_1d", "--arch", "h200", "--level", "model", "--problem", "65536", "--set", "BLOCK_SIZE=128", "--set", "max_registers=0", "--set", "smem_carveout=-1", "--db", db).ok(t).stdout
	if !strings.Contains(out, "no spills, but a variable of a thread's own in local memory (explain says where): rank ") {
		t.Errorf("the table says nothing of local memory:\n%s", out)
	}
	out = warptune(t, "explain", "copy", "--arch", "h200", "--level", "model", "--config", "BLOCK_SIZE=256,ITEMS=4").ok(t).stdout
	if !strings.Contains(out, "bound by DRAM bandwidth, at ") || strings.Contains(out, "local memory") {
		t.Errorf("a copy is not bound by DRAM:\n%s", out)
	}
}

// A space without a configuration is said to be empty; one of more configurations than fit an index times an index is
// looked at from end to end.
func TestExplainChooses(t *testing.T) {
	path := given(t, "copy", func(d map[string]any) {
		part(t, d, "ConfigurationSpace")["Conditions"] = []any{map[string]any{"Parameters": []any{"ITEMS"}, "Expression": "ITEMS > 99"}}
	})
	r := warptune(t, "explain", path, "--arch", "h200", "--db", filepath.Join(t.TempDir(), "x.db"))
	if r.code != exitFailed || !strings.Contains(r.stderr, "no configuration of") {
		t.Errorf("an empty space: status %d, %s", r.code, r.stderr)
	}
}

// What introductions to CUDA teach, explain says of kernels that do otherwise, first of all but for what gains more, and
// at the line where they do; what it says will be gained, the variant without gains in the simulator, within the factor that each names.
func TestExplainIntroductions(t *testing.T) {
	for _, tt := range []struct {
		about, kernel, config, line, topic string
		want                               []string
		variant, without                   string // kernel, "" the same, and configuration; "": there is none
		factor                             float64
		place                              int  // of the finding
		both                               bool // what it gains with a second change is compared
	}{
		{"stride", "copy_strided", "BLOCK_SIZE=256,STRIDE=8", "4", "coalescing", []string{"reads global memory uncoalesced: a request touches 32 sectors of 32 bytes where its bytes fill 4, 12.5 % of what is moved is used", "neighbouring threads are 8 elements apart. Let neighbouring threads access neighbouring elements", "If it were coalesced: 11."}, "", "BLOCK_SIZE=256,STRIDE=1", 1.06, 0, false},
		{"stores", "transpose_naive", "BLOCK_X=32,BLOCK_Y=8", "4", "coalescing", []string{"writes global memory uncoalesced: a request touches 32 sectors", "o through a tile in shared memory"}, "transpose_tiled", "TILE=16,ROWS=16,PAD=1", 1.06, 0, false},
		{"stores that something hides", "transpose_naive", "BLOCK_X=8,BLOCK_Y=32", "4", "coalescing", []string{"writes global memory uncoalesced: a request touches 8 sectors of 32 bytes where its bytes fill 4", "1.04 times faster", "With the latency of memory hidden too: 182."}, "transpose_tiled", "TILE=16,ROWS=16,PAD=1", 1.06, 0, false},
		{"a stride that launching hides", "copy_strided", "BLOCK_SIZE=64,STRIDE=8", "4", "coalescing", []string{"reads global memory uncoalesced: a request touches 32 sectors of 32 bytes where its bytes fill 4", "If it were coalesced, nothing would be gained. With more work a CTA, so that launching costs nothing, too: "}, "", "", 0, 0, false},
		{"padding", "transpose_tiled", "TILE=32,ROWS=8,PAD=0", "14", "bank conflicts", []string{"reads shared memory with 32-way bank conflicts: a request takes 32 wavefronts where 1 would do (97 % of them repeat). Pad the row of 32 elements by one element", "2.25 times faster"}, "", "TILE=32,ROWS=8,PAD=1", 1.05, 0, false},
		{"constants", "const_filter", "BLOCK_SIZE=256,TAPS=32,DIVERGENT=1", "9", "constants", []string{"reads constant memory at 32 different addresses a request", "the constant cache would still bound it, and issue slots lost to mio_throttle fall from 87 % to 0 %. A change may gain more: a constant that all lanes read takes no load"}, "", "BLOCK_SIZE=256,TAPS=32,DIVERGENT=0", 1.4, 0, false},
		{"work of a CTA", "reduce", "VARIANT=0,BLOCK_SIZE=256,ITEMS=1", "17", "work of a CTA", []string{"what each CTA does once is 75 % of the kernel's instructions", "for only 2 loads from global memory a thread. More elements a thread before this, and so fewer CTAs", "With the latency of memory hidden too: "}, "", "VARIANT=0,BLOCK_SIZE=256,ITEMS=8", 1.05, 0, true},
		{"conflicts of a divergent reduction", "reduce", "VARIANT=0,BLOCK_SIZE=256,ITEMS=1", "17", "bank conflicts", []string{"hardly more than that by itself", "neighbouring threads are 2 elements apart"}, "", "", 0, 1, false},
		{"divergent reduction", "reduce", "VARIANT=0,BLOCK_SIZE=256,ITEMS=1", "17", "divergence", []string{"lanes diverge: ", "of 32 lanes are active here", "a remainder of the thread's index decides. Let the threads that work be neighbours (t < n instead of t % n == 0)"}, "", "VARIANT=1,BLOCK_SIZE=256,ITEMS=1", 1.06, 2, false},
		{"registers", "fat_threads", "BLOCK_SIZE=128,WORK=64,max_registers=32", "11", "spills", []string{"bytes of registers a thread are spilled to local memory, here most of all. A larger register cap (it is 32): max_registers=96 takes ", "Without spills: "}, "", "BLOCK_SIZE=128,WORK=64,max_registers=0", 1.3, 0, false},
		{"local arrays", "median_1d", "SORT=0,BLOCK_SIZE=128", "13", "local arrays", []string{"indexes a variable of 36 bytes of each thread at run time, so that it is in local memory. Index it with constants, so that it is in 9 registers: unroll the loops over it", "Without divergence too: ", "A change may gain more: loops that are unrolled take fewer instructions"}, "", "SORT=2,BLOCK_SIZE=128", 1.8, 0, false},
		{"memory bound", "copy", "BLOCK_SIZE=256,ITEMS=4", "7", "DRAM", []string{"are read from DRAM and ", "each is moved once", "If L2 had all of it: "}, "", "", 0, 0, false},
		{"compute bound", "compute_bound", "BLOCK_SIZE=256", "7", "compute", []string{"compute bound: the special-function unit works at ", "50 % cos.approx.f32, 50 % sin.approx.f32; sin.approx, cos.approx are the fast approximations already. Compute some of them as polynomials on the fp32 pipe, which is at ", "If other pipes did this work in as many instructions: ", "instructions that are left out save their issue slots too"}, "", "", 0, 0, false},
		{"atomics of all lanes", "reduce_atomic", "BLOCK_SIZE=128,ITEMS=16,VARIANT=0", "26", "global atomics", []string{"each to 1 sector with up to 32 lanes at one word", "Sum in the warp by shuffles, then in the CTA"}, "", "BLOCK_SIZE=128,ITEMS=16,VARIANT=2", 1.1, 0, false},
		{"atomics", "histogram", "BLOCK_SIZE=256,ITEMS=16,COPIES=0", "16", "global atomics", []string{"by atomics, the same words from all CTAs: 2.1 M requests, each to 20.3 sectors with up to 2 lanes at one word", " ns a request, which is 100 % of the time", "Privatise: let each CTA add in a copy of its own in shared memory"}, "", "BLOCK_SIZE=256,ITEMS=16,COPIES=1", 1.1, 0, false},
		{"private copies", "histogram", "BLOCK_SIZE=256,ITEMS=4,COPIES=1", "24", "atomics in L2", []string{"adds the private copy of each CTA to the result by atomics, 8 requests a CTA: the 65,536 CTAs update the same words", "More work a CTA and fewer CTAs", "then latency would bound it, and issue slots lost to mio_throttle fall from 57 % to 1 %", "With so few CTAs that all that each does once costs nothing: "}, "", "BLOCK_SIZE=256,ITEMS=64,COPIES=1", 1.3, 0, false},
	} {
		doc := explainedAs(t, tt.kernel, tt.config)
		all := doc.Configurations[0].Explanation.Findings
		if head := doc.Configurations[0].Explanation.Headline; tt.about == "stores" && !strings.HasSuffix(head, "; most of the time is that of finding 1") {
			t.Errorf("%s: %s", tt.about, head)
		}
		first := all[min(tt.place, len(all)-1)]
		if first.Topic != tt.topic || first.Line != tt.kernel+".cu:"+tt.line || first.Text == "" {
			t.Errorf("%s: in place %d stands %s at line %s, want %s at %s:\n%s", tt.about, tt.place, first.Topic, first.Line, tt.topic, tt.line, strings.Join(doc.sentences(), "\n"))
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(first.Sentence(), want) {
				t.Errorf("%s: %s %s does not say %q:\n%s", tt.about, tt.kernel, tt.config, want, first.Sentence())
			}
		}
		if tt.without == "" {
			continue
		}
		variant := explainedAs(t, cmp.Or(tt.variant, tt.kernel), tt.without).Configurations[0].Report.TimeUS
		without := first.TimeUS
		if tt.both {
			without = first.With.TimeUS
		}
		if apart := max(without/variant, variant/without); apart > tt.factor {
			t.Errorf("%s: %s %s would take %.1f us without %s, %s takes %.1f: a factor of %.2f, want %.2f", tt.about, tt.kernel, tt.config, without, tt.topic, tt.without, variant, apart, tt.factor)
		}
	}
}

// explainedAs explains a configuration on an H200.
func explainedAs(t *testing.T, kernel, config string) *explainedDocument {
	t.Helper()
	out := warptune(t, "explain", kernel, "--arch", "h200", "--compiler", "prebuilt", "--json", "--config", config).ok(t).stdout
	var doc explainedDocument
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%s %s: %v", kernel, config, err)
	}
	return &doc
}

// Remedies are none that a kernel follows already, and what bounds a launch has a finding: of built-in kernels and of
// configurations that leave little to say.
func TestExplainAgrees(t *testing.T) {
	for _, tt := range []struct {
		kernel, config string
		never          []string
	}{
		{"reduce", "VARIANT=1,BLOCK_SIZE=256,ITEMS=1", []string{"t < n instead of", "more warps", "larger CTAs", "Pad the row"}},
		{"reduce", "VARIANT=0,BLOCK_SIZE=256,ITEMS=1", []string{"Pad the row", "more warps"}},
		{"compute_bound", "BLOCK_SIZE=256", []string{"Fast approximations", "fast approximations (", "conversions"}},
		{"histogram", "BLOCK_SIZE=256,ITEMS=4,COPIES=8", []string{"Pad the row", "rivatise"}},
		{"transpose_tiled", "TILE=32,ROWS=8,PAD=1", []string{"ad the row", "go through a tile"}},
		{"sgemm", "BM=64,BN=128,BK=32,TM=8,TN=8,PAD=0,max_registers=0", []string{"Reuse data from shared memory"}},
	} {
		doc := explainedAs(t, tt.kernel, tt.config)
		text := strings.Join(doc.sentences(), "\n")
		for _, never := range tt.never {
			if strings.Contains(text, never) {
				t.Errorf("%s %s says %q:\n%s", tt.kernel, tt.config, never, text)
			}
		}
		if len(doc.Configurations[0].Explanation.Findings) == 0 && !strings.Contains(text, "bound by latency") {
			t.Errorf("%s %s: something binds and nothing is found:\n%s", tt.kernel, tt.config, text)
		}
	}
}

// At level model operations are counted too, and those of the clocked level.
func TestExplainCountsOperationsAtLevelModel(t *testing.T) {
	rate := func(level string) (flop, intensity float64) {
		out := warptune(t, "explain", "laplace_2d", "--arch", "h200", "--compiler", "prebuilt", "--json", "--config", "BLOCK_X=32", "--level", level).ok(t).stdout
		var doc explainedDocument
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		for _, r := range doc.Configurations[0].Explanation.Rates {
			if r.Unit == "fp32" {
				return r.FLOP, r.Intensity
			}
		}
		t.Fatalf("level %s: no operations: %+v", level, doc.Configurations[0].Explanation.Rates)
		return 0, 0
	}
	model, intensity := rate("model")
	cycle, _ := rate("cycle")
	if model < 0.99*cycle || model > 1.01*cycle || intensity <= 0 {
		t.Errorf("%g operations at level model (%g a byte), %g at level cycle", model, intensity, cycle)
	}
}

// explainedDocument is what of explain's JSON the tests read.
type explainedDocument struct {
	Schema         string
	Configurations []struct {
		Parameters  map[string]any
		Validity    string
		Message     string
		Explanation struct {
			Headline string
			Rates    []explain.Rate
			Findings []explain.Finding
		}
		WhatIfs []struct {
			Without string  `json:"without"`
			TimeUS  float64 `json:"time_us"`
		} `json:"what_ifs"`
		Report struct {
			TimeUS  float64 `json:"time_us"`
			Metrics map[string]float64
			Use     []simengine.Share
		}
	}
	Comparisons []struct {
		Ratio     float64 `json:"time_ratio"`
		Sentences []string
	}
}

func (d *explainedDocument) sentences() (out []string) {
	for _, c := range d.Configurations {
		out = append(out, c.Explanation.Headline)
		for _, f := range c.Explanation.Findings {
			out = append(out, f.Sentence())
		}
	}
	return out
}

// A document has parameters of their types, the time of the headline, that of the GPU and what is between, and
// configurations that fail with their message; comparisons say what changed and why it matters.
func TestExplainJSON(t *testing.T) {
	r := warptune(t, "explain", "transpose_tiled", "--arch", "h200", "--compiler", "prebuilt", "--json", "--config", "TILE=32,ROWS=8,PAD=0", "--config", "TILE=32,ROWS=8,PAD=1").ok(t)
	var doc explainedDocument
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	c := doc.Configurations
	if doc.Schema != "warptune.explain.v1" || len(c) != 2 || c[0].Parameters["PAD"] != 0.0 || c[1].Parameters["PAD"] != 1.0 || c[0].Validity != "correct" {
		t.Errorf("%s: %+v", doc.Schema, c)
	}
	if between := c[0].Report.TimeUS - c[0].Report.Metrics["gpu__time_duration.sum"]/1000; between < 1 || between > 3 {
		t.Errorf("%.3f us between two launches", between)
	}
	if got := strings.Join(doc.Comparisons[0].Sentences, " "); !strings.Contains(got, "2.25 times faster") || !strings.Contains(got, "The first loses more to bank conflicts: if that cost nothing, it would be 2.25 times faster, the second no faster.") || !strings.Contains(got, "Bank conflicts: 65 M, then 0.") {
		t.Error(got)
	}
	for i := range c {
		rates := map[string]float64{}
		for _, x := range c[i].Explanation.Rates {
			rates[x.Unit] = x.Achieved / x.Peak
		}
		use := map[string]float64{}
		for _, u := range c[i].Report.Use {
			use[u.Name] = u.Value
		}
		for unit, name := range map[string]string{"DRAM": "dram", "L2": "l2", "L1 and shared memory": "lsu"} {
			if got, want := rates[unit], use[name]; want == 0 || math.Abs(got/want-1) > 1e-6 {
				t.Errorf("%s: rates say %.4f of the peak, the report %.4f", unit, got, want)
			}
		}
	}
	for _, w := range c[0].WhatIfs {
		if w.TimeUS > c[0].Report.TimeUS {
			t.Errorf("without %s it is slower", w.Without)
		}
	}
	r = warptune(t, "explain", "transpose_tiled", "--arch", "h200", "--compiler", "prebuilt", "--level", "model", "--json", "--problem", "48", "--config", "TILE=16", "--config", "TILE=64")
	doc = explainedDocument{}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatalf("%v: %s", err, r.stderr)
	}
	if r.code != 1 || len(doc.Configurations) != 2 || doc.Configurations[1].Validity == "correct" || doc.Configurations[1].Message == "" || len(doc.Comparisons) != 0 {
		t.Errorf("exit status %d: %+v", r.code, doc)
	}
}

// Without a configuration explain takes the best that is stored, else the best of some, and says which.
func TestExplainTheBest(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	out := warptune(t, "explain", "copy", "--arch", "h200", "--compiler", "prebuilt", "--db", db).ok(t).stdout
	if !strings.Contains(out, "(the fastest of 24 by the closed-form model)") {
		t.Error(out)
	}
	warptune(t, "tune", "copy", "--arch", "h200", "--compiler", "prebuilt", "--level", "model", "--db", db).ok(t)
	out = warptune(t, "explain", "copy", "--arch", "h200", "--compiler", "prebuilt", "--db", db).ok(t).stdout
	if !strings.Contains(out, "(the best of what is stored)") {
		t.Error(out)
	}
}
