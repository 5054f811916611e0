package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// rootOrder returns the instructions of block b in Sethi-Ullman order of some roots. In PTX for one architecture it is
// the order that uses up what loads bring, if that needs fewer registers.
//
// Evidence, ptxas corpus (w4a16_gemm_kernel of h100-2026-11-27-triton-wgmma-c, where 16 tiles of weights are loaded from
// shared memory, converted and stored there again): 9 of 16 register counts are within 10 % so and
// with addresses in uniform registers, and 3 without. ptxas has two or three of the loads under way.
func rootOrder(f *mir.Func, b int, g *dag, s *Scratch, isRoot func(i int32) bool) []int32 {
	d := newSethiUllman(g)
	late := false
	for i := range int32(len(g.insts)) {
		if isRoot(i) {
			late = late || f.Target.Specific && hasLateLoad(g, d, i)
			d.visit(i)
		}
	}
	plain := d.rest()
	if !late {
		return plain
	}
	u := usedUp{sethiUllman: newSethiUllman(g), f: f, b: b, g: g, s: s}
	for i := range int32(len(g.insts)) {
		if isRoot(i) {
			u.visit(i)
		}
	}
	order := u.rest()
	out := boundsOf(f, b, s).out
	if orderPressure(f, b, &g.ops, order, out, s.general, s) < orderPressure(f, b, &g.ops, plain, out, s.general, s) {
		return order
	}
	return plain
}

// hasLateLoad reports whether an access to memory follows a load that is not in the order yet and whose result it does
// not read.
func hasLateLoad(g *dag, d *sethiUllman, i int32) bool {
	return g.insts[i].IsMem() && slices.ContainsFunc(d.predsOf(i), func(p int32) bool { return !d.done[p] && g.insts[p].Op.Class() == mir.Load && !feeds(g, p, i) })
}

// usedUp is a Sethi-Ullman order in which the results of loads are used up before the next load, where loads only have
// to come before a store:
//
//	Sethi-Ullman order       used up
//	LDS R0                   LDS R0
//	LDS R4                   I2F R0, R0
//	I2F R0, R0               LDS R4
//	STS R0                   STS R0
type usedUp struct {
	*sethiUllman
	f      *mir.Func
	b      int
	g      *dag
	s      *Scratch
	words  *wordUses // nil: not computed yet
	remain []int32   // by word: reads to come after the first noted instructions of the order
	noted  int
}

// visit appends a root after all that it depends on.
func (d *usedUp) visit(i int32) {
	if hasLateLoad(d.g, d.sethiUllman, i) {
		for _, p := range d.predsOf(i) {
			if !d.done[p] && d.g.insts[p].Op.Class() == mir.Load && !feeds(d.g, p, i) {
				d.sethiUllman.visit(p)
				d.useUp(p)
			}
		}
	}
	d.sethiUllman.visit(i)
}

// feeds reports whether instruction i reads a result of instruction p.
func feeds(g *dag, p, i int32) bool {
	for _, r := range g.ops.Reads(i) {
		for _, w := range g.ops.Writes(p) {
			if r.Value == w.Value && r.Mask&w.Mask != 0 {
				return true
			}
		}
	}
	return false
}

// useUp appends what can be computed from instruction i without taking more registers.
func (d *usedUp) useUp(i int32) {
	var next []int32
	for k := d.g.head[i]; k >= 0; k = d.g.edges[k].next {
		next = append(next, d.g.edges[k].to)
	}
	slices.Sort(next)
	for _, t := range next {
		if in := &d.g.insts[t]; !d.done[t] && !in.IsMem() && !IsMMA(in.Op) && hasReader(d.g, t) && d.isReady(t) && d.growth(t) <= 0 {
			d.sethiUllman.visit(t)
			d.useUp(t)
		}
	}
}

// isReady reports whether all that instruction i depends on is there.
func (d *usedUp) isReady(i int32) bool {
	return !slices.ContainsFunc(d.predsOf(i), func(p int32) bool { return !d.done[p] })
}

// growth is the registers that instruction i would take now, less those that it would free.
func (d *usedUp) growth(i int32) (n int) {
	if d.words == nil {
		d.words = findWordUses(d.f, d.b, d.g, d.s)
		d.remain = d.words.start.remain
	}
	w := d.words
	for ; d.noted < len(d.out); d.noted++ {
		for _, k := range part(w.reads, w.readEnd, d.out[d.noted]) {
			d.remain[k]--
		}
	}
	for _, k := range part(w.writes, w.writeEnd, i) {
		if d.remain[k] > 0 {
			n++
		}
	}
	for _, k := range part(w.reads, w.readEnd, i) {
		if d.remain[k] == 1 {
			n--
		}
	}
	return n
}
