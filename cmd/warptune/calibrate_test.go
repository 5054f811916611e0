package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/measure/standin"
	"github.com/warptune/warptune/simengine/arch"
)

// descriptorOf reads a descriptor that was written.
func descriptorOf(t *testing.T, file string) *arch.Descriptor {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The GPU here becomes a descriptor whose figures are what its microbenchmarks gave, with their
// sources; those that could not be measured are the nearest architecture's. What was measured,
// given as a file, is the same descriptor.
func TestCalibrateHere(t *testing.T) {
	standin.Install(t, false)
	dir := t.TempDir()
	file, kept := filepath.Join(dir, "mine.json"), filepath.Join(dir, "results.jsonl")
	r := warptune(t, "calibrate", "--name", "mine", "--source", "here", "-o", file, "--results", kept).ok(t)
	d := descriptorOf(t, file)
	for name, want := range map[string]struct {
		value  float64
		source string
	}{
		"sms":                  {108, "here device.sms"},
		"clock":                {1410, "here clock.sm"},
		"dram_bandwidth":       {2 * 1215e6 * 5120 / 8, "here device.dram_bandwidth"},
		"latency.alu":          {12, "here pipe.latency lop3"},                   // 100000 cycles of 32 times 256 steps
		"latency.shared":       {24, "here latency.shared"},                      // 100000 cycles of 4096 steps
		"latency.barrier_warp": {3.2, "here latency.barrier 32 less 1, over 31"}, // 102400 cycles more of 1024
	} {
		if n := d.Numbers[name]; n.Value != want.value || n.Source != want.source || !n.Verified {
			t.Errorf("%s is %+v, want %+v", name, n, want)
		}
	}
	base, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dram_read_efficiency", "dram_piece", "l2_kept", "banks"} {
		if d.Numbers[name] != base.Numbers[name] {
			t.Errorf("%s is %+v, want a100's %+v", name, d.Numbers[name], base.Numbers[name])
		}
	}
	for _, want := range []string{"rows was skipped: memory 0", "bandwidth was skipped", "residency was skipped", "not measured, taken from a100: ", "dram_read_efficiency", "sms 108"} {
		if strings.Contains(r.stderr, want) != (want != "sms 108") {
			t.Errorf("%q in what was said:\n%s", want, r.stderr)
		}
	}
	again := filepath.Join(dir, "again.json")
	warptune(t, "calibrate", kept, "--name", "mine", "--title", standin.GPU, "--source", "here", "--base", "a100", "-o", again).ok(t)
	first, _ := os.ReadFile(file)
	if second, _ := os.ReadFile(again); string(first) != string(second) {
		t.Errorf("of the results alone another descriptor is made:\n%s\n%s", first, second)
	}
	if text := warptune(t, "archs", file).ok(t).stdout; !strings.Contains(text, "mine") {
		t.Errorf("archs of the file says\n%s", text)
	}
}

// A microbenchmark that hangs is ended and named; the others are measured.
func TestCalibrateHangs(t *testing.T) {
	standin.Install(t, false)
	t.Setenv("STANDIN_HANG", "4pipe")
	file := filepath.Join(t.TempDir(), "mine.json")
	r := warptune(t, "calibrate", "-o", file, "--limit", "3s").ok(t)
	if !strings.Contains(r.stderr, "pipes was skipped: measuring did not end within 3s") {
		t.Errorf("what hangs is not named:\n%s", r.stderr)
	}
	d := descriptorOf(t, file)
	if d.Name != "stand-in-calibrated" || d.Numbers["latency.shared"].Value != 24 || strings.Contains(d.Numbers["latency.alu"].Source, standin.GPU) {
		t.Errorf("%s has latency.shared %+v and latency.alu %+v", d.Name, d.Numbers["latency.shared"], d.Numbers["latency.alu"])
	}
}

// Without a GPU the command says so and ends with status 1.
func TestCalibrateRefuses(t *testing.T) {
	standin.Install(t, false)
	t.Setenv("WARPTUNE_LIBCUDA", filepath.Join(t.TempDir(), "none.so"))
	warptune(t, "calibrate").refused(t, exitFailed, "nothing can be measured here", "there is no NVIDIA driver", "with a GPU")
	warptune(t, "calibrate", "results.jsonl").refused(t, exitUsage, "--name and --base are required")
}
