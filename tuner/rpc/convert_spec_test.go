package rpc

import (
	"reflect"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
)

// TestSpecRoundTrip: nothing of a spec is lost on the wire.
func TestSpecRoundTrip(t *testing.T) {
	within := 0.02
	spec := tuner.Spec{
		Kernel: "k", Bundle: "b", Arch: "a", Problem: []int64{3}, Set: map[string][]string{"X": {"1", "2"}}, Strategy: "s", Budget: 5,
		TimeBudget: time.Minute, Within: &within, Patience: 7, Negligible: 0.5, Seed: 9, Level: "model,cycle", Compiler: "nvcc",
		Start: []string{"X=1"}, Transfer: true, Check: "all", Faults: "warn", ArchDigest: "d", Engine: "e", Descriptor: "f", Predictions: "p", On: map[string]string{"gpu": "G"},
	}
	for i := range reflect.TypeFor[tuner.Spec]().NumField() {
		if reflect.ValueOf(spec).Field(i).IsZero() {
			t.Errorf("%s is not tested", reflect.TypeFor[tuner.Spec]().Field(i).Name)
		}
	}
	if got := ToSpec(FromSpec(&spec)); !reflect.DeepEqual(got, spec) {
		t.Errorf("%+v comes back as %+v", spec, got)
	}
}
