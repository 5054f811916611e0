package tuner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

func share(v float64) *float64 { return &v }

// changes are what a spec may ask for beside a kernel and an architecture.
var changes = map[string]func(*tuner.Spec){
	"two levels":       func(s *tuner.Spec) { s.Level = "model,cycle" },
	"time":             func(s *tuner.Spec) { s.TimeBudget = time.Minute },
	"more time":        func(s *tuner.Spec) { s.TimeBudget = time.Hour },
	"proof":            func(s *tuner.Spec) { s.Level, s.Within = "model,cycle", share(0) },
	"proof within 2 %": func(s *tuner.Spec) { s.Level, s.Within = "model,cycle", share(0.02) },
	"start":            func(s *tuner.Spec) { s.Start = []string{"HIGH=0,LOW=1"} },
	"another start":    func(s *tuner.Spec) { s.Start = []string{"HIGH=0,LOW=2"} },
	"transfer":         func(s *tuner.Spec) { s.Transfer = true },
}

// Sweeps that differ in what they are to do are different sweeps, but all of
// them at one last level may answer for each other.
func TestWhatMakesASweepAnother(t *testing.T) {
	plain := tunertest.Bundle{Size: 10}.Spec("k")
	ids := map[string]string{plain.ID("key"): "plain"}
	for name, change := range changes {
		s := plain.Clone()
		change(&s)
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if other, ok := ids[s.ID("key")]; ok {
			t.Errorf("%s and %s are one sweep", name, other)
		}
		ids[s.ID("key")] = name
		if s.Scope() != plain.Scope() || s.LastLevel() != "cycle" {
			t.Errorf("%s: outcomes do not answer those of the plain sweep", name)
		}
		if c := s.Clone(); c.ID("key") != s.ID("key") {
			t.Errorf("%s: a copy is another sweep", name)
		}
	}
	model := plain.Clone()
	model.Level = "model"
	both := plain.Clone()
	both.Level = "model,cycle"
	if got := both.Scopes(); len(got) != 2 || got[0] != model.Scope() || got[1] != plain.Scope() {
		t.Error("the levels of one sweep do not answer those of others")
	}
}

func TestSpecsThatMakeNoSense(t *testing.T) {
	for want, change := range map[string]func(*tuner.Spec){
		"two different ones":     func(s *tuner.Spec) { s.Level = "cycle,cycle" },
		"name fewer":             func(s *tuner.Spec) { s.Start = []string{"A=" + strings.Repeat("1", 65536)} },
		`"model,cycle,exact"`:    func(s *tuner.Spec) { s.Level = "model,cycle,exact" },
		`"model,"`:               func(s *tuner.Spec) { s.Level = "model," },
		"time budget -1s":        func(s *tuner.Spec) { s.TimeBudget = -time.Second },
		"proof needs two levels": func(s *tuner.Spec) { s.Within = share(0.1) },
		"within -0.1":            func(s *tuner.Spec) { s.Level, s.Within = "model,cycle", share(-0.1) },
		`"HIGH" is no config`:    func(s *tuner.Spec) { s.Start = []string{"HIGH"} },
		"more than 1024":         func(s *tuner.Spec) { s.Start = make([]string, 1025) },
	} {
		s := tunertest.Bundle{Size: 10}.Spec("k")
		change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}
