package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/exchange"
)

func sampleRows() []Row {
	row := func(kernel, arch string, problem, tile int64, us float64) Row {
		return Row{
			Spec:    tuner.Spec{Kernel: kernel, Arch: arch, Problem: []int64{problem}, Level: "cycle", Engine: "1", Bundle: strings.Repeat("ab", 32)},
			CC:      [2]int{9, 0},
			Names:   []string{"TILE", "scale", "mode", "flag"},
			Config:  []search.Value{search.OfInt(tile), search.OfFloat(0.5), search.OfString("=x\"|\n*/??/"), search.OfBool(true)},
			Outcome: tuner.Outcome{Validity: tuner.Correct, TimeUS: us, Compiler: "clang 19.1.7", Bound: "dram", Metrics: map[string]float64{"b": 2, "a": 1}},
		}
	}
	return []Row{
		row("transpose", "h200", 8192, 32, 137.5), row("transpose", "h200", 2048, 16, 6.25),
		row("transpose", "a100", 8192, 64, 300), row("int while", "h200", 1, 8, 1),
	}
}

// sampleRun is the rows of one run, with failures.
func sampleRun() []Row {
	var rows []Row
	for i, v := range tuner.Validities() {
		row := sampleRows()[0]
		row.Device, row.Seq = "NVIDIA H200 SXM", int64(i)
		row.Config = append([]search.Value{search.OfInt(int64(i))}, row.Config[1:]...)
		if row.Outcome.Validity = v; v != tuner.Correct {
			row.Outcome.TimeUS = 0
		}
		rows = append(rows, row)
	}
	return rows
}

// A file of another tuner holds one run, read back whole; rows of several are
// refused with what tells them apart.
func TestRunsOfOtherTuners(t *testing.T) {
	for _, format := range []string{"t4", "kernel-tuner"} {
		var file bytes.Buffer
		if err := Write(&file, format, append(sampleRun(), sampleRun()...)); err != nil { // two sweeps of one question
			t.Fatal(err)
		}
		run, err := exchange.Read("x", &file)
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Trials) != 6 || run.Device != "NVIDIA H200 SXM" || run.Trials[0].TimeUS != 137.5 || run.Trials[2].Validity != tuner.Compile {
			t.Errorf("%s: %+v", format, run)
		}
		if !strings.HasPrefix(run.Provenance["simulated"], "true") || run.Provenance["compiler"] != "clang 19.1.7" {
			t.Errorf("%s: provenance %v", format, run.Provenance)
		}
		err = Write(io.Discard, format, sampleRows())
		if err == nil || !strings.Contains(err.Error(), "more than one run") || !strings.Contains(err.Error(), "transpose 8192 on a100") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// The order in which rows are found changes nothing.
func TestSameBytesWhateverTheOrder(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, format := range Formats() {
		sample := sampleRows
		if WholeRun(format) {
			sample = sampleRun
		} else if format == "triton" {
			sample = sampleTriton
		}
		var want bytes.Buffer
		if err := Write(&want, format, sample()); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			rows := sample()
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			var got bytes.Buffer
			if err := Write(&got, format, rows); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Fatalf("%s: seed %d: bytes differ", format, seed)
			}
		}
	}
}

// The best is that of the newest sweep and of those that asked the same, not that
// of the kernel as it was before it was edited.
func TestBestIsOfTheNewest(t *testing.T) {
	row := func(newer int, bundle string, us float64) Row {
		r := sampleRows()[0]
		r.Newer, r.Spec.Bundle, r.Outcome.TimeUS = newer, bundle, us
		return r
	}
	rows := []Row{row(3, "now", 6), row(2, "before", 1), row(1, "now", 7), row(0, "now", 8)}
	for range 20 {
		rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if best := Best(rows); len(best) != 1 || best[0].Outcome.TimeUS != 6 {
			t.Fatalf("of %v it is %v", rows, best)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	if err := Write(&bytes.Buffer{}, "xml", nil); err == nil || !strings.Contains(err.Error(), "want one of c-header, csv, json, kernel-tuner, markdown, t4, triton") {
		t.Error(err)
	}
}

func TestJSONHasProvenance(t *testing.T) {
	var buf bytes.Buffer
	if err := Write(&buf, "json", sampleRows()); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Rows []struct {
			Kernel        string
			Configuration map[string]any
			Provenance    map[string]any
		}
	}
	if err := json.Unmarshal(buf.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Rows) != 4 || out.Rows[0].Kernel != "int while" || out.Rows[3].Configuration["TILE"] != 32.0 {
		t.Errorf("%+v", out.Rows)
	}
	if p := out.Rows[0].Provenance; p["engine"] != "1" || p["compiler"] != "clang 19.1.7" || p["kernel_digest"] == "" {
		t.Errorf("provenance %v", p)
	}
}

func TestCSVRoundTripsAndHoldsNoFormula(t *testing.T) {
	rows := sampleRows()
	rows[0].Spec.Kernel = "=cmd()"
	var buf bytes.Buffer
	if err := Write(&buf, "csv", rows); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&buf).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 5 || records[1][0] != "'=cmd()" {
		t.Errorf("%q", records)
	}
	assigned, err := search.ParseAssignments(records[1][4])
	if err != nil || len(assigned) != 4 {
		t.Errorf("configuration %q: %v", records[1][4], err)
	}
}

