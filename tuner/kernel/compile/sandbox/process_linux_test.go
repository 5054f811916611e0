package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A sub-process that was started before its parent got its limits has them too.
func TestLimitsReachSubProcesses(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 100 & echo $!; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	restrict(cmd.Process.Pid, Limits{CPU: 77 * time.Second, Memory: 123 << 20})
	for _, pid := range []int{cmd.Process.Pid, child} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
		if err != nil {
			t.Fatal(err)
		}
		limits := strings.Join(strings.Fields(string(text)), " ")
		if !strings.Contains(limits, "Max cpu time 77 78 seconds") || !strings.Contains(limits, fmt.Sprintf("Max address space %d %[1]d bytes", 123<<20)) {
			t.Errorf("process %d has the limits\n%s", pid, text)
		}
	}
}
