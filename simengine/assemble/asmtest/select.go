package asmtest

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/isel"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/ir"
)

// SelectFor lowers a kernel to machine instructions over virtual registers, after the passes that
// selection depends on. Passes that only improve what it is given are left out.
func SelectFor(t testing.TB, k *ir.Kernel, cc [2]int) *mir.Func {
	t.Helper()
	tg, err := target.For(cc)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hir.New(k, tg)
	if err != nil {
		t.Fatal(err)
	}
	h.Check = true
	for _, pass := range []func(*hir.Func) error{opt.PropagateCopies, opt.Legalise, opt.NumberValues, opt.SinkCopies, opt.Vectorise, (*hir.Func).FindUniform, opt.IfConvert} {
		if err := pass(h); err != nil {
			t.Fatal(err)
		}
	}
	m, err := isel.Select(h, &isel.Scratch{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.FindLiveness(); err != nil {
		t.Fatal(err)
	}
	return m
}
