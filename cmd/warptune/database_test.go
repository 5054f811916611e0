package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/cmd/warptune/internal/sweep"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// tuned makes a database with a sweep in it.
func tuned(t *testing.T) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	warptune(t, append([]string{"tune", "copy", "--db", db}, quick...)...).ok(t)
	return db
}

// A second run of a finished tune is answered from the database.
func TestTuneAgain(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	tune := append([]string{"tune", "copy", "--db", db}, quick...)
	first := warptune(t, tune...).ok(t)
	second := warptune(t, tune...).ok(t)
	if first.stderr != "warptune: 24 configurations evaluated\n" || second.stderr != "warptune: answered from the database, nothing evaluated\n" {
		t.Errorf("first run: %s\nsecond run: %s", first.stderr, second.stderr)
	}
	if first.stdout != second.stdout {
		t.Errorf("the second run says\n%s\nthe first\n%s", second.stdout, first.stdout)
	}
}

// queued leaves a sweep in a database as one that was interrupted before it began.
func queued(t *testing.T, db, kernel string) {
	t.Helper()
	var s plan.Flags
	var conn connect.Connection
	cmd := &cobra.Command{}
	s.Flags(cmd)
	conn.Flags(cmd)
	if err := cmd.ParseFlags([]string{"--arch", "h200", "--problem", "65536", "--seed", "1", "--db", db}); err != nil {
		t.Fatal(err)
	}
	p, err := s.Plan(t.Context(), &cli.App{Stdout: io.Discard, Stderr: io.Discard}, kernel)
	if err != nil {
		t.Fatal(err)
	}
	conn.Embed = cluster.EmbedOptions{Create: true}
	err = conn.With(t.Context(), func(c *connect.Client) error {
		_, err := sweep.Submit(t.Context(), c, p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A tune works on what it was asked, and leaves what else waits in the database
// as it is: an interrupted sweep of another kernel, or of another version of the
// simulator, which this one could not go on with.
func TestTuneLeavesOtherSweepsAlone(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	queued(t, db, "copy")
	st, err := store.Open(db, store.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := st.Sweeps()
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%d sweeps, %v", len(waiting), err)
	}
	old := waiting[0]
	old.Num++
	old.Spec.Engine = "0-of-long-ago"
	old.ID = old.Spec.ID("")
	if err := st.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{old}}); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	r := warptune(t, "tune", "transpose_naive", "--db", db, "--arch", "h200", "--problem", "256", "--level", "model").ok(t)
	if r.stderr != "warptune: 27 configurations evaluated\n" {
		t.Errorf("it says %s", r.stderr)
	}
	list := warptune(t, "sweep", "list", "--kernel", "copy", "--db", db).ok(t).stdout
	if n := strings.Count(list, "running  0     24"); n != 2 {
		t.Errorf("the other sweeps did not stay as they were:\n%s", list)
	}
}

// A search that stops before the space is exhausted says what it believes is
// left, and says the same when asked again.
func TestLeftToGain(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	tune := []string{"tune", "transpose_tiled", "--arch", "h200", "--problem", "256", "--level", "model", "--strategy", "surrogate", "--db", db}
	all := append(slices.Clone(tune), "--set", "ROWS=8", "--set", "PAD=1")
	tune = append(tune, "--budget", "50")
	first, second := warptune(t, tune...).ok(t).stdout, warptune(t, tune...).ok(t).stdout
	if !strings.Contains(first, "left to gain in what was not evaluated (324), as surrogate believes: ") || second != first {
		t.Errorf("first run: %s\nsecond run: %s", first, second)
	}
	if out := warptune(t, all...).ok(t).stdout; strings.Contains(out, "left to gain") {
		t.Errorf("something is left after everything was evaluated:\n%s", out)
	}
}

// A sweep's course is drawn as text and as SVG, the same whenever it is asked.
func TestPlot(t *testing.T) {
	db := tuned(t)
	id := strings.Fields(strings.Split(warptune(t, "sweep", "list", "--db", db).ok(t).stdout, "\n")[1])[0]
	text := warptune(t, "sweep", "plot", id, "--db", db).ok(t).stdout
	if !strings.Contains(text, "copy on h200, problem 65536, exhaustive: best so far, by trials") || !strings.Contains(text, "*") {
		t.Errorf("%s", text)
	}
	file := filepath.Join(t.TempDir(), "x.svg")
	warptune(t, "sweep", "plot", id, "--db", db, "-o", file).ok(t)
	if svg, err := os.ReadFile(file); err != nil || !bytes.Contains(svg, []byte("<polyline")) {
		t.Errorf("%v: %s", err, svg)
	}
	if tune := warptune(t, append([]string{"tune", "copy", "--plot", "--db", db}, quick...)...).ok(t).stdout; !strings.HasSuffix(tune, text) {
		t.Errorf("tune --plot draws something else:\n%s", tune)
	}
}

func TestLockedDatabase(t *testing.T) {
	db := tuned(t)
	before := warptune(t, "export", "--db", db).ok(t).stdout
	st, err := store.Open(db, store.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	holder := fmt.Sprintf("process %d", os.Getpid())
	var wg sync.WaitGroup // each waits a while for the lock
	for _, args := range [][]string{{"export"}, {"sweep", "list"}, append([]string{"tune", "copy"}, quick...)} {
		wg.Go(func() {
			warptune(t, append(args, "--db", db)...).refused(t, exitFailed, db, "held by "+holder, "stop it, or use another file")
		})
	}
	wg.Wait()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if after := warptune(t, "export", "--db", db).ok(t).stdout; after != before {
		t.Error("the lock's loser changed the database")
	}
}

// remedy is what to do about a database that cannot be read: it is damaged, or so
// much so that it is not known as one.
var remedy = regexp.MustCompile("restore a backup, or move the file away|name another file")

// A damaged database is refused by name and left as it is, or what is whole of it is
// exported and the rest named; no flipped bit gives another row.
func TestDamagedDatabase(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	db := tuned(t)
	whole := read(t, db)
	export := func(name string, content []byte) result {
		path := write(t, filepath.Join(t.TempDir(), name), content)
		r := warptune(t, "export", "--all", "--db", path)
		if r.code == exitDone {
			return r
		}
		if r.code == exitIncomplete {
			if !strings.Contains(r.stderr, "damaged") && !strings.Contains(r.stderr, "left out") {
				t.Errorf("%s: it is not said what is left out: %s", name, r.stderr)
			}
			return r
		}
		r.refused(t, exitFailed, path)
		if !remedy.MatchString(r.stderr) {
			t.Errorf("%s: the error does not say what to do: %s", name, r.stderr)
		}
		if !bytes.Equal(read(t, path), content) {
			t.Errorf("%s: a refused file was changed", name)
		}
		return r
	}
	want := export("sound.db", whole).ok(t).stdout
	for name, content := range map[string][]byte{
		"empty.db": nil, "text.db": []byte("not a database\n"), "cut.db": whole[:20000], "zeros.db": make([]byte, 1<<16),
		"headless.db": append(make([]byte, 4096), whole[4096:]...),
	} {
		if r := export(name, content); r.code == exitDone {
			t.Errorf("%s was accepted", name)
		}
	}
	const page, count = 4096, 10 // where a page says how many entries it has
	refused := 0
	flip := func(i, bit int) {
		content := bytes.Clone(whole)
		content[i] ^= 1 << bit
		switch r := export(fmt.Sprintf("flip%d.db", i), content); {
		case r.code == exitFailed:
			refused++
		case r.code == exitIncomplete:
			refused++
			for line := range strings.Lines(r.stdout) {
				if line = strings.TrimRight(line, ",\n"); !strings.Contains(want, line) {
					t.Errorf("flipping bit %d of byte %d gives another row: %s", bit, i, line)
				}
			}
		case r.stdout != want:
			t.Errorf("flipping bit %d of byte %d gives another table", bit, i)
		}
	}
	for at := 0; at < len(whole); at += page {
		if !slices.ContainsFunc(whole[at:at+page], func(b byte) bool { return b != 0 }) {
			continue
		}
		flip(at+count, rng.IntN(4))
		i := at + rng.IntN(page)
		for whole[i] == 0 { // where something is stored
			i = at + rng.IntN(page)
		}
		flip(i, rng.IntN(8))
	}
	if refused == 0 {
		t.Error("no flipped bit was noticed")
	}
}
