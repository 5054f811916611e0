package cost

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
)

// A comparison's result is a predicate; a sum with its carry is a number that is there as soon as others.
func TestWritesPredicate(t *testing.T) {
	general, predicate := assemble.RegSpan{First: 3, Count: 1}, assemble.RegSpan{First: assemble.PredBase + 1, Count: 1}
	for _, c := range []struct {
		name string
		dst  []assemble.RegSpan
		want bool
	}{
		{"nothing", nil, false},
		{"a comparison", []assemble.RegSpan{predicate}, true},
		{"two predicates", []assemble.RegSpan{predicate, predicate}, true},
		{"a sum", []assemble.RegSpan{general}, false},
		{"a sum with its carry", []assemble.RegSpan{general, predicate}, false},
	} {
		in := assemble.Instr{}
		copy(in.Dst[:], c.dst)
		if got := WritesPredicate(&in); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
