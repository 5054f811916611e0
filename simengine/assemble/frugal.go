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
		g := f.newDAG(mb.insts, s, false, &s.dag)
		order := demandOrder(g)
		out := f.boundsOf(b, s).out
		if f.orderPressure(b, &g.ops, order, out, s) < f.orderPressure(b, &g.ops, nil, out, s) {
			mb.insts = arrange(mb.insts, order)
		}
	}
	return nil
}

// demandOrder orders a block by demand: each instruction whose results the
// block itself does not read follows, in program order, what it depends on,
// longest chain first (Sethi and Ullman's order for trees).
func demandOrder(g *dag) []int32 {
	n := len(g.insts)
	end := make([]int32, n+1) // of each instruction's part of preds
	for _, e := range g.edges {
		end[e.to]++
	}
	for i, sum := 0, int32(0); i <= n; i++ {
		sum, end[i] = sum+end[i], sum
	}
	preds := make([]int32, len(g.edges))
	depth := make([]int32, n)
	for i := range n {
		for k := g.head[i]; k >= 0; k = g.edges[k].next {
			to := g.edges[k].to
			preds[end[to]] = int32(i)
			end[to]++
			depth[to] = max(depth[to], depth[i]+1)
		}
	}
	predsOf := func(i int32) []int32 {
		if i == 0 {
			return preds[:end[0]]
		}
		return preds[end[i-1]:end[i]]
	}
	done := make([]bool, n)
	out := make([]int32, 0, n)
	var stack []int32
	visit := func(root int32) {
		stack = append(stack[:0], root)
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			next := int32(-1)
			for _, p := range predsOf(i) {
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
				out = append(out, i)
			}
		}
	}
	for i := range n {
		if !hasReader(g, int32(i)) {
			visit(int32(i))
		}
	}
	for i := range n {
		if !done[i] {
			visit(int32(i))
		}
	}
	return out
}

// hasReader says whether a result of an instruction is read in its block.
func hasReader(g *dag, i int32) bool {
	if g.insts[i].dst[0].kind != argValue {
		return false
	}
	for k := g.head[i]; k >= 0; k = g.edges[k].next {
		for _, u := range g.ops.reads(g.edges[k].to) {
			for _, d := range g.ops.writes(i) {
				if u.v == d.v {
					return true
				}
			}
		}
	}
	return false
}
