package ptxtest

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/irtest"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
)

// Header begins every module of Kernel.
const Header = ".version 8.5\n.target sm_90\n.address_size 64\n"

// Module parses and builds a module. It must be valid, and so must each of its kernels.
func Module(t testing.TB, name, text string) *ir.Module {
	t.Helper()
	m, err := ptx.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := lower.Build(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range out.Kernels {
		if err := irtest.Verify(k); err != nil {
			t.Errorf("%v\n%s", err, k)
		}
	}
	return out
}

// Kernel builds a module of one kernel k with these parameters and this body.
func Kernel(t testing.TB, params, body string) *ir.Kernel {
	t.Helper()
	m := Module(t, "test.ptx", Header+".visible .entry k("+params+")\n{\n"+body+"\n}\n")
	k, err := m.Kernel("")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Golden compares two listings, but for white space around them.
func Golden(t testing.TB, got, want string) {
	t.Helper()
	if got, want := strings.TrimSpace(got), strings.TrimSpace(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
