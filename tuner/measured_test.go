package tuner

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
)

// measuredSpec is what is measured of a kernel.
func measuredSpec() Spec {
	return Spec{Kernel: "k", Bundle: "b", Arch: "a", Strategy: "exhaustive", Level: LevelMeasured, ArchDigest: "d", Engine: MeasuringEngine + "1"}
}

// Leases of sweeps that are measured go to workers that measure, on that architecture, with the labels
// that are asked for; all others to workers that simulate.
func TestMeasuringWorkers(t *testing.T) {
	simulated := measuredSpec()
	simulated.Level, simulated.Engine = "cycle", "1-abc"
	on := measuredSpec()
	on.On = map[string]string{"gpu": "G", "rack": "3"}
	worker := func(engine string, labels map[string]string) *Worker {
		return &Worker{ID: "w", Engine: engine, Archs: map[string]string{"a": "d"}, Labels: labels}
	}
	measuring := MeasuringEngine + "1"
	for name, c := range map[string]struct {
		w    *Worker
		spec Spec
		want bool
	}{
		"measures, measured":         {worker(measuring, nil), measuredSpec(), true},
		"measures, simulated":        {worker(measuring, nil), simulated, false},
		"simulates, measured":        {worker("1-abc", nil), measuredSpec(), false},
		"simulates, simulated":       {worker("1-abc", nil), simulated, true},
		"has the labels":             {worker(measuring, map[string]string{"gpu": "G", "rack": "3", "host": "h"}), on, true},
		"lacks one":                  {worker(measuring, map[string]string{"gpu": "G"}), on, false},
		"has another":                {worker(measuring, map[string]string{"gpu": "G", "rack": "4"}), on, false},
		"is of another architecture": {&Worker{ID: "w", Engine: measuring, Archs: map[string]string{"z": "d"}}, measuredSpec(), false},
	} {
		if ok, err := c.w.suits(&c.spec); ok != c.want || err != nil {
			t.Errorf("%s: suits %t (%v), want %t", name, ok, err, c.want)
		}
	}
	newer := measuredSpec()
	newer.Engine = MeasuringEngine + "2"
	if ok, err := worker(measuring, nil).suits(&newer); ok || KindOf(err) != Mismatch {
		t.Errorf("a worker that measures otherwise suits: %t, %v", ok, err)
	}
}

// What is measured is in a scope of its own, and of each set of labels in another.
func TestMeasuredIsNeverMixed(t *testing.T) {
	predicted, measured := measuredSpec(), measuredSpec()
	predicted.Level, predicted.Engine = "cycle", "1-abc"
	on := measuredSpec()
	on.On = map[string]string{"gpu": "G"}
	if a, b, c := predicted.Scope(), measured.Scope(), on.Scope(); a == b || b == c {
		t.Errorf("scopes are %s, %s and %s", a, b, c)
	}
	for _, mixed := range []Spec{{Level: LevelMeasured, Engine: "1-abc"}, {Level: "cycle", Engine: MeasuringEngine + "1"}} {
		s := measuredSpec()
		s.Level, s.Engine = mixed.Level, mixed.Engine
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "does not go with engine") {
			t.Errorf("level %s of engine %s: %v", s.Level, s.Engine, err)
		}
	}
	a, b := Outcome{Validity: Correct, TimeUS: 1, Device: "G"}, Outcome{Validity: Correct, TimeUS: 2, Device: "G"}
	if a.mustEqual(&b) {
		t.Error("two measurements must be equal")
	}
}

// What is measured answers before what is predicted, whichever is newer; but not what was listed
// and not searched for.
func TestMeasuredStandsFirst(t *testing.T) {
	best := func(sweep uint64, level string, us float64) Best {
		s := measuredSpec()
		s.Level = level
		return Best{Sweep: sweep, Spec: s, Result: Result{Outcome: Outcome{Validity: Correct, TimeUS: us}}}
	}
	all := []Best{best(1, LevelMeasured, 12), best(2, "cycle", 10), best(3, "model", 9)}
	if b := Stands(all); b.Sweep != 1 {
		t.Errorf("level %s stands, want what is measured", b.Spec.Level)
	}
	if b := Stands(all[1:]); b.Sweep != 2 {
		t.Errorf("level %s stands of predictions, want cycle", b.Spec.Level)
	}
	s := Sweep{Spec: measuredSpec(), Best: &Result{}, BestValues: []search.Value{}}
	if _, ok := BestOf(&s); !ok {
		t.Error("a sweep that searched has no best")
	}
	s.Spec.Strategy = StrategyListed
	if _, ok := BestOf(&s); ok {
		t.Error("a sweep of what was listed has a best")
	}
	s.Spec.Start, s.Spec.Budget = []string{"X=1"}, 2
	if err := s.Spec.Validate(); err == nil || !strings.Contains(err.Error(), StrategyListed) {
		t.Errorf("a list of one and a budget of two: %v", err)
	}
}
