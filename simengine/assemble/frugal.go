package assemble

// frugal puts every block without products of matrices (see loadFirst) into the order that
// needs the fewest registers of three: the program's own, results computed just before what reads them, and,
// where those two cost occupancy, values used up by all that read them before the next.
func (f *fn) frugal() error {
	s := f.newScratch()
	f.loadFirst(s)
	f.reorder(s, 0, func(_ int, g *dag, _ []uint8) []int32 { return demandOrder(g) })
	f.reorder(s, f.t.steps[0]-f.t.reserved-1, func(_ int, g *dag, counted []uint8) []int32 { return closingOrder(g, counted) })
	f.peak = f.pressure()
	return nil
}

// reorder puts every block that needs more than some registers, half of them for
// what comes and goes inside it, into an order if it needs fewer than the block's own.
func (f *fn) reorder(s *scratch, above int, by orderBy) {
	for _, b := range f.order {
		mb := &f.mblocks[b]
		if len(mb.insts) < 3 || multiplies(mb.insts) {
			continue
		}
		if order := f.cheaper(b, s, above, by); order != nil {
			mb.insts = arrange(mb.insts, order)
			f.own = &ordering{} // what was known is of another order
		}
	}
}

// orderBy orders the instructions of a block for few registers; counted is by value the words
// that take one.
type orderBy func(b int, g *dag, counted []uint8) []int32

// cheaper returns an order of a block if it needs fewer registers than the block's own,
// else nil.
func (f *fn) cheaper(b int, s *scratch, above int, by orderBy) []int32 {
	insts := f.mblocks[b].insts
	g, bounds := &s.dag, f.boundsOf(b, s)
	g.ops = g.ops.fill(insts)
	out, least := bounds.out, max(bounds.in, bounds.out)
	constants := f.crowdedConstants(b)
	counted := constants.among(s.general)
	own := f.orderPressure(b, &g.ops, nil, out, counted, s)
	if own <= max(above, least) || above > 0 && own-least <= above/2 {
		return nil // no order makes do without what is live at the bounds
	}
	f.findEdges(insts, s, false, g)
	order := by(b, g, counted)
	if f.orderPressure(b, &g.ops, order, out, counted, s) >= own || !f.holds(constants, b, g, order, s) {
		return nil
	}
	return order
}

// demandOrder orders a block by demand: each instruction whose results the
// block itself does not read follows, in program order, what it depends on,
// longest chain first (Sethi and Ullman's order for trees).
func demandOrder(g *dag) []int32 {
	d := newDemand(g)
	for i := range g.insts {
		if !hasReader(g, int32(i)) {
			d.visit(int32(i))
		}
	}
	return d.rest()
}

// demand is an order in the making.
type demand struct {
	preds []int32
	end   []int32 // of each instruction's part of preds
	depth []int32 // instructions in the longest chain that leads to one
	done  []bool
	out   []int32
	stack []int32
}

func newDemand(g *dag) *demand {
	n := len(g.insts)
	d := &demand{preds: make([]int32, len(g.edges)), end: make([]int32, n+1), depth: make([]int32, n), done: make([]bool, n), out: make([]int32, 0, n)}
	for _, e := range g.edges {
		d.end[e.to]++
	}
	for i, sum := 0, int32(0); i <= n; i++ {
		sum, d.end[i] = sum+d.end[i], sum
	}
	for i := range n {
		for k := g.head[i]; k >= 0; k = g.edges[k].next {
			to := g.edges[k].to
			d.preds[d.end[to]] = int32(i)
			d.end[to]++
			d.depth[to] = max(d.depth[to], d.depth[i]+1)
		}
	}
	return d
}

// predsOf lists what an instruction depends on.
func (d *demand) predsOf(i int32) []int32 {
	if i == 0 {
		return d.preds[:d.end[0]]
	}
	return d.preds[d.end[i-1]:d.end[i]]
}

// visit appends an instruction after all that it depends on.
func (d *demand) visit(root int32) {
	d.stack = append(d.stack[:0], root)
	for len(d.stack) > 0 {
		i := d.stack[len(d.stack)-1]
		next := int32(-1)
		for _, p := range d.predsOf(i) {
			if !d.done[p] && (next < 0 || d.depth[p] > d.depth[next]) {
				next = p
			}
		}
		if next >= 0 {
			d.stack = append(d.stack, next)
			continue
		}
		d.stack = d.stack[:len(d.stack)-1]
		if !d.done[i] {
			d.done[i] = true
			d.out = append(d.out, i)
		}
	}
}

// rest appends what is left in program order and returns the order.
func (d *demand) rest() []int32 {
	for i := range d.done {
		d.visit(int32(i))
	}
	return d.out
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
