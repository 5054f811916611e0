package sweep

import (
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// The line of a running search says when nothing works, and foretells no end where it
// may end at any time.
func TestWatchNote(t *testing.T) {
	spec := &warptunev1.Spec{Kernel: "mine", Arch: "h200", Patience: 100}
	failing := &warptunev1.Sweep{Spec: spec, Workers: 1, Counts: &warptunev1.Counts{Done: 50, Total: 1e9, ByValidity: []int64{0, 0, 2, 48}}}
	if got, want := watchNote(failing), "mine on h200, none runs clean: 2 constraints, 48 compile"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, s := range []*warptunev1.Spec{{Patience: 100}, {Negligible: 0.01}, {BudgetMs: 1000}} {
		if !endsEarly(s) {
			t.Errorf("%v is said to end when all is evaluated", s)
		}
	}
	if endsEarly(&warptunev1.Spec{}) {
		t.Error("a sweep of all configurations is said to end earlier")
	}
}
