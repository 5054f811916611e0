package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/tunertest"
)

// network makes a network of its own for a test's processes, in which commands
// have set up what happens to packets. The test is skipped where that cannot be
// done. It returns the command line to run a process in it.
func network(t *testing.T, commands ...string) []string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("networks of one's own need root")
	}
	name := fmt.Sprintf("warptune-%d", os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Skipf("no networks of one's own here: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	inside := []string{"ip", "netns", "exec", name}
	for _, command := range append([]string{"ip link set lo mtu 1500 up"}, commands...) {
		args := append(inside[1:], strings.Fields(command)...)
		if out, err := exec.Command(inside[0], args...).CombinedOutput(); err != nil {
			t.Skipf("%s: %v %s", command, err, out)
		}
	}
	return inside
}

// Packets are lost in the kernel, a tenth (30 %) of them, or wait in a queue
// because the line takes 256 kbit/s: nothing is lost, counted twice, or differs.
func TestBadLines(t *testing.T) {
	loss := fmt.Sprintf("iptables -A INPUT -p tcp -m statistic --mode random --probability %g -j DROP", float64(tunertest.Times(10, 30))/100)
	const narrow = "tc qdisc add dev lo root tbf rate 256kbit burst 16kb latency 1s"
	for _, line := range []struct {
		name, command string
		size          int
	}{{"loss", loss, 300}, {"narrow", narrow, tunertest.Times(300, 3000)}} {
		t.Run(line.name, func(t *testing.T) {
			inside := network(t, line.command)
			s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: int64(line.size), Batch: 40})
			s.inside, s.lease = inside, 10*time.Second
			s.calm()
			f := s.fleet(t, never, func() (role, []string) { return s.coordinator(), inside })
			f.wait(t)
			s.verdict(t)
		})
	}
}

// The coordinator is killed and starts again at another address, time after
// time. Workers that are told where to look in a file go on.
func TestCoordinatorMoves(t *testing.T) {
	moves := tunertest.Times(4, 40)
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: int64(700 * moves), Batch: 40})
	file := filepath.Join(t.TempDir(), "coordinator")
	s.book = "@" + file
	seen := map[string]bool{}
	f := s.fleet(t, never, func() (role, []string) {
		r := s.coordinator()
		r.Address = tunertest.FreeAddress(t)
		seen[r.Address] = true
		if err := errors.Join(os.WriteFile(file+".new", []byte(r.Address+"\n"), 0o600), os.Rename(file+".new", file)); err != nil {
			t.Error(err)
		}
		return r, nil
	})
	for range moves {
		p := f.up(t)
		s.progress(t)
		p.signal(syscall.SIGKILL)
		<-p.done
	}
	s.calm()
	f.wait(t)
	if len(seen) < moves {
		t.Errorf("the coordinator was at %d addresses only", len(seen))
	}
	s.verdict(t)
}
