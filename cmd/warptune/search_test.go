package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tiled is a tune of 374 configurations that are evaluated in no time.
var tiled = []string{"tune", "transpose_tiled", "--arch", "h200", "--problem", "256", "--level", "model"}

// TestWorkers: what a learning search asks, and so the result of every
// evaluation in order, does not depend on how many workers there are.
func TestWorkers(t *testing.T) {
	var first string
	for _, slots := range []string{"1", "2", "7", "32"} {
		db := filepath.Join(t.TempDir(), "x.db")
		out := warptune(t, slices.Concat(tiled, []string{"--budget", "80", "--db", db, "--slots", slots})...).ok(t)
		got := out.stdout + warptune(t, "export", "--format", "kernel-tuner", "--db", db).ok(t).stdout
		if first == "" {
			first = got
		}
		if !strings.Contains(got, "as portfolio believes") {
			t.Fatalf("no portfolio: %s", got)
		}
		if got != first {
			t.Errorf("with %s workers:\n%s\nwith one:\n%s", slots, got, first)
		}
	}
}

// TestStopsEarly: patience and what is believed to be left end a sweep, and it
// is done then: the same command has nothing to do.
func TestStopsEarly(t *testing.T) {
	for _, rule := range [][]string{{"--patience", "30"}, {"--negligible", "1%"}} {
		db := filepath.Join(t.TempDir(), "x.db")
		tune := slices.Concat(tiled, []string{"--strategy", "portfolio", "--db", db}, rule)
		first, second := warptune(t, tune...).ok(t), warptune(t, tune...).ok(t)
		list := strings.Fields(strings.Split(warptune(t, "sweep", "list", "--db", db).ok(t).stdout, "\n")[1])
		if !strings.Contains(strings.Join(list, " "), "completed") || strings.HasPrefix(first.stderr, "warptune: 374 ") {
			t.Errorf("%v: %s%v", rule, first.stderr, list)
		}
		if second.stdout != first.stdout || second.stderr != "warptune: answered from the database, nothing evaluated\n" {
			t.Errorf("%v, again: %s\n%s", rule, second.stderr, second.stdout)
		}
	}
}

// What earlier sweeps evaluated is no interrupted one, and of two levels the plot is that of the last.
func TestKnownFromEarlierSweeps(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	tune := func(more ...string) result {
		return warptune(t, slices.Concat([]string{"tune", "copy", "--arch", "h200", "--problem", "65536", "--slots", "1", "--db", db}, more)...).ok(t)
	}
	tune("--level", "model", "--strategy", "random", "--budget", "12", "--seed", "3")
	if r := tune("--level", "model"); strings.Contains(r.stderr, "resuming") || !strings.Contains(r.stdout, "(12 answered from earlier results)") {
		t.Errorf("a new sweep: %s%s", r.stderr, r.stdout)
	}
	r := tune("--level", "model,cycle", "--plot")
	_, plot, _ := strings.Cut(r.stdout, "level cycle after ranking 24: best so far, by trials")
	lines := strings.Split(strings.TrimSpace(plot), "\n")
	axis := strings.Fields(lines[len(lines)-1])
	if len(axis) != 2 || axis[0] != "1" || axis[1] == "24" || strings.Count(plot, "*") < 12 {
		t.Errorf("axis %v:\n%s", axis, r.stdout)
	}
}
