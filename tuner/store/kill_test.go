package store

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// killEnv makes the test binary a process that commits until it is killed,
// and says after each commit how far it is.
const killEnv = "WARPTUNE_STORE_COMMITS_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(killEnv); path != "" {
		commitForEver(path)
	}
	os.Exit(m.Run())
}

func commitForEver(path string) {
	b, err := Open(path, OpenOptions{AnyFileSystem: true})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	if err := b.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{testSweep(1)}}); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	next := int64(0)
	for page, _ := b.Results(1, 0, PageLimit); len(page) > 0; page, _ = b.Results(1, next, PageLimit) {
		next = page[len(page)-1].Seq + 1
	}
	for {
		c := tuner.Changes{Token: uint64(next)}
		for range 1 + next%17 {
			c.Results = append(c.Results, testResult(1, next))
			next++
		}
		if err := b.Commit(&c); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(next)
	}
}

// Killed at any moment, the store has every commit that was acknowledged, each
// whole, and bbolt's own check finds nothing.
func TestKilledInMidCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	rng := tunertest.Rand(t)
	acknowledged := int64(0)
	for i := range tunertest.Times(12, 200) {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), killEnv+"="+path)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		reader, said := bufio.NewReader(out), ""
		if i%2 == 0 { // the others may be killed before they have begun, on a machine that is busy
			said, err = reader.ReadString('\n')
			must(t, err)
		}
		timer := time.AfterFunc(time.Duration(20+rng.IntN(120))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		rest, err := io.ReadAll(reader)
		must(t, err)
		_ = cmd.Wait()
		timer.Stop()
		for lines := bufio.NewScanner(strings.NewReader(said + string(rest))); lines.Scan(); {
			if n, err := fmt.Sscan(lines.Text(), &acknowledged); n != 1 {
				t.Fatalf("the process says %q (%v)", lines.Text(), err)
			}
		}
		checkKilled(t, path, acknowledged)
	}
	if acknowledged == 0 {
		t.Error("no commit was ever acknowledged")
	}
	t.Logf("%d results acknowledged", acknowledged)
}

func checkKilled(t *testing.T, path string, acknowledged int64) {
	t.Helper()
	b := mustOpen(t, path)
	defer b.Close()
	next := int64(0)
	for {
		page, err := b.Results(1, next, PageLimit)
		must(t, err)
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			if r.Seq != next {
				t.Fatalf("result %d follows %d", r.Seq, next-1)
			}
			next++
		}
	}
	if next < acknowledged {
		t.Errorf("%d results acknowledged, %d stored", acknowledged, next)
	}
	whole := int64(0)
	for whole < next {
		whole += 1 + whole%17
	}
	if whole != next {
		t.Errorf("%d results: a transaction is stored in part", next)
	}
	must(t, b.db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	}))
}
