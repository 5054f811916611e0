package faults

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/tunertest"
)

// One of eight workers says what is not so, of one configuration in three, while
// the coordinator is killed now and then. It is found out and ends; what it said
// is found out by others, and nothing of it is in the table.
func TestLiar(t *testing.T) {
	kills := tunertest.Times(2, 20)
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: int64(4000 * kills), Batch: 40})
	ended := make(chan string, 1)
	told := func(p *process) bool {
		select {
		case ended <- p.stderr.String():
		default:
		}
		return true
	}
	f := s.fleet(t, never, func() (role, []string) {
		r := s.coordinator()
		r.Audit = 0.05
		return r, nil
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	liar := s.worker("liar")
	liar.Lies = 3
	supervise(ctx, t, s.witness.hear, told, func() (role, []string) {
		if len(ended) > 0 {
			stop()
		}
		return liar, nil
	})
	for range kills {
		s.progress(t)
		if p := f.up(t); !f.over() {
			p.signal(syscall.SIGKILL)
			<-p.done
		}
	}
	var why string
	select {
	case why = <-ended:
	case <-time.After(patience):
		t.Fatal("the liar goes on")
	}
	s.calm()
	f.wait(t)
	got := s.verdict(t)
	if len(got.Distrusted) != 1 || got.Distrusted[0].Worker != "liar" {
		t.Errorf("not believed: %+v", got.Distrusted)
	}
	if !strings.Contains(why, "not believed") {
		t.Errorf("the liar is told %q", why)
	}
}
