package main

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/exchange"
)

// An export for another tuner holds the whole run, and what it holds must be
// said when there are several.
func TestExportForOtherTuners(t *testing.T) {
	db := tuned(t)
	warptune(t, "tune", "transpose_naive", "--db", db, "--arch", "h200", "--problem", "256", "--level", "model").ok(t)
	for _, format := range []string{"t4", "kernel-tuner"} {
		if r := warptune(t, "export", "--db", db, "--format", format); r.code != exitFailed || !strings.Contains(r.stderr, "more than one run") {
			t.Errorf("%s: exit status %d: %s", format, r.code, r.stderr)
		}
		text := warptune(t, "export", "--db", db, "--format", format, "--kernel", "transpose_naive", "--problem", "256", "--level", "model").ok(t).stdout
		run, err := exchange.Read("export", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Trials) != 27 || run.Kernel != "transpose_naive" || run.Device != "NVIDIA H200 SXM" {
			t.Errorf("%s: %d configurations of %s on %s", format, len(run.Trials), run.Kernel, run.Device)
		}
	}
	if r := warptune(t, "export", "--db", db, "--problem", "7"); r.code != exitFailed || !strings.Contains(r.stderr, "nothing to export") {
		t.Errorf("exit status %d: %s", r.code, r.stderr)
	}
}
