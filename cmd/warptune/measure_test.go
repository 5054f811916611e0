package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/measure/standin"
)

// measuredJSON is what the tests read of measure --json.
type measuredJSON struct {
	Device string
	Rows   []struct {
		Parameters struct{ KIND string }
		MeasuredUS float64  `json:"measured_us"`
		Predicted  *float64 `json:"predicted_us"`
		Rank       int      `json:"predicted_rank"`
		Warnings   string
		Outcome    struct{ Checked struct{ Compared string } }
	}
	Failures []struct {
		Parameters struct{ KIND string }
		Validity   string
		Message    string
	}
}

func (r result) measured(t *testing.T) (m measuredJSON) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), &m); err != nil {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	return m
}

// A configuration that hangs, faults, is refused or computes something else is named, and the sweep goes on. Of one of which
// the clock lies there is no time.
func TestMeasureNamesWhatFails(t *testing.T) {
	standin.Install(t, false)
	dir := standin.Fills(t, "fill_good", "fill_hang", "fill_fault", "fill_wrong", "fill_refused", "fill_liar", "fill_last")
	db := filepath.Join(t.TempDir(), "w.db")
	r := warptune(t, "measure", dir, "--all", "--db", db, "--limit", "3s", "--slots", "1", "--json")
	m := r.ok(t).measured(t)
	if len(m.Rows) != 2 || !strings.HasPrefix(m.Device, standin.GPU+", driver 999.1") {
		t.Fatalf("timed were %+v on %q", m.Rows, m.Device)
	}
	for _, row := range m.Rows {
		if row.MeasuredUS < 199 || row.MeasuredUS > 240 || row.Outcome.Checked.Compared == "" {
			t.Errorf("a launch of 200 us came to %+v", row)
		}
	}
	want := map[string]string{
		"fill_hang": "timeout: measuring did not end within 3s", "fill_fault": "runtime: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS",
		"fill_wrong": "gave wrong results: element 0 of argument p is 8 on the GPU, and 7", "fill_refused": "compile: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX",
		"fill_liar": "runtime: the GPU's clock says",
	}
	for _, f := range m.Failures {
		if w := want[f.Parameters.KIND]; w == "" || !strings.HasPrefix(f.Validity+": "+f.Message, w) {
			t.Errorf("%s: %s: %s, want %q", f.Parameters.KIND, f.Validity, f.Message, w)
		}
		delete(want, f.Parameters.KIND)
	}
	if len(want) > 0 {
		t.Errorf("not named: %v", want)
	}
}

// What is measured is beside what is predicted, and answers before it. Configurations that
// were named are nobody's best.
func TestConfirm(t *testing.T) {
	standin.Install(t, false)
	dir := standin.Fills(t, "fill_good", "fill_other")
	db := filepath.Join(t.TempDir(), "w.db")
	best := func() string {
		return warptune(t, "best", dir, "--arch", standin.Arch, "--db", db).ok(t).stdout
	}
	warptune(t, "tune", dir, "--arch", standin.Arch, "--db", db).ok(t)
	warptune(t, "measure", dir, "--config", `KIND="fill_other"`, "--db", db).ok(t)
	if text := best(); !strings.Contains(text, "(simulated)") {
		t.Errorf("the configuration that was named is the best:\n%s", text)
	}
	m := warptune(t, "tune", dir, "--arch", standin.Arch, "--db", db, "--confirm", "2", "--json").ok(t).measured(t)
	if len(m.Rows) != 2 || m.Rows[0].Predicted == nil || m.Rows[0].Rank+m.Rows[1].Rank != 3 {
		t.Errorf("confirmed were %+v", m.Rows)
	}
	if text := best(); !strings.Contains(text, "measured on "+standin.GPU) || strings.Contains(text, "simulated") {
		t.Errorf("the best is not what was measured:\n%s", text)
	}
	if text := warptune(t, "fidelity", "--measured", "--db", db).ok(t).stdout; !strings.Contains(text, "1 groups of 2 configurations") || !strings.Contains(text, "measured on "+standin.GPU) {
		t.Errorf("predictions are not scored against what was measured:\n%s", text)
	}
	table := warptune(t, "export", "--db", db, "--format", "json").ok(t).stdout
	if !strings.Contains(table, `"simulated": false`) || !strings.Contains(table, `"simulated": true`) || !strings.Contains(table, `"measured_on": "`+standin.GPU) {
		t.Errorf("the table has not both:\n%s", table)
	}
}

// A search by measuring begins with predictions, unless it is to be blind; both are searches of their own, and
// a sweep that was searched so answers again.
func TestMeasureBeginsWithPredictions(t *testing.T) {
	standin.Install(t, false)
	dir := standin.Fills(t, "fill_good", "fill_other", "fill_last")
	db := filepath.Join(t.TempDir(), "w.db")
	search := func(more ...string) (m measuredJSON, predictions string) {
		t.Helper()
		r := warptune(t, append([]string{"measure", dir, "--all", "--strategy", "portfolio", "--budget", "2", "--db", db, "--json"}, more...)...).ok(t)
		var doc struct {
			Sweep struct{ Spec struct{ Predictions string } }
		}
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
			t.Fatal(err)
		}
		return r.measured(t), doc.Sweep.Spec.Predictions
	}
	m, predictions := search()
	if len(m.Rows) != 2 || m.Rows[0].Predicted == nil || m.Rows[0].Rank+m.Rows[1].Rank != 3 || predictions == "" {
		t.Errorf("from predictions %q: %+v", predictions, m.Rows)
	}
	if _, again := search(); again != predictions {
		t.Errorf("the second time predictions are %q, were %q", again, predictions)
	}
	if m, predictions := search("--blind"); len(m.Rows) != 2 || m.Rows[0].Predicted != nil || predictions != "" {
		t.Errorf("blind, from predictions %q: %+v", predictions, m.Rows)
	}
	if r := warptune(t, "measure", dir, "--blind", "--db", db); r.code != 2 {
		t.Errorf("--blind without --all: status %d", r.code)
	}
}

// Without a GPU, and with one that others use, the command says so and ends with status 1.
func TestMeasureRefuses(t *testing.T) {
	standin.Install(t, false)
	t.Setenv("STANDIN_USER", fmt.Sprint(os.Getpid()))
	warptune(t, "measure", "transpose_tiled").refused(t, exitFailed, "other processes use the GPU", "--shared")
	t.Setenv("WARPTUNE_LIBCUDA", filepath.Join(t.TempDir(), "none.so"))
	for _, args := range [][]string{{"measure", "transpose_tiled"}, {"tune", "transpose_tiled", "--arch", "h200", "--confirm", "3"}} {
		warptune(t, args...).refused(t, exitFailed, "nothing can be measured here", "there is no NVIDIA driver", "with a GPU")
	}
	warptune(t, "measure", "transpose_tiled", "--top", "3", "--all").refused(t, exitUsage, "one of")
}

// An architecture that the GPU is not is refused by what differs.
func TestMeasureIsOfTheGPU(t *testing.T) {
	standin.Install(t, false)
	r := warptune(t, "measure", standin.Fills(t, "fill"), "--arch", "h100", "--all", "--db", filepath.Join(t.TempDir(), "w.db"))
	r.refused(t, exitUsage, "compute capability 8.0, not 9.0")
}
