package sandbox

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// machineErrors are what the C library says (in LC_ALL=C) of a machine that has
// no room, descriptors or processes left, or a broken disk.
var machineErrors = []string{
	"No space left on device", "Disk quota exceeded", "Too many open files", "Resource temporarily unavailable", "Input/output error", "Stale file handle",
}

// interrupted says what of the machine's, not of its own, made a compiler end
// without success, "" if nothing that is known: it might end otherwise the next
// time, so this is nobody's compile error.
func interrupted(ee *exec.ExitError, l Limits, said string) string {
	if why := endedBy(ee, l, said); why != "" {
		return why
	}
	for _, m := range machineErrors {
		if strings.Contains(said, m) {
			return m
		}
	}
	return ""
}

// endedBy says who ended a compiler, or a sub-process of it, by a signal, "" if it did so itself. A batch system
// tells every process of a job to stop, and a machine without memory kills what has most of it. Processor time that
// is used up may kill as well. It shows in what the processes have used (counted by another clock than the limit's,
// so roughly).
func endedBy(ee *exec.ExitError, l Limits, said string) string {
	ws, ok := ee.Sys().(syscall.WaitStatus)
	if !ok {
		return ""
	}
	killed := ws.Signaled() && ws.Signal() == syscall.SIGKILL || ws.ExitStatus() == 128+int(syscall.SIGKILL) || subprocessKilled.MatchString(said)
	used := ee.UserTime() + ee.SystemTime()
	switch {
	case killed && (l.CPU == 0 || used < l.CPU-l.CPU/4):
		return fmt.Sprintf("it was killed after %v of processor time, perhaps for want of memory", used)
	case ws.Signaled() && slices.Contains(requests, ws.Signal()):
		return "it was told to end (" + ws.Signal().String() + ")"
	}
	return ""
}

// requests are the signals by which others ask a process to end.
var requests = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM}

// subprocessKilled is how gcc's driver and nvcc say so of a sub-process.
var subprocessKilled = regexp.MustCompile(`(?i)\b(died due to signal 9|fatal error: Killed signal)`)
