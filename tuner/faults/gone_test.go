package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/tunertest"
)

// The database is moved away, or deleted, or another is put in its place, while a coordinator uses it. The
// coordinator ends and says so, and nothing is acknowledged that is not in the file that is there when it has been
// put back.
func TestDatabaseGone(t *testing.T) {
	for _, how := range []string{"moved away", "replaced"} {
		s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 1200})
		away := s.path + ".away"
		ended := make(chan string, 1)
		back := make(chan struct{})
		f := s.fleet(t, func(p *process) bool {
			ended <- p.stderr.String()
			<-back
			return true
		}, func() (role, []string) { return s.coordinator(), nil })
		f.up(t)
		s.progress(t)
		if err := os.Rename(s.path, away); err != nil {
			t.Fatal(err)
		}
		if how == "replaced" {
			if err := open(t, s.path).Close(); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case text := <-ended:
			if !strings.Contains(text, "while it is used") && !strings.Contains(text, "was replaced while it was used") {
				t.Errorf("%s: the coordinator says:\n%s", how, text)
			}
		case <-time.After(patience):
			t.Fatalf("%s: the coordinator goes on", how)
		}
		if err := os.Rename(away, s.path); err != nil {
			t.Fatal(err)
		}
		close(back)
		s.calm()
		f.wait(t)
		s.verdict(t)
	}
}
