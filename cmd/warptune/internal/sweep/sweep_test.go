package sweep

import (
	"bytes"
	"io"
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
)

// Failures are told with their configurations.
func TestFailuresAreTold(t *testing.T) {
	s := &warptunev1.Sweep{
		Id: "0123456789abcdef", Spec: &warptunev1.Spec{Kernel: "k", Arch: "h200", Level: "cycle"}, State: warptunev1.SweepState_SWEEP_STATE_COMPLETED,
		Counts:   &warptunev1.Counts{Space: 5, Total: 5, Done: 5, ByValidity: []int64{0, 3, 0, 0, 0, 0, 2}},
		Failures: []*warptunev1.Example{{Kind: "correctness", Seq: 0, Config: "B=32,PAD=1", Message: "x[3] is 1"}},
	}
	var stdout bytes.Buffer
	if err := printStatus((&cli.App{Stdout: &stdout, Stderr: io.Discard}), s); err != nil || !strings.Contains(stdout.String(), "e.g. B=32,PAD=1: x[3] is 1") {
		t.Errorf("status says %s (%v)", &stdout, err)
	}
}

// The status of a paused sweep does not say when it ends.
func TestStatusOfAPausedSweep(t *testing.T) {
	s := &warptunev1.Sweep{
		Spec: &warptunev1.Spec{Level: "cycle"}, State: warptunev1.SweepState_SWEEP_STATE_PAUSED, Rate: 3,
		Counts: &warptunev1.Counts{Space: 5, Total: 5, Done: 1},
	}
	var stdout bytes.Buffer
	if err := printStatus((&cli.App{Stdout: &stdout}), s); err != nil || strings.Contains(stdout.String(), "left") {
		t.Errorf("the status of a paused sweep: %s (%v)", &stdout, err)
	}
}
