package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// isolate gives the compiler a process group of its own, so that cancelling ends
// the sub-processes it started too.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// restrict sets the limits of a process that has just started; sub-processes
// inherit them, and those that it has started meanwhile are given them too. It
// has no effect on what has ended already.
func restrict(pid int, l Limits) {
	limitProcess(pid, l)
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range children {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				restrict(child, l)
			}
		}
	}
}

// cpuGrace is how many seconds of processor time after SIGXCPU, of which a process
// dies unless it wants otherwise, SIGKILL follows. At once, nobody could tell it
// from the SIGKILL of a machine without memory.
const cpuGrace = 1

func limitProcess(pid int, l Limits) {
	seconds := uint64((l.CPU + time.Second - 1) / time.Second)
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_CPU:   seconds,
		unix.RLIMIT_AS:    uint64(l.Memory),
		unix.RLIMIT_FSIZE: maxPTX,
		unix.RLIMIT_CORE:  0,
	} {
		if limit == 0 && resource != unix.RLIMIT_CORE {
			continue
		}
		most := limit
		if resource == unix.RLIMIT_CPU {
			most += cpuGrace
		}
		_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: limit, Max: most}, nil)
	}
}

// killedBy names what the compiler did that it died of by a signal, "" for an
// ordinary exit.
func killedBy(ee *exec.ExitError, l Limits) string {
	ws, ok := ee.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return ""
	}
	switch ws.Signal() {
	case syscall.SIGXCPU, syscall.SIGKILL:
		return "exceeded " + l.CPU.String() + " of processor time"
	case syscall.SIGXFSZ:
		return "wrote too large a file"
	default:
		return "crashed (" + ws.Signal().String() + ")"
	}
}
