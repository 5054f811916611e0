package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// selectFor lowers a kernel to machine instructions over virtual registers, after the
// passes that selection depends on and without those that only improve what it is given.
func selectFor(t testing.TB, k *ir.Kernel, cc [2]int) *mfn {
	t.Helper()
	tg, err := targetFor(cc)
	if err != nil {
		t.Fatal(err)
	}
	h, err := newFunc(k, tg)
	if err != nil {
		t.Fatal(err)
	}
	h.check = true
	for _, pass := range []func(*hfn) error{(*hfn).propagateCopies, (*hfn).legalise, (*hfn).numberValues, (*hfn).sinkCopies, (*hfn).vectorise, (*hfn).findUniform, (*hfn).ifConvert} {
		if err := pass(h); err != nil {
			t.Fatal(err)
		}
	}
	m, err := h.selectInstructions(&selectScratch{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.findLiveness(); err != nil {
		t.Fatal(err)
	}
	return m
}
