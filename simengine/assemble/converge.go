package assemble

import "slices"

// yield has lanes yield at the heads of loops that they may leave by what others write.
func (f *hfn) yield(m *mfn) error {
	if !f.t.convergence {
		return nil
	}
	for b, yields := range f.yields {
		if !yields {
			continue
		}
		for f.blocks[b].merged >= 0 {
			b = f.blocks[b].merged
		}
		m.blocks[b].insts = slices.Insert(m.blocks[b].insts, 0, control(opYIELD))
	}
	return nil
}

// bracketDivergence puts a BSSY before the outermost divergent branch of each
// region that lanes leave at different times, and a BSYNC where they meet.
func (f *hfn) bracketDivergence(m *mfn) error {
	if !f.t.convergence {
		return nil
	}
	opened := make(map[int]bool)
	for _, b := range f.order {
		hb := &f.blocks[b]
		join := hb.ipdom
		if !hb.div || len(hb.succs) < 2 || join < 0 || f.exitsOnBranch(b) {
			continue
		}
		for f.blocks[join].merged >= 0 {
			join = f.blocks[join].merged
		}
		if opened[join] || join == b || f.exitBlock(join) {
			continue
		}
		opened[join] = true
		at := b
		// A loop's own branch: the bracket opens before the loop.
		for f.blocks[at].depth > f.blocks[join].depth && f.blocks[at].idom != at && f.blocks[at].idom >= 0 {
			at = f.blocks[at].idom
		}
		m.insertBeforeBranch(at, opBSSY)
		mb := &m.blocks[join]
		mb.insts = slices.Insert(mb.insts, 0, control(opBSYNC))
	}
	return nil
}

// exitsOnBranch says whether a block's branch is emitted as an exit.
func (f *hfn) exitsOnBranch(b int) bool {
	s := f.blocks[b].succs
	return f.exitBlock(s[len(s)-1])
}

// insertBeforeBranch adds an instruction before a block's branch.
func (f *mfn) insertBeforeBranch(b int, op mop) {
	mb := &f.blocks[b]
	at := len(mb.insts)
	for at > 0 && (mb.insts[at-1].op == opBRA || mb.insts[at-1].op == opEXIT) {
		at--
	}
	mb.insts = slices.Insert(mb.insts, at, control(op))
}