// The header compiles without a warning as C and as C++, and selects the right row.
func TestCHeaderCompilesAndSelects(t *testing.T) {
	dir := t.TempDir()
	var buf bytes.Buffer
	rows := sampleRows()
	for _, name := range []string{"int_while", "INT while", "transpose_row", "transpose__table"} { // alike in C
		row := sampleRows()[0]
		row.Spec.Kernel = name
		rows = append(rows, row)
	}
	for i, v := range []search.Value{search.OfFloat(2.5), search.OfString("32")} { // as the definition was changed
		row := sampleRows()[0]
		row.Spec.Kernel, row.Config = "changed", slices.Clone(row.Config)
		row.Config[i] = v
		rows = append(rows, row, sampleRows()[0])
		rows[len(rows)-1].Spec.Kernel = "changed"
	}
	if err := Write(&buf, "c-header", rows); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "table.h"), buf.String())
	program := `#include "table.h"
#include <stdio.h>
static void show(const char *arch, long long n) {
  const warptune_transpose_row *row = warptune_transpose(arch, &n, 1);
  if (row == NULL) printf("none\n");
  else printf("%s %lld %lld\n", row->arch, row->problem[0], row->p_TILE);
}
int main(void) {
  show("h200", 8192); show("h200", 2048); show("h200", 3000); show("h200", 1000000); show("a100", 1); show("v100", 1);
  printf("%d\n", WARPTUNE_TRANSPOSE_H200_2048_TILE);
  { long long n = 8192; printf("%g %s\n", warptune_changed("h200", &n, 1)->p_TILE, warptune_changed("h200", &n, 1)->p_scale); }
  return 0;
}
`
	want := "h200 8192 32\nh200 2048 16\nh200 2048 16\nh200 8192 32\na100 8192 64\nnone\n16\n2.5 0.5\n"
	for compiler, source := range map[string]string{"gcc": "main.c", "g++": "main.cc"} {
		if _, err := exec.LookPath(compiler); err != nil {
			t.Skipf("no %s on this machine", compiler)
		}
		write(t, filepath.Join(dir, source), program)
		bin := filepath.Join(dir, compiler)
		args := []string{"-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-o", bin, filepath.Join(dir, source)}
		if compiler == "gcc" {
			args = append([]string{"-std=c99", "-pedantic"}, args...)
		}
		if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", compiler, err, out)
		}
		out, err := exec.Command(bin).Output()
		if err != nil || string(out) != want {
			t.Errorf("%s: %v, got\n%swant\n%s", compiler, err, out, want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The macro that the header's comment gives as an example is one that it defines.
func TestCHeaderCitesAMacroThatIsThere(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, "c-header", sampleRows()); err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(b.String(), "e.g. ")
	name, _, _ := strings.Cut(rest, ".")
	if !found || !strings.Contains(b.String(), "\n#define "+name+" ") {
		t.Errorf("it cites %q:\n%s", name, b.String())
	}
	cautious := sampleRows()
	for i := range cautious {
		cautious[i].Caution = "2 of 3 figures */ are not verified"
	}
	for _, format := range []string{"c-header", "markdown", "json"} {
		b.Reset()
		if err := Write(&b, format, cautious); err != nil || strings.Count(b.String(), "2 of 3 figures") == 0 {
			t.Errorf("%s does not say what is to be said of an architecture (%v)", format, err)
		}
	}
}
