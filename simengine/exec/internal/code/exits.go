package code

import (
	"github.com/warptune/warptune/simengine/ir"
)

// exitBlocks reports of each block whether a lane that comes there has nothing left to do but exit:
// nothing on any path to the exit has an effect.
func exitBlocks(k *ir.Kernel) []bool {
	exits := make([]bool, len(k.Blocks))
	for changed := true; changed; {
		changed = false
		for b := range k.Blocks {
			if !exits[b] && onlyExits(k, b, exits) {
				exits[b], changed = true, true
			}
		}
	}
	return exits
}

// onlyExits reports whether a block has no effect and all blocks after it are among exits.
func onlyExits(k *ir.Kernel, b int, exits []bool) bool {
	blk := &k.Blocks[b]
	for pc := blk.Start; pc < blk.End; pc++ {
		if hasEffect(&k.Instrs[pc]) {
			return false
		}
	}
	if len(blk.Succs) == 0 {
		return k.Instrs[blk.End-1].Op == ir.Exit
	}
	for _, s := range blk.Succs {
		if !exits[s] {
			return false
		}
	}
	return true
}

// hasEffect reports whether an instruction does more than compute registers and branch.
func hasEffect(in *ir.Instr) bool {
	switch in.Op {
	case ir.Bra, ir.Brx, ir.Exit:
		return false
	case ir.Membar, ir.CpAsyncCommit, ir.CpAsyncWait, ir.Prefetch, ir.Nanosleep,
		ir.WgmmaFence, ir.WgmmaCommit, ir.WgmmaWait, ir.FenceProxy, ir.Setmaxnreg, ir.TensormapSet, ir.TensormapCopy:
		return true
	case ir.Ld:
		return in.Space != ir.ParamSpace
	}
	return in.Op.AlwaysExecutes() || in.Together()
}

// leavesYielding reports whether a block ends in a branch out of a loop whose lanes yield.
func (c *compiler) leavesYielding(b int) bool {
	for i := range c.p.Loops {
		l := &c.p.Loops[i]
		if !c.yields[l.Head] || !l.Members[b] {
			continue
		}
		stays := 0
		for _, s := range c.k.Blocks[b].Succs {
			if l.Members[s] {
				stays++
			}
		}
		if stays == 1 && len(c.k.Blocks[b].Succs) == 2 {
			return true
		}
	}
	return false
}
