//go:build unix

package measure

import (
	"os/exec"
	"syscall"
)

// alone gives the process a group of its own, so that an interrupt on the terminal is
// its starter's to pass on.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends the process at once.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
