package compile

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// silicon is the measurements' folder beside the repository; without it a test is
// skipped.
func silicon(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "silicon")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no measurements: ", err)
	}
	return dir
}

// The device headers give the code that clang gave for the measured variants: the
// same instructions, up to their order and registers.
func TestClangMatchesMeasuredPTX(t *testing.T) {
	dir := silicon(t)
	c := needClang(t)
	if who, _ := c.Identify(context.Background()); !strings.HasPrefix(who, "clang 19.") {
		t.Skipf("measured with clang 19, here is %s", who)
	}
	measured, err := zip.OpenReader(filepath.Join(dir, "h200", "ptx-clang.zip"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { measured.Close() })
	for name, records := range clangRecords(t, dir) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(filepath.Join(dir, "kernels", name+".cu"))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				macros := slices.SortedFunc(maps.Keys(r.Params), cmp.Compare)
				q := Request{Compile: call.Compile{Language: call.CUDA, SourceFile: name + ".cu", Source: source}, Target: "sm_90"}
				for _, m := range macros {
					q.Macros = append(q.Macros, call.Macro{Name: m, Value: r.Params[m].String()})
				}
				got, err := c.Compile(context.Background(), q)
				if err != nil {
					t.Fatal(err)
				}
				f, err := measured.Open(r.PTX + ".ptx")
				if err != nil {
					t.Fatal(err)
				}
				want, err := io.ReadAll(f)
				if err != nil {
					t.Fatal(err)
				}
				compareHistograms(t, r.PTX, histogram(want), histogram(got.PTX))
			}
		})
	}
}

type clangRecord struct {
	Kernel string
	Params map[string]json.Number
	PTX    string
}

// clangRecords gives the first, a middle and the last variant of each kernel.
func clangRecords(t *testing.T, dir string) map[string][]clangRecord {
	t.Helper()
	records, err := results.Read[clangRecord](filepath.Join(dir, "h200", "timings-clang.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]clangRecord{}
	for _, r := range records {
		all[r.Kernel] = append(all[r.Kernel], r)
	}
	for name, r := range all {
		all[name] = []clangRecord{r[0], r[len(r)/2], r[len(r)-1]}
	}
	return all
}

var instruction = regexp.MustCompile(`(?m)^\s+(?:@!?%p\d+\s+)?([a-z][a-z0-9_.:]*)\s`)

// histogram counts a PTX text's instructions by opcode.
func histogram(ptx []byte) map[string]int {
	h := map[string]int{}
	for _, m := range instruction.FindAllSubmatch(ptx, -1) {
		h[string(m[1])]++
	}
	return h
}

func compareHistograms(t *testing.T, name string, want, got map[string]int) {
	t.Helper()
	if len(want) < 5 {
		t.Errorf("%s: only %v", name, want)
	}
	for _, op := range slices.Sorted(maps.Keys(want)) {
		if want[op] != got[op] {
			t.Errorf("%s: %d %s, measured %d", name, got[op], op, want[op])
		}
	}
	for op := range got {
		if want[op] == 0 {
			t.Errorf("%s: %d %s, measured none", name, got[op], op)
		}
	}
}
