//go:build !linux

package sandbox

import "os/exec"

// Elsewhere than on Linux a compiler is bounded in wall time only.

func isolate(*exec.Cmd) {}

func restrict(int, Limits) {}

func (w *Wall) start(cmd *exec.Cmd) error { return cmd.Start() }

func killedBy(ee *exec.ExitError, _ Limits) string {
	if ee.ExitCode() < 0 {
		return "was killed (" + ee.String() + ")"
	}
	return ""
}
