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

// Selections and comparisons take predicates as operands, what is guarded by one and copies do not.
func TestSelectsBy(t *testing.T) {
	for _, c := range []struct {
		in   assemble.Instr
		want bool
	}{
		{assemble.Instr{Class: assemble.ALU}, true},
		{assemble.Instr{Class: assemble.ALU, Guarded: true}, false},
		{assemble.Instr{Class: assemble.AsyncCopy}, false},
		{assemble.Instr{Class: assemble.Branch}, false},
		{assemble.Instr{Class: assemble.Vote}, false},
	} {
		if got := SelectsBy(&c.in); got != c.want {
			t.Errorf("%s, guarded %v: %v, want %v", c.in.Class, c.in.Guarded, got, c.want)
		}
	}
}
