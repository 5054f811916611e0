package e2e

import (
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onTerminal starts tune with its progress on a terminal, where it shows a bar.
func onTerminal(t *testing.T, args ...string) *process {
	t.Helper()
	master, slave := terminal(t)
	cmd := command(t, "warptune", args...)
	p := &process{cmd: cmd, done: make(chan struct{}), log: newOutput()}
	cmd.Stderr = slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	go func() {
		_, _ = io.Copy(p.log, master) // ends with an error when the process does
		p.err = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.signal(t, syscall.SIGKILL)
		<-p.done
	})
	return p
}

// stored is how many configurations a database has results of.
func stored(t *testing.T, db string) int {
	t.Helper()
	var list []struct {
		State  string
		Counts struct{ Done string }
	}
	if err := json.Unmarshal([]byte(warptune(t, "sweep", "list", "--json", "--db", db)), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].State != "SWEEP_STATE_RUNNING" {
		t.Fatalf("want one running sweep, got %+v", list)
	}
	n, err := strconv.Atoi(list[0].Counts.Done)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// number finds a number in a text.
func number(t *testing.T, text, pattern string) int {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %q in:\n%s", pattern, text)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// shows waits until a bar matches, and returns the first group as a number. What
// is found out a moment after a bar was drawn is not drawn, so now and then one
// more configuration is let through, beyond from.
func (g *gate) shows(t *testing.T, p *process, pattern string, from int) int {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for n := from; n < g.size; n++ {
		g.pass(t, n)
		for late := time.After(2 * time.Second); late != nil; {
			text, more := p.log.state()
			if re.MatchString(text) {
				return number(t, text, pattern)
			}
			select {
			case <-more:
			case <-p.done:
				t.Fatalf("it ended (%v) without %q:\n%s", p.err, pattern, p.log)
			case <-late:
				late = nil
			}
		}
	}
	t.Fatalf("it does not say %q:\n%s", pattern, p.log)
	return 0
}

// An interrupted tune goes on where it was, whether it was asked to end or killed,
// and gives the tables of an undisturbed run; once finished it only answers.
func TestTuneResumes(t *testing.T) {
	const size = 120
	g := newGate(t, size)
	db := filepath.Join(t.TempDir(), "x.db")
	tune := append([]string{"tune", "--db", db, "--slots", "1", "--top", "3"}, g.sweep...)

	p := onTerminal(t, tune...)
	shown := g.shows(t, p, `\] ([2-9]\d|1\d\d) of 120 configurations, [\d.]+/s, (?:about [\dhm]+s left, )?gated on h200, best`, 21)
	p.signal(t, syscall.SIGINT)
	g.pass(t, g.limit+1) // what is being evaluated ends
	if code := p.wait(t); code != 1 {
		t.Errorf("interrupted: exit status %d, want 1", code)
	}
	p.says(t, "interrupted: what was evaluated is stored, and the same command resumes")
	first := stored(t, db)
	if first < shown || first >= size {
		t.Fatalf("%d configurations stored after the interruption, %d shown before", first, shown)
	}

	p = onTerminal(t, tune...)
	resumed := p.says(t, `resuming: (\d+) of 120 configurations`)
	if resumed != strconv.Itoa(first) {
		t.Errorf("resumed at %s, want %d", resumed, first)
	}
	shown = g.shows(t, p, `\] (\d+) of 120`, first+10)
	p.kill(t)
	second := stored(t, db)
	if second < max(first, shown) || second >= size {
		t.Fatalf("%d configurations stored after the kill, %d before, %d shown", second, first, shown)
	}

	g.open(t)
	_, progressText, code := try(t, tune...)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, progressText)
	}
	if n := number(t, progressText, `(\d+) configurations evaluated`); n != size-second {
		t.Errorf("the last run evaluated %d configurations, want the %d left", n, size-second)
	}
	exported(t, "--db", db).compare(t, embedded(t, g.sweep))

	out, answered, code := try(t, tune...)
	if code != 0 || !strings.Contains(answered, "nothing evaluated") || !strings.Contains(out, "120 of 120 configurations evaluated: 120 ran clean") {
		t.Errorf("asked again: exit status %d, %s\n%s", code, answered, out)
	}
}
