package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/search/replay"
	"github.com/warptune/warptune/search/strategies"
)

// recorded writes a recorded space of 90 configurations, one in nine failed.
func recorded(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,y,status,time_ms\n")
	for x := range 10 {
		for y := range 9 {
			status := "ok"
			if (x+y)%9 == 8 {
				status = "compile"
			}
			fmt.Fprintf(&b, "%d,%d,%s,%d\n", x, y, status, 1+(x-4)*(x-4)+(y-2)*(y-2))
		}
	}
	name := filepath.Join(t.TempDir(), "bowl.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestReplay: the same command line prints the same table, with a row a
// strategy, and every strategy finds the optimum of a space it exhausts.
func TestReplay(t *testing.T) {
	const begin, end = "<!-- tables: written by make search -->\n", "<!-- end of tables -->\n"
	space := recorded(t)
	dir := t.TempDir()
	doc := filepath.Join(dir, "doc.md")
	if err := os.WriteFile(doc, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var first string
	for range 2 {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), []string{"replay", space, "--budget", "100", "--seeds", "2", "--markdown", doc, "--plots", dir}, &stdout, &stderr)
		if code != exitDone {
			t.Fatalf("exit status %d: %s", code, stderr.String())
		}
		if first == "" {
			first = stdout.String()
		}
		if stdout.String() != first {
			t.Errorf("two runs differ:\n%s\n%s", first, stdout.String())
		}
	}
	lines := strings.Split(strings.TrimSpace(first), "\n")
	for _, line := range lines[1:] {
		if f := strings.Fields(line); f[0] != "bowl" || !strings.Contains(line, " 1.000  -") && !strings.Contains(line, "(100 %)") {
			t.Errorf("the optimum is not found: %s", line)
		}
	}
	if text, err := os.ReadFile(doc); err != nil || !strings.HasPrefix(string(text), "before\n") || !strings.HasSuffix(string(text), end+"after\n") ||
		strings.Contains(string(text), "old") || strings.Count(string(text), "| portfolio |") != 1 {
		t.Errorf("%v\n%s", err, text)
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "bowl.svg")); err != nil || !bytes.HasPrefix(svg, []byte("<svg")) {
		t.Errorf("no plot: %v", err)
	}
}

func TestReplayUsage(t *testing.T) {
	space := recorded(t)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"replay", exitUsage, "at least one recorded space"},
		{"replay " + space + " --strategy magic", exitUsage, `unknown strategy "magic"`},
		{"replay " + space + " --budget 0", exitUsage, "--budget"},
		{"replay " + space + " --seeds 0", exitUsage, "--seeds"},
		{"replay " + space + " --delay -1", exitUsage, "--delay"},
		{"replay " + space + " --patience -1", exitUsage, "--patience"},
		{"replay " + space + " --strategy=", exitUsage, "none is named"},
		{"replay " + space + " --strategy random,,tabu", exitUsage, "a name is empty"},
		{"replay " + space + " --strategy random --beliefs 10", exitUsage, "random believes nothing"},
		{"replay " + space + " --strategy random,tabu --negligible 1%", exitUsage, "random, tabu believes nothing"},
		{"replay " + space + " --table best", exitUsage, "--markdown"},
		{"replay " + space + " --negligible much", exitUsage, "--negligible"},
		{"replay " + space + " --negligible 100%", exitUsage, "--negligible"},
		{"replay " + space + "x", exitFailed, "no such file"},
		{"replay " + space + " --seeds 1 --budget 2 --markdown " + space, exitFailed, "no place for tables"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), strings.Fields(c.args), &stdout, &stderr); code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit status %d, %s", c.args, code, stderr.String())
		}
	}
}

// A cache file of Kernel Tuner is a recorded space like any other: what a sweep
// exported can be replayed.
func TestReplayOfAnotherTunersFile(t *testing.T) {
	db := tuned(t)
	for _, format := range []string{"kernel-tuner", "t4"} {
		file := filepath.Join(t.TempDir(), "copy.json")
		warptune(t, "export", "--db", db, "--format", format, "-o", file).ok(t)
		out := warptune(t, "replay", file, "--strategy", "random", "--budget", "24", "--seeds", "2").ok(t).stdout
		if !strings.Contains(out, "copy ") || !strings.Contains(out, "random") {
			t.Errorf("%s:\n%s", format, out)
		}
	}
}

// What a file is is told by its name, and said where that was wrong.
func TestReplayOfAFileByAnotherName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "copy.t4")
	warptune(t, "export", "--db", tuned(t), "--format", "t4", "-o", file).ok(t)
	r := warptune(t, "replay", file, "--strategy", "random")
	if r.code == exitDone || !strings.Contains(r.stderr, "copy.t4") || !strings.Contains(r.stderr, "neither in .json") {
		t.Errorf("exit status %d: %s", r.code, r.stderr)
	}
}

