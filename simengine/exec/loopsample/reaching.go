package loopsample

import "github.com/warptune/warptune/simengine/ir"

// point is a place in an iteration: before instruction pc of a block, or after its last one if pc is
// the block's end.
type point struct{ block, pc int }

// placeOf is the point before an instruction.
func (a *analysis) placeOf(pc int) point { return point{a.k.BlockOf(pc), pc} }

// reachingDef returns the definition of r in the loop that is the last one on every path of an iteration to a
// place, or -1 if there is no single one. The result fromHeader is set if no definition is on any path: r still has
// the value it had at the header.
func (a *analysis) reachingDef(r ir.Reg, at point) (pc int, fromHeader bool) {
	var reach []int
	for _, d := range a.defs[r] {
		if a.leadsTo(d, at) {
			reach = append(reach, d)
		}
	}
	if len(reach) == 0 {
		return -1, true
	}
	for _, d := range reach {
		last := a.once(d) && a.passes(d, at)
		for _, e := range reach {
			last = last && (e == d || !a.leadsTo(d, a.placeOf(e)))
		}
		if last {
			return d, false
		}
	}
	return -1, false
}

// passes reports whether every path of an iteration to a place executes instruction d.
func (a *analysis) passes(d int, at point) bool {
	if b := a.k.BlockOf(d); b != at.block {
		return a.dom.dominates(b, at.block)
	}
	return d < at.pc
}

// leadsTo reports whether an iteration may execute instruction d and later come to a place.
func (a *analysis) leadsTo(d int, at point) bool {
	from := a.k.BlockOf(d)
	if from == at.block && d < at.pc {
		return true
	}
	seen := make([]bool, len(a.k.Blocks))
	for work := []int{from}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range a.k.Blocks[b].Succs {
			if s == at.block && s != a.l.Head {
				return true
			}
			if s != a.l.Head && a.l.Members[s] && !seen[s] {
				seen[s] = true
				work = append(work, s)
			}
		}
	}
	return false
}
