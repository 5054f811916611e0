package tuner_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
)

// full is a spec with something in every field.
func full() tuner.Spec {
	within := 0.02
	return tuner.Spec{
		Kernel: "k", Bundle: "b", Arch: "a", Problem: []int64{3}, Set: map[string][]string{"X": {"1"}}, Strategy: "s", Budget: 5,
		TimeBudget: time.Minute, Within: &within, Patience: 7, Negligible: 0.5, Seed: 9, Level: "model,cycle", Compiler: "nvcc",
		Start: []string{"X=1"}, Transfer: true, Check: "all", On: map[string]string{"gpu": "G"}, Faults: "warn", ArchDigest: "d", Engine: "e", Descriptor: "f", Predictions: "p",
	}
}

// TestSpecID: whatever is left out of a spec, its sweep is another.
func TestSpecID(t *testing.T) {
	spec := full()
	if err := spec.Validate(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{spec.ID("key"): "nothing left out"}
	for i := range reflect.TypeFor[tuner.Spec]().NumField() {
		less := full()
		field := reflect.ValueOf(&less).Elem().Field(i)
		if field.IsZero() {
			t.Fatalf("%s is empty in the full spec", reflect.TypeFor[tuner.Spec]().Field(i).Name)
		}
		field.SetZero()
		if name := "without " + reflect.TypeFor[tuner.Spec]().Field(i).Name; seen[less.ID("key")] != "" {
			t.Errorf("%s is %s", name, seen[less.ID("key")])
		} else {
			seen[less.ID("key")] = name
		}
	}
}

// TestSpecRules: rules that make no sense are refused.
func TestSpecRules(t *testing.T) {
	for _, change := range []func(*tuner.Spec){
		func(s *tuner.Spec) { s.Patience = -1 },
		func(s *tuner.Spec) { s.Negligible = 1 },
		func(s *tuner.Spec) { s.Negligible = -0.1 },
		func(s *tuner.Spec) { s.Negligible = math.NaN() },
		func(s *tuner.Spec) { s.Check = "most" },
		func(s *tuner.Spec) { s.Faults = "ignore" },
	} {
		spec := full()
		change(&spec)
		if err := spec.Validate(); err == nil {
			t.Errorf("%+v is taken", spec)
		}
	}
}
