package simengine

import (
	"testing"

	"github.com/warptune/warptune/simengine/arch"
)

// A question without a rule of the assembler model is another question, so that its answer is not
// kept for the model's own.
func TestWithoutARuleIsAnotherQuestion(t *testing.T) {
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string][]string{}
	for _, without := range [][]string{nil, {"look-ahead"}, {"pipe-balance"}, {"look-ahead", "pipe-balance"}} {
		r := Request{Arch: d, Level: Model, Without: without}
		digest := r.Digest("module")
		if other, ok := seen[digest]; ok {
			t.Errorf("without %v is the same question as without %v", without, other)
		}
		seen[digest] = without
	}
}
