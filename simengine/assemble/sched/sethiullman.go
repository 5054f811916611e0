package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// The Sethi-Ullman order, for graphs (Sethi and Ullman, "The Generation of Optimal Code for
// Arithmetic Expressions", JACM 1970; optimal for trees).
//
// Each instruction whose result the block itself does not read, in program order, is preceded by
// what it depends on, the longest chain first. A value is thus computed right before its first
// reader.

// sethiUllmanOrder returns the instructions of a block in Sethi-Ullman order.
func sethiUllmanOrder(f *mir.Func, b int, g *dag, s *Scratch) []int32 {
	return rootOrder(f, b, g, s, func(i int32) bool { return !hasReader(g, i) })
}

// sethiUllman is an order in the making, with the predecessors of every instruction.
type sethiUllman struct {
	preds []int32
	end   []int32 // end of each instruction's part of preds
	depth []int32 // by instruction: instructions on the longest chain that leads to it
	done  []bool
	out   []int32
	stack []int32
}

func newSethiUllman(g *dag) *sethiUllman {
	n := len(g.insts)
	d := &sethiUllman{preds: make([]int32, len(g.edges)), end: make([]int32, n+1), depth: make([]int32, n), done: make([]bool, n), out: make([]int32, 0, n)}
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

// predsOf lists the predecessors of instruction i.
func (d *sethiUllman) predsOf(i int32) []int32 {
	if i == 0 {
		return d.preds[:d.end[0]]
	}
	return d.preds[d.end[i-1]:d.end[i]]
}

// visit appends an instruction after all that it depends on.
func (d *sethiUllman) visit(root int32) {
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
func (d *sethiUllman) rest() []int32 {
	for i := range d.done {
		d.visit(int32(i))
	}
	return d.out
}

// hasReader reports whether an instruction of the block reads a result of instruction i.
func hasReader(g *dag, i int32) bool {
	if g.insts[i].Dst[0].Kind != mir.ArgValue {
		return false
	}
	for k := g.head[i]; k >= 0; k = g.edges[k].next {
		for _, u := range g.ops.Reads(g.edges[k].to) {
			for _, d := range g.ops.Writes(i) {
				if u.Value == d.Value {
					return true
				}
			}
		}
	}
	return false
}
