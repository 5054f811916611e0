package calibrate_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/arch/calibrate"
)

const source = "deploy/calibrate/results/h200.jsonl.gz"

func recorded(t *testing.T) calibrate.Results {
	t.Helper()
	content := measured.Content(t, "../../../"+source)
	r, err := calibrate.Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestH200IsWhatWasMeasured: every figure of the embedded h200 whose source is
// the recorded run is what the rules compute from that run, and all are used.
func TestH200IsWhatWasMeasured(t *testing.T) {
	figures, missing := calibrate.Figures(recorded(t), source)
	if len(missing) > 0 {
		t.Errorf("the run lacks %v", missing)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range figures {
		if got := d.Numbers[name]; got != want {
			t.Errorf("%s: descriptor says %+v, the run %+v", name, got, want)
		}
	}
	for name, n := range d.Numbers {
		if _, ok := figures[name]; !ok && strings.Contains(n.Source, source) {
			t.Errorf("%s: no rule computes %+v", name, n)
		}
	}
}

// TestDescriptor: the suite's output over another base gives a descriptor with
// the measured values, the base's for the rest, and the same bytes every time.
func TestDescriptor(t *testing.T) {
	r := recorded(t)
	content, err := calibrate.Descriptor(r, "mine", `My "GPU"`, "cc9.0", "results/mine.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	h200, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "mine" || d.Title != `My "GPU"` || d.SMs != h200.SMs || d.Latency[arch.LatencyDRAM] != h200.Latency[arch.LatencyDRAM] {
		t.Errorf("%s %q: %d SMs, DRAM latency %v", d.Name, d.Title, d.SMs, d.Latency[arch.LatencyDRAM])
	}
	if !strings.HasPrefix(d.Numbers["sms"].Source, "results/mine.jsonl ") {
		t.Errorf("source is %q", d.Numbers["sms"].Source)
	}
	again, err := calibrate.Descriptor(r, "mine", `My "GPU"`, "cc9.0", "results/mine.jsonl")
	if err != nil || string(again) != string(content) {
		t.Errorf("a second rendering differs (%v)", err)
	}
}

// TestMissingMeasurements: leaving a measurement out leaves its figures out and
// changes no other; nothing becomes a zero or a NaN.
func TestMissingMeasurements(t *testing.T) {
	all := recorded(t)
	whole, _ := calibrate.Figures(all, source)
	names := map[string]bool{}
	for _, r := range all {
		names[r.Name] = true
	}
	for gone := range names {
		var rest calibrate.Results
		for _, r := range all {
			if r.Name != gone {
				rest = append(rest, r)
			}
		}
		figures, missing := calibrate.Figures(rest, source)
		if len(figures)+len(missing) != len(whole) {
			t.Errorf("without %s: %d figures and %d missing of %d", gone, len(figures), len(missing), len(whole))
		}
		for name, n := range figures {
			if !strings.Contains(n.Source, " and ") && n != whole[name] {
				t.Errorf("without %s: %s is %+v, was %+v", gone, name, n, whole[name])
			}
		}
	}
}

// TestDisturbed: one instruction that is late, and a loop that costs a little more, as two runs on an H100 had them,
// leave the figures that rest on them.
func TestDisturbed(t *testing.T) {
	all := recorded(t)
	whole, _ := calibrate.Figures(all, source)
	for k, r := range all {
		if n, ok := r.Params["instruction"].(float64); ok && r.Name == "queues.issued" && r.Params["kind"] == "global_ld" && n >= 8 {
			all[k].Value += 60
		}
		if r.Name == "wavefronts.stride" && r.Params["stride"] == 1.0 && r.Params["kind"] == "shared_ld" {
			all[k].Value = 1.087
		}
	}
	figures, _ := calibrate.Figures(all, source)
	if got, want := figures["lanes.lsu"].Value, whole["lanes.lsu"].Value; got != want {
		t.Errorf("lanes.lsu: %v, was %v", got, want)
	}
	if got, want := figures["load_queue"].Value, whole["load_queue"].Value; !(got >= want-3 && got <= want+3) {
		t.Errorf("load_queue: %v, was %v", got, want)
	}
}

func TestErrors(t *testing.T) {
	for content, want := range map[string]string{
		"{\"name\": \"a\", \"value\": 1}\n\nnot json\n": "line 3",
		`{"name": "a", "colour": 1}`:                    `unknown field "colour"`,
		`{"value": 1}`:                                  "no name",
	} {
		if _, err := calibrate.Parse([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", content, err, want)
		}
	}
	if _, err := calibrate.Descriptor(nil, "mine", "", "cc9.0", "x"); err == nil {
		t.Error("a descriptor from no results")
	}
	if _, err := calibrate.Descriptor(recorded(t), "mine", "", "cc1.0", "x"); err == nil || !strings.Contains(err.Error(), "unknown base") {
		t.Errorf("unknown base: %v", err)
	}
}
