package faults

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/warptune/warptune/tuner/tunertest"
)

// under returns the command line that runs a program with a fault injected
// into one of its system calls, or skips the test.
func under(t *testing.T) func(call, fault string, when int) []string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(strace, "-f", "-o", "/dev/null", "true").Run()
	}
	if err != nil {
		t.Skip("faults in system calls need strace, and the right to trace: ", err)
	}
	return func(call, fault string, when int) []string {
		return []string{strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", call, fault, when)}
	}
}

// Writes and syncs fail, and the coordinator is killed on entering them. A
// failed sync may or may not have stored something, so the coordinator ends
// rather than go on, acknowledges nothing, and goes on from the file when it is
// started again.
func TestFailingSystemCalls(t *testing.T) {
	trace := under(t)
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: int64(700 * tunertest.Times(5, 50)), Batch: 40})
	s.took = slowly // whoever is traced is slow too
	seed := tunertest.Rand(t)
	rng := rand.New(rand.NewPCG(seed.Uint64(), 1))
	faults := tunertest.Times(5, 50)
	var starts, broken atomic.Int64
	dies := func(p *process) bool {
		text := p.stderr.String()
		if strings.Contains(text, "changes could not be stored") {
			broken.Add(1)
		}
		return strings.Contains(text, "input/output error") // or it could not even open the file
	}
	f := s.fleet(t, dies, func() (role, []string) {
		n := int(starts.Add(1))
		if n > faults && (broken.Load() > 0 || n > 4*faults) { // some fail before they are asked anything
			s.calm()
			return s.coordinator(), nil
		}
		kinds := [][2]string{{"fdatasync", "error=EIO"}, {"pwrite64", "error=EIO"}, {"fdatasync", "signal=KILL"}, {"pwrite64", "signal=KILL"}}
		kind := kinds[n%4]
		return s.coordinator(), trace(kind[0], kind[1], 1+rng.IntN(12))
	})
	f.wait(t)
	if f.coordinator.died() < faults || broken.Load() == 0 {
		t.Errorf("the coordinator died %d times, %d of them of failed calls; want %d", f.coordinator.died(), broken.Load(), faults)
	}
	s.verdict(t)
}
