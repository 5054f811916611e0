// Package converge adds convergence barriers and yields to machine instructions.
package converge

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Convergence barriers: BSSY before a divergent branch and BSYNC where its lanes meet again, from
// Volta on.

// InsertYields makes lanes yield at the head of loops that they leave by what other lanes write.
func InsertYields(f *hir.Func, m *mir.Func) error {
	if !f.Target.Convergence {
		return nil
	}
	for b, yields := range f.Yields {
		if !yields {
			continue
		}
		for f.Blocks[b].Merged >= 0 {
			b = f.Blocks[b].Merged
		}
		m.Blocks[b].Insts = slices.Insert(m.Blocks[b].Insts, 0, mir.NewControl(mir.OpYIELD))
	}
	return nil
}

// InsertBarriers puts a BSSY before the outermost divergent branch of each region and a BSYNC at
// its post-dominator. For the branch of a loop the BSSY stands before the loop.
func InsertBarriers(f *hir.Func, m *mir.Func) error {
	if !f.Target.Convergence {
		return nil
	}
	opened := make(map[int]bool)
	for _, b := range f.Order {
		hb := &f.Blocks[b]
		join := hb.IPDom
		if !hb.Divergent || len(hb.Succs) < 2 || join < 0 || exitsOnBranch(f, b) {
			continue
		}
		for f.Blocks[join].Merged >= 0 {
			join = f.Blocks[join].Merged
		}
		if opened[join] || join == b || f.IsExit(join) {
			continue
		}
		opened[join] = true
		at := b
		// For the branch of a loop BSSY stands before the loop.
		for f.Blocks[at].LoopDepth > f.Blocks[join].LoopDepth && f.Blocks[at].IDom != at && f.Blocks[at].IDom >= 0 {
			at = f.Blocks[at].IDom
		}
		insertBeforeBranch(m, at, mir.OpBSSY)
		mb := &m.Blocks[join]
		mb.Insts = slices.Insert(mb.Insts, 0, mir.NewControl(mir.OpBSYNC))
	}
	return nil
}

// exitsOnBranch reports whether a block's branch is emitted as an exit.
func exitsOnBranch(f *hir.Func, b int) bool {
	s := f.Blocks[b].Succs
	return f.IsExit(s[len(s)-1])
}

// insertBeforeBranch adds an instruction before the branch of block b.
func insertBeforeBranch(f *mir.Func, b int, op mir.Op) {
	mb := &f.Blocks[b]
	at := len(mb.Insts)
	for at > 0 && (mb.Insts[at-1].Op == mir.OpBRA || mb.Insts[at-1].Op == mir.OpEXIT) {
		at--
	}
	mb.Insts = slices.Insert(mb.Insts, at, mir.NewControl(op))
}
