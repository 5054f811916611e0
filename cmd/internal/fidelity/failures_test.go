package fidelity

import (
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/record"
)

// Messages that differ in where an instruction stands and in its operands are one.
func TestFailuresAreCountedByKind(t *testing.T) {
	messages := []string{
		"ptx/a-1.ptx:50:2: kernel k uses mbarrier.init, which the simulator does not model",
		"ptx/a-2.ptx:7:31: kernel k uses mbarrier.init, which the simulator does not model",
		"`add.f32 %f1, %f2, %f3;` at ptx/a-1.ptx:9:1: cannot be",
		"`add.f32 %f9, %f2, %f3;` at ptx/a-3.ptx:8:1: cannot be",
		"`sub.f32 %f9, %f2, %f3;` at ptx/a-3.ptx:8:1: cannot be",
		"", // correct
	}
	records, results := make([]record.Record, len(messages)), make([]evaluate.Result, len(messages))
	for i, m := range messages {
		records[i].Line = i + 1
		results[i].Outcome = tuner.Outcome{Validity: tuner.Compile, Message: m}
	}
	results[5].Outcome.Validity = tuner.Correct
	got := failures(records, results)
	want := []Failure{{"compile", messages[0], 2, 1}, {"compile", messages[2], 2, 3}, {"compile", messages[4], 1, 5}}
	if len(got) != len(want) {
		t.Fatalf("%d kinds: %v", len(got), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
}
