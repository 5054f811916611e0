package main

import (
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// A constant fills its variable, and where the kernel has a parameter for it, too, as Kernel
// Tuner's convolution does, a buffer is passed in its place.
func TestPassed(t *testing.T) {
	const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry other(.param .u64 a)
{
	ret;
}
.visible .entry _Z1kPfS_S_(
	.param .u64 .ptr .align 1 out,
	.param .u64 filter,
	.param .u64 in
)
{
	ret;
}
`
	l := &call.Launch{Args: []call.Arg{{Name: "out"}, {Name: "in", Position: 2}}, Constants: []call.Arg{{Name: "filter", Position: 1}}}
	for name, want := range map[string]string{"k": "out filter in ", "other": "out in "} {
		e, err := entryOf([]byte(text), name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "k" && e.name != "_Z1kPfS_S_" {
			t.Errorf("k is %s", e.name)
		}
		got := ""
		for _, a := range passed(l, e.parameters) {
			got += a.Name + " "
		}
		if got != want || len(l.Args) != 2 {
			t.Errorf("%s is called with %s, want %s", name, got, want)
		}
	}
	if _, err := entryOf([]byte(text), "none"); err == nil {
		t.Error("a kernel that is not there is found")
	}
}
