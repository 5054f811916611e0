package assemble

// frugal puts every block into the order that needs the fewest registers of
// two: the program's own, and results computed just before what reads them.
func (f *fn) frugal() error {
	s := f.newScratch()
	for _, b := range f.order {
		mb := &f.mblocks[b]
		if len(mb.insts) < 3 {
			continue
		}
		order := demandOrder(mb.insts, f.newDAG(mb.insts, s, false))
		if f.blockPressure(b, s.live, order) < f.blockPressure(b, s.live, mb.insts) {
			mb.insts = order
		}
	}
	return nil
}

// demandOrder orders a block by demand: each instruction whose results the
// block itself does not read follows, in program order, what it depends on,
// longest chain first (Sethi and Ullman's order for trees).
func demandOrder(insts []inst, g *dag) []inst {
	n := len(insts)
	preds := make([][]int32, n)
	depth := make([]int32, n)
	for i := range insts {
		for _, e := range g.succs[i] {
			preds[e.to] = append(preds[e.to], int32(i))
			depth[e.to] = max(depth[e.to], depth[i]+1)
		}
	}
	done := make([]bool, n)
	out := make([]inst, 0, n)
	var stack []int32
	visit := func(root int32) {
		stack = append(stack[:0], root)
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			next := int32(-1)
			for _, p := range preds[i] {
				if !done[p] && (next < 0 || depth[p] > depth[next]) {
					next = p
				}
			}
			if next >= 0 {
				stack = append(stack, next)
				continue
			}
			stack = stack[:len(stack)-1]
			if !done[i] {
				done[i] = true
				out = append(out, insts[i])
			}
		}
	}
	for i := range insts {
		if !hasReader(insts, g, i) {
			visit(int32(i))
		}
	}
	for i := range insts {
		if !done[i] {
			visit(int32(i))
		}
	}
	return out
}

// hasReader says whether a result of an instruction is read in its block.
func hasReader(insts []inst, g *dag, i int) bool {
	if insts[i].dst[0].kind != argValue {
		return false
	}
	for _, e := range g.succs[i] {
		read := false
		insts[e.to].reads(func(v value, _ uint8) {
			read = read || v == insts[i].dst[0].v || insts[i].dst[1].kind == argValue && v == insts[i].dst[1].v
		})
		if read {
			return true
		}
	}
	return false
}
