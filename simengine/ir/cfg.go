package ir

// BuildCFG cuts the instruction list into basic blocks and links them, then computes post-dominators
// and loops. Where lanes yield to each other, an instruction that lanes execute together begins a
// block of its own.
func (k *Kernel) BuildCFG() {
	k.cut(false)
	if k.yield() {
		k.cut(true)
	}
}

// cut is BuildCFG, with blocks that begin at what lanes execute together or not.
func (k *Kernel) cut(together bool) {
	k.Blocks = nil
	starts := make([]bool, len(k.Instrs)+1)
	starts[0] = true
	for i := range k.Instrs {
		in := &k.Instrs[i]
		if in.Op == Bra {
			starts[in.Target] = true
		}
		for _, t := range in.Targets {
			starts[t] = true
		}
		if together && in.Together() {
			starts[i] = true
		}
		if in.EndsBlock() {
			starts[i+1] = true
		}
	}
	blockAt := make([]int, len(k.Instrs)+1)
	for i := range k.Instrs {
		if starts[i] {
			k.Blocks = append(k.Blocks, Block{Start: i, IPDom: -1, LoopHead: -1})
		}
		blockAt[i] = len(k.Blocks) - 1
		k.Blocks[blockAt[i]].End = i + 1
	}
	for i := range k.Blocks {
		k.link(i, blockAt)
	}
	for i := range k.Blocks {
		for _, s := range k.Blocks[i].Succs {
			k.Blocks[s].Preds = append(k.Blocks[s].Preds, i)
		}
	}
	k.postDominators()
	k.loops()
}

// EndsBlock reports an instruction that may change control flow: a branch, an
// exit or a trap.
func (in *Instr) EndsBlock() bool {
	switch in.Op {
	case Bra, Brx, Exit, Trap:
		return true
	}
	return false
}

// link finds the successors of block i.
func (k *Kernel) link(i int, blockAt []int) {
	blk := &k.Blocks[i]
	last := &k.Instrs[blk.End-1]
	add := func(b int) {
		for _, s := range blk.Succs {
			if s == b {
				return
			}
		}
		blk.Succs = append(blk.Succs, b)
	}
	if !Ends(last) {
		add(i + 1)
	}
	if last.Op == Bra {
		add(blockAt[last.Target])
	}
	for _, t := range last.Targets {
		add(blockAt[t])
	}
}

// BlockOf is the index of the block that holds instruction pc.
func (k *Kernel) BlockOf(pc int) int {
	lo, hi := 0, len(k.Blocks)
	for lo < hi {
		if mid := (lo + hi) / 2; k.Blocks[mid].End <= pc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
