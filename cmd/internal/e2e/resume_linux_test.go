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

// An interrupted tune goes on where it was, whether it was asked to end or killed,
// and gives the tables of an undisturbed run; once finished it only answers.
func TestTuneResumes(t *testing.T) {
	want := longTables(t)
	db := filepath.Join(t.TempDir(), "x.db")
	tune := append([]string{"tune", "--db", db, "--slots", "1", "--top", "3"}, long...)
	const progress = `\] ([2-9]\d|[12]\d\d) of 374 configurations, \d+/s, \d+s left, transpose_tiled on h200, best`

	p := onTerminal(t, tune...)
	p.says(t, progress)
	p.signal(t, syscall.SIGINT)
	if code := p.wait(t); code != 1 {
		t.Errorf("interrupted: exit status %d, want 1", code)
	}
	p.says(t, "interrupted: what was evaluated is stored, and the same command resumes")
	first := stored(t, db)
	if first < 20 || first >= 374 {
		t.Fatalf("%d configurations stored after the interruption", first)
	}

	p = onTerminal(t, tune...)
	resumed := p.says(t, `resuming: (\d+) of 374 configurations`)
	if resumed != strconv.Itoa(first) {
		t.Errorf("resumed at %s, want %d", resumed, first)
	}
	p.says(t, `\] (\d+) of 374`)
	p.kill(t)
	second := stored(t, db)
	if second < first {
		t.Fatalf("%d configurations stored after the kill, %d before", second, first)
	}

	_, progressText, code := try(t, tune...)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, progressText)
	}
	if n := number(t, progressText, `(\d+) configurations evaluated`); n != 374-second {
		t.Errorf("the last run evaluated %d configurations, want the %d left", n, 374-second)
	}
	exported(t, "--db", db).compare(t, want)

	out, answered, code := try(t, tune...)
	if code != 0 || !strings.Contains(answered, "nothing evaluated") || !strings.Contains(out, "374 of 374 configurations evaluated: 374 correct") {
		t.Errorf("asked again: exit status %d, %s\n%s", code, answered, out)
	}
}
