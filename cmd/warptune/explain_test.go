package main

import (
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
	const size = 1<<61 + 12345
	last := int64(-1)
	for i := range int64(mostRanked) {
		at := spread(i, mostRanked, size)
		if at <= last || at >= size {
			t.Fatalf("place %d of %d is %d, after %d of %d", i, mostRanked, at, last, int64(size))
		}
		last = at
	}
	if last < size/mostRanked*(mostRanked-1) {
		t.Errorf("the last place is %d of %d", last, int64(size))
	}
}

// What introductions to CUDA teach, explain says of kernels that do otherwise, at the line where they do.
func TestExplainIntroductions(t *testing.T) {
	for _, tt := range []struct {
		topic, kernel, config, line string
		want                        []string
	}{
		{"stride", "copy_strided", "BLOCK_SIZE=256,STRIDE=8", "4", []string{"reads global memory uncoalesced: a request touches 32 sectors of 32 bytes where its bytes fill 4, 12.5 % of what is moved is used", "If it were coalesced: 11."}},
		{"stores", "transpose_naive", "", "", []string{"writes global memory uncoalesced"}},
		{"padding", "transpose_tiled", "TILE=32,ROWS=8,PAD=0", "14", []string{"reads shared memory with 32-way bank conflicts: a request takes 32 wavefronts for 1, 97 % of them repeat. Pad the row by one element", "2.30 times faster"}},
		{"constants", "const_filter", "BLOCK_SIZE=256,TAPS=32,DIVERGENT=1", "9", []string{"reads constant memory at 32 different addresses a request"}},
		{"divergent reduction", "reduce", "VARIANT=0,BLOCK_SIZE=256,ITEMS=1", "17", []string{"lanes diverge: ", "of 32 lanes are active here", "neighbours (t < n instead of t % n == 0)"}},
		{"registers", "fat_threads", "BLOCK_SIZE=128,WORK=64,max_registers=32", "11", []string{"bytes of registers a thread are spilled to local memory, here most of all. A larger register cap", "Without spills: "}},
		{"local arrays", "median_1d", "SORT=0,BLOCK_SIZE=128", "13", []string{"at run time, so that it is in local memory. Index it with constants"}},
		{"memory bound", "copy", "BLOCK_SIZE=256,ITEMS=4", "7", []string{"are read from DRAM and ", "If L2 had all of it: "}},
		{"compute bound", "compute_bound", "BLOCK_SIZE=256", "7", []string{"compute bound: the special-function unit works at "}},
		{"atomics", "histogram", "", "", []string{"with atomics that meet"}},
	} {
		args := []string{"explain", tt.kernel, "--arch", "h200", "--compiler", "prebuilt", "--json"}
		if tt.config != "" {
			args = append(args, "--config", tt.config)
		} else {
			args = append(args, "--config", firstConfig[tt.kernel])
		}
		out := warptune(t, args...).ok(t).stdout
		var doc explainedDocument
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatalf("%s: %v", tt.topic, err)
		}
		if !doc.says(tt.kernel, tt.line, tt.want) {
			t.Errorf("%s: %s %s does not say %q at line %s:\n%s", tt.topic, tt.kernel, tt.config, tt.want, tt.line, strings.Join(doc.sentences(), "\n"))
		}
	}
}

var firstConfig = map[string]string{"transpose_naive": "BLOCK_X=32,BLOCK_Y=8", "histogram": "BLOCK_SIZE=256"}

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

// says reports whether one finding says all of it, at a line of the kernel's source; line "": wherever.
func (d *explainedDocument) says(kernel, line string, want []string) bool {
	for _, f := range d.Configurations[0].Explanation.Findings {
		text := f.Sentence()
		has := line == "" || f.Line == kernel+".cu:"+line && f.Text != ""
		for _, w := range want {
			has = has && strings.Contains(text, w)
		}
		if has {
			return true
		}
	}
	return false
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
	if got := strings.Join(doc.Comparisons[0].Sentences, " "); !strings.Contains(got, "2.30 times faster") || !strings.Contains(got, "The first loses more to bank conflicts: if that cost nothing, it would be 2.30 times faster, the second no faster.") || !strings.Contains(got, "Bank conflicts: 65 M, then 0.") {
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
