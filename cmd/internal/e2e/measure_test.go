package e2e

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/measure/standin"
	"github.com/warptune/warptune/tuner/tunertest"
)

// allMeasured is what the test reads of measure --all --json.
type allMeasured struct {
	Sweep  struct{ Spec struct{ Predictions string } }
	Device string
	Rows   []struct {
		Parameters struct{ KIND string }
		MeasuredUS float64  `json:"measured_us"`
		Predicted  *float64 `json:"predicted_us"`
	}
	Failures []struct {
		Parameters        struct{ KIND string }
		Validity, Message string
	}
}

// A coordinator, a worker that predicts, one that measures, and a client that has every configuration measured: it
// begins with predictions, which travel to the coordinator. The coordinator and the measuring worker are killed meanwhile.
// What fails is named. Afterwards nobody is needed to answer the same again.
func TestMeasureAllByWorkers(t *testing.T) {
	standin.Install(t, false)
	address, data := tunertest.FreeAddress(t), t.TempDir()
	c := coordinate(t, address, data)
	at := []string{"--coordinator", address}
	measurer := func() *process {
		return start(t, "worker", append(at, "--measure", "--limit", "5s", "--stay", "--slots", "1")...)
	}
	start(t, "worker", append(at, "--slots", "1", "--stay")...)
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: not so after %v", what, patience)
			}
		}
	}
	client := sweeps(t, address)
	until("the worker that predicts is known", func() bool {
		r, err := client.Workers(t.Context(), &warptunev1.WorkersRequest{})
		return err == nil && len(r.GetWorkers()) == 1
	})

	good := []string{"fill_a", "fill_b", "fill_c", "fill_d", "fill_e"}
	dir := standin.Fills(t, append(good, "fill_fault", "fill_hang")...)
	all := append([]string{"measure", dir, "--all", "--strategy", "portfolio", "--arch", standin.Arch, "--on", "gpu=" + standin.GPU, "--json"}, at...)
	p := start(t, "warptune", all...)
	measured := func() (done int, state string) {
		out, _, code := try(t, append([]string{"sweep", "list", "--json"}, at...)...)
		var list []struct {
			State  string
			Spec   struct{ Level string }
			Counts struct{ Done string }
		}
		if code != 0 || json.Unmarshal([]byte(out), &list) != nil {
			return 0, ""
		}
		for _, s := range list {
			if s.Spec.Level == "measured" {
				done, _ = strconv.Atoi(s.Counts.Done)
				return done, s.State
			}
		}
		return 0, ""
	}
	until("all are predicted, and wait to be measured", func() bool { _, state := measured(); return state == "SWEEP_STATE_RUNNING" })
	w := measurer()
	until("one is measured", func() bool { n, _ := measured(); return n > 0 })
	w.kill(t)
	c.kill(t)
	coordinate(t, address, data)
	w = measurer()
	if code := p.wait(t); code != 0 {
		t.Errorf("the client: exit status %d:\n%s", code, p.log)
	}
	w.kill(t) // nobody measures the second time

	var m allMeasured
	if err := json.Unmarshal([]byte(warptune(t, all...)), &m); err != nil {
		t.Fatal(err)
	}
	if m.Sweep.Spec.Predictions == "" || !strings.HasPrefix(m.Device, standin.GPU+", driver 999.1") || len(m.Rows) != len(good) {
		t.Errorf("from predictions %q, on %q: %+v", m.Sweep.Spec.Predictions, m.Device, m.Rows)
	}
	for _, r := range m.Rows {
		if !slices.Contains(good, r.Parameters.KIND) || r.MeasuredUS < 199 || r.Predicted == nil {
			t.Errorf("a launch of 200 us came to %+v", r)
		}
	}
	want := map[string]string{"fill_hang": "measuring did not end within 5s", "fill_fault": "CUDA_ERROR_ILLEGAL_ADDRESS"}
	for _, f := range m.Failures {
		if w := want[f.Parameters.KIND]; w == "" || !strings.Contains(f.Message, w) {
			t.Errorf("%s: %s: %s, want %q", f.Parameters.KIND, f.Validity, f.Message, w)
		}
		delete(want, f.Parameters.KIND)
	}
	if len(want) > 0 {
		t.Errorf("not named: %v", want)
	}
	if best := warptune(t, append([]string{"best", dir, "--arch", standin.Arch}, at...)...); !strings.Contains(best, "measured on "+standin.GPU) {
		t.Errorf("the best is not what was measured:\n%s", best)
	}
}
