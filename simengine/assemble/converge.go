package assemble

import "slices"

// yield has lanes yield at the heads of loops that they may leave by what others write.
func (f *fn) yield() error {
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
		f.mblocks[b].insts = slices.Insert(f.mblocks[b].insts, 0, control(opYIELD))
	}
	return nil
}

// bracketDivergence puts a BSSY before the outermost divergent branch of each
// region that lanes leave at different times, and a BSYNC where they meet.
func (f *fn) bracketDivergence() error {
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
		f.insertBeforeBranch(at, opBSSY)
		mb := &f.mblocks[join]
		mb.insts = slices.Insert(mb.insts, 0, control(opBSYNC))
	}
	return nil
}

// exitsOnBranch says whether a block's branch is emitted as an exit.
func (f *fn) exitsOnBranch(b int) bool {
	s := f.blocks[b].succs
	return f.exitBlock(s[len(s)-1])
}

// control is an instruction without operands that the assembler adds.
func control(op mop) inst {
	return inst{op: op, pc: -1, carried: -1, guard: noValue, spill: -1, memVar: -1, memVal: noValue}
}

// insertBeforeBranch adds an instruction before a block's branch.
func (f *fn) insertBeforeBranch(b int, op mop) {
	mb := &f.mblocks[b]
	at := len(mb.insts)
	for at > 0 && (mb.insts[at-1].op == opBRA || mb.insts[at-1].op == opEXIT) {
		at--
	}
	mb.insts = slices.Insert(mb.insts, at, control(op))
}
