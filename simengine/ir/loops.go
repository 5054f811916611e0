package ir

// loops sets LoopHead and LoopDepth from the natural loops.
func (k *Kernel) loops() {
	body := k.loopBodies()
	// The innermost loop of a block is the smallest that holds it.
	for h := range body {
		for _, b := range body[h] {
			blk := &k.Blocks[b]
			blk.LoopDepth++
			if blk.LoopHead < 0 || len(body[h]) < len(body[blk.LoopHead]) {
				blk.LoopHead = h
			}
		}
	}
}

// loopBodies returns the blocks of the natural loop that each block heads, nil for a block that
// heads none (A. Aho et al., Compilers, 2nd ed., 9.6.6). A back edge goes to a block that dominates
// its source. Its loop is every block that reaches that source without passing the header. Loops
// with one header are one loop.
func (k *Kernel) loopBodies() [][]int {
	idom := k.Dominators()
	depth := make([]int, len(k.Blocks)) // of each block in the dominator tree
	for i := range k.Blocks {
		for d := i; idom[d] >= 0; d = idom[d] {
			depth[i]++
		}
	}
	dominates := func(a, b int) bool {
		for depth[b] > depth[a] {
			b = idom[b]
		}
		return a == b
	}
	body := make([][]int, len(k.Blocks))
	for h := range k.Blocks {
		var tails []int
		for _, p := range k.Blocks[h].Preds {
			if (p == 0 || idom[p] >= 0) && dominates(h, p) {
				tails = append(tails, p)
			}
		}
		if len(tails) > 0 {
			body[h] = k.loopBody(h, tails)
		}
	}
	return body
}

// loopBody lists the blocks of the loop with this header and back edge tails,
// the header included.
func (k *Kernel) loopBody(h int, tails []int) []int {
	in := make([]bool, len(k.Blocks))
	in[h] = true
	body := []int{h}
	for len(tails) > 0 {
		b := tails[len(tails)-1]
		tails = tails[:len(tails)-1]
		if in[b] {
			continue
		}
		in[b] = true
		body = append(body, b)
		tails = append(tails, k.Blocks[b].Preds...)
	}
	return body
}