// TestReplayStops: with patience strategies stop early and the table says when.
func TestReplayStops(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"replay", recorded(t), "--strategy", "random,portfolio", "--seeds", "3", "--patience", "9", "--negligible", "0.1%", "--json"}
	if code := run(context.Background(), args, &stdout, &stderr); code != exitDone {
		t.Fatalf("exit status %d: %s", code, stderr.String())
	}
	var scores []struct {
		Budget      float64
		Evaluations float64
	}
	if err := json.Unmarshal(stdout.Bytes(), &scores); err != nil || len(scores) != 2 {
		t.Fatalf("%v\n%s", err, stdout.String())
	}
	for _, s := range scores {
		if s.Evaluations < 10 || s.Evaluations >= s.Budget {
			t.Errorf("%.0f of %.0f evaluations", s.Evaluations, s.Budget)
		}
	}
}

// TestReplayTransfer: a strategy that begins with what is best in another
// recording of the kernel finds the optimum they share at once.
func TestReplayTransfer(t *testing.T) {
	space, elsewhere := recorded(t), filepath.Join(t.TempDir(), "bowl-other.csv")
	text, err := os.ReadFile(space)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(elsewhere, text, 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), []string{"replay", space, "--transfer", elsewhere, "--strategy", "random", "--budget", "90", "--seeds", "3"}, &stdout, &stderr)
	rows := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if code != exitDone || len(rows) != 3 || !strings.Contains(rows[2], "random, transferred") || !strings.Contains(rows[2], " 1 (100 %)") {
		t.Fatalf("exit status %d: %s\n%s", code, stderr.String(), stdout.String())
	}
	stdout.Reset()
	if code := run(context.Background(), []string{"replay", space, "--transfer", space, "--strategy", "random", "--budget", "9", "--seeds", "1"}, &stdout, &stderr); code != exitDone || strings.Contains(stdout.String(), "transferred") {
		t.Errorf("a space begins with its own best: exit status %d\n%s", code, stdout.String())
	}
	foreign := filepath.Join(t.TempDir(), "hill.csv")
	if err := os.WriteFile(foreign, text, 0o666); err != nil {
		t.Fatal(err)
	}
	stderr.Reset()
	if code := run(context.Background(), []string{"replay", space, "--transfer", foreign, "--strategy", "random", "--budget", "9", "--seeds", "1"}, &stdout, &stderr); code != exitUsage || !strings.Contains(stderr.String(), "none is of the kernel") {
		t.Errorf("transferred from another kernel: exit status %d\n%s", code, stderr.String())
	}
}

// The table shows what is found after the budget where that is no mark, and a strategy named twice once.
func TestReplayLast(t *testing.T) {
	r := warptune(t, "replay", recorded(t), "--strategy", "random,all,random", "--budget", "10", "--seeds", "2").ok(t)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if !strings.Contains(lines[0], "LAST") || strings.Count(r.stdout, "  random ") != 1 || len(lines) != 1+len(strategies.Names()) {
		t.Errorf("%s", r.stdout)
	}
	if at := warptune(t, "replay", recorded(t), "--strategy", "random", "--budget", "25", "--seeds", "2").ok(t).stdout; strings.Contains(at, "LAST") {
		t.Errorf("a mark is shown twice:\n%s", at)
	}
}

// TestReplayBeliefs: what strategies believe is left is set against what is, on
// the space and on all.
func TestReplayBeliefs(t *testing.T) {
	space := recorded(t)
	doc := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(doc, []byte("before\n"+"<!-- begin b -->\nold\n<!-- end b -->\nafter\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := []string{"replay", space, "--strategy", "gaussian-process,random", "--beliefs", "10", "--budget", "60", "--seeds", "2", "--markdown", doc, "--table", "b", "--json"}
	if code := run(context.Background(), args, &stdout, &stderr); code != exitDone {
		t.Fatalf("exit status %d: %s", code, stderr.String())
	}
	var list []replay.Calibration
	if err := json.Unmarshal(stdout.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, c := range list {
		count[c.Space+" "+c.Strategy] += c.Count
	}
	if len(count) != 2 || count["bowl gaussian-process"] != 10 && count["bowl gaussian-process"] != 12 || count["all gaussian-process"] != count["bowl gaussian-process"] {
		t.Errorf("beliefs: %v", count)
	}
	text, err := os.ReadFile(doc)
	if err != nil || strings.Contains(string(text), "old") || strings.Count(string(text), "| all | gaussian-process |") == 0 || !strings.HasSuffix(string(text), "<!-- end b -->\nafter\n") {
		t.Errorf("%v\n%s", err, text)
	}
	scores := []string{"replay", space, "--strategy", "random", "--budget", "20", "--seeds", "1", "--markdown", doc, "--table", "b"}
	if code := run(context.Background(), scores, &stdout, &stderr); code != exitDone {
		t.Fatalf("exit status %d: %s", code, stderr.String())
	}
	if text, err := os.ReadFile(doc); err != nil || strings.Contains(string(text), "| all |") || !strings.Contains(string(text), "\n| bowl | random | ") {
		t.Errorf("%v\n%s", err, text)
	}
	if code := run(context.Background(), []string{"replay", space, "--beliefs", "-1"}, &stdout, &stderr); code != exitUsage {
		t.Errorf("--beliefs -1: exit status %d", code)
	}
}
