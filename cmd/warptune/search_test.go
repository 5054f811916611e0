package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/search/stopping"
)

// TestChoose: without --strategy what can be evaluated whole is, and a search
// that nothing ends does not go on for ever.
func TestChoose(t *testing.T) {
	none := 0.0
	for _, c := range []struct {
		name     string
		flags    sweepFlags
		budget   budget
		size     int64
		strategy string
		patience int64
	}{
		{"small", sweepFlags{}, budget{}, 1000, "exhaustive", 0},
		{"large", sweepFlags{}, budget{}, 1e9, "portfolio", defaultPatience},
		{"large, with a budget", sweepFlags{}, budget{evaluations: 200}, 1e9, "portfolio", 0},
		{"large, with patience", sweepFlags{rule: stopping.Rule{Patience: 7}}, budget{}, 1e9, "portfolio", 0},
		{"large, until little is left", sweepFlags{rule: stopping.Rule{Negligible: 0.01}}, budget{}, 1e9, "portfolio", defaultPatience},
		{"small, with patience", sweepFlags{rule: stopping.Rule{Patience: 7}}, budget{}, 100, "portfolio", 0},
		{"small, until little is left", sweepFlags{rule: stopping.Rule{Negligible: 0.01}}, budget{}, 100, "portfolio", 0},
		{"large, with time", sweepFlags{}, budget{time: time.Minute}, 1e9, "portfolio", 0},
		{"small, with time", sweepFlags{}, budget{time: time.Minute}, 100, "portfolio", 0},
		{"small, with a budget", sweepFlags{}, budget{evaluations: 50}, 100, "portfolio", 0},
		{"covered", sweepFlags{}, budget{evaluations: 5000}, 5000, "exhaustive", 0},
		{"to be proven", sweepFlags{level: bothLevels}, budget{within: &none}, 5e6, "exhaustive", 0},
		{"to be proven, with a budget", sweepFlags{level: bothLevels}, budget{within: &none, evaluations: 10}, 800, "portfolio", 0},
		{"to be proven, with a budget for all", sweepFlags{level: bothLevels}, budget{within: &none, evaluations: 50}, 800, "exhaustive", 0},
		{"to be proven, with time", sweepFlags{level: bothLevels}, budget{within: &none, time: time.Minute}, 5e6, "portfolio", 0},
		{"ranked", sweepFlags{level: bothLevels}, budget{}, 16000, "exhaustive", 0},
		{"ranked, with a budget", sweepFlags{level: bothLevels}, budget{evaluations: 50}, 800, "exhaustive", 0},
		{"ranked, with time", sweepFlags{level: bothLevels}, budget{time: time.Minute}, 800, "portfolio", 0},
		{"large, ranked", sweepFlags{level: bothLevels}, budget{}, 1e6, "portfolio", defaultPatience},
		{"named", sweepFlags{strategy: "genetic"}, budget{}, 1e9, "genetic", 0},
	} {
		spec := &warptunev1.Spec{Strategy: c.flags.strategy}
		c.flags.choose(spec, c.size, c.budget)
		if spec.GetStrategy() != c.strategy || spec.GetPatience() != c.patience {
			t.Errorf("%s: %s with patience %d, want %s with %d", c.name, spec.GetStrategy(), spec.GetPatience(), c.strategy, c.patience)
		}
	}
}

// TestProgress: the line of a running search says when nothing works, and
// foretells no end where it may end at any time.
func TestProgress(t *testing.T) {
	spec := &warptunev1.Spec{Kernel: "mine", Arch: "h200", Patience: 100}
	failing := &warptunev1.Sweep{Spec: spec, Workers: 1, Counts: &warptunev1.Counts{Done: 50, Total: 1e9, ByValidity: []int64{0, 0, 2, 48}}}
	if got, want := watchNote(failing), "mine on h200, none runs clean: 2 constraints, 48 compile"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, c := range []struct {
		spec *warptunev1.Spec
		want string
	}{
		{&warptunev1.Spec{}, "50 of 100 configurations, 10/s, about 5s left, note"},
		{&warptunev1.Spec{Patience: 100}, "50 of 100 configurations, 10/s, note"},
		{&warptunev1.Spec{Negligible: 0.01}, "50 of 100 configurations, 10/s, note"},
		{&warptunev1.Spec{BudgetMs: 1000}, "50 of 100 configurations, 10/s, note"},
	} {
		p := &progress{what: "configurations", atMost: endsEarly(c.spec)}
		if got := p.text(50, 100, 5*time.Second, "note"); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

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
