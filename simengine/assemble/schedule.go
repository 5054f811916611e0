package assemble

import (
	"math"
	"slices"
)

// scratch is reused by the scheduling of every block.
type scratch struct {
	lastDef    []int32 // by register unit: last writer
	readers    []int32 // by register unit: first of its list in readerPool
	readerPool []reader
	touched    []int32
	live       []uint8
	remain     []int32 // by word of a value: reads still to be scheduled in this block
	general    []uint8 // by value: its words that take general registers
	npreds     []int32
	items      []item
	ready      []item
	banks      [fileUniformPred + 1]bank
	ranges     rangeBuilder
	rev        []inst // see selector
	dag        dag    // of the block being ordered, where none is kept
}

// newScratch returns the function's scratch, grown to what it needs now.
func (f *fn) newScratch() *scratch {
	s, n := f.scratch, len(f.vals)
	if units := 4*n + 5*1024; len(s.lastDef) < units {
		s.lastDef, s.readers = make([]int32, units), make([]int32, units)
		for i := range s.lastDef {
			s.lastDef[i], s.readers[i] = -1, -1
		}
	}
	if cap(s.live) < n {
		s.live, s.remain, s.general = make([]uint8, n+n/8), make([]int32, 4*(n+n/8)), make([]uint8, n+n/8)
	}
	s.live, s.remain, s.general = s.live[:n], s.remain[:4*n], s.general[:n]
	for v := range s.general {
		s.general[v] = f.generalMask(value(v))
	}
	return s
}

// schedule orders the instructions of every block of a layout: the longest
// dependent chain first, as far as the register budget lets it. It says whether
// any order is another than before.
func (f *fn) schedule(budget int, l *layout, dags []*dag, s *scratch) (changed bool) {
	for _, b := range f.order {
		if dags[b] == nil {
			continue
		}
		order := f.scheduleBlock(b, budget, dags[b], s)
		changed = changed || !slices.Equal(order, l.blocks[b].order)
		l.blocks[b].order = order
	}
	return changed
}

// arrange is instructions in an order.
func arrange(insts []inst, order []int32) []inst {
	out := make([]inst, len(insts))
	for k, i := range order {
		out[k] = insts[i]
	}
	return out
}

// dags builds the dependence graph of every block worth ordering.
func (f *fn) dags(s *scratch) []*dag {
	out := make([]*dag, len(f.mblocks))
	for _, b := range f.order {
		if len(f.mblocks[b].insts) > 1 {
			g := f.newDAG(f.mblocks[b].insts, s, false, &dag{})
			g.bounds = f.boundsOf(b, s)
			g.pressure, g.over = f.orderPressure(b, &g.ops, nil, g.bounds.out, s), f.overcount(b, &g.ops, s)
			out[b] = g
		}
	}
	return out
}

// reschedule orders every block again once registers are assigned: by latency
// alone, as far as the reuse of registers lets it.
func (f *fn) reschedule() error {
	s := f.newScratch()
	for _, b := range f.order {
		mb := &f.mblocks[b]
		if len(mb.insts) < 2 {
			continue
		}
		l := lister{f: f, g: f.newDAG(mb.insts, s, true, &s.dag), s: s, greedy: 1 << 20, final: true}
		mb.insts = arrange(mb.insts, l.run(b))
	}
	return nil
}

// scheduleBlock returns the best order found for a block: the first one, as
// the greed for early loads is turned down, that keeps within the budget, else
// the one with the lowest pressure; nil is its own order.
func (f *fn) scheduleBlock(b int, budget int, g *dag, s *scratch) []int32 {
	var best []int32
	bestPressure := g.pressure
	for _, slack := range [...]int{0, 2, 4, 8, 16} {
		if slack > 0 && budget-slack < 8 {
			break
		}
		order, p := f.list(b, budget, budget-slack, max(budget+1, bestPressure)+g.over, g, s)
		if order == nil {
			continue
		}
		if p <= budget {
			return order
		}
		if p < bestPressure {
			best, bestPressure = order, p
		}
	}
	return best
}

// item is what the scheduler needs of an instruction to choose among the ready.
type item struct {
	inst     int32
	earliest int32 // issue cycle
	height   int32 // of its chain in the dag
	queue    uint8 // what it issues to: its class, or sharedQueue
	gain     int8  // registers it writes
	least    int16 // registers it takes at least; no bound when it writes none
}

// sharedQueue is the queue of loads from shared memory, all others are classes.
const sharedQueue = uint8(NumClasses)

// lister is one run of the list scheduler over a block.
type lister struct {
	f       *fn
	g       *dag
	s       *scratch
	budget  int                        // registers that may be live
	greedy  int                        // the same for instructions out of program order
	live    int                        // general registers live now
	busy    [int(NumClasses) + 1]int32 // by queue: first cycle it takes another
	final   bool                       // registers are assigned and no longer counted; before, the transcendental unit's rate is not modelled
	drained int32                      // when the shared memory queue will have been emptied
	// hopeless is how many live registers make the order worthless.
	hopeless int
	done     []bool
	next     int // first instruction in program order not yet issued

	neededNow, neededAny, most int // see attempt
}

// Shared memory loads queue: one leaves every queueCycles, and no more than
// queueDepth wait. Both were chosen to match how far the real assembler's
// loads run ahead in unrolled stencils and matrix products on sm_90.
const (
	queueCycles = 4
	queueDepth  = 16
)

// run returns the instructions in issue order, nil when it is hopeless.
func (l *lister) run(b int) []int32 {
	g, s := l.g, l.s
	n := len(g.insts)
	s.npreds = append(s.npreds[:0], g.npreds...)
	l.done = make([]bool, n)
	if !l.final {
		l.start(b)
	}
	l.prepare()
	out := make([]int32, 0, n)
	cycle := int32(0)
	for len(out) < n {
		k, at := l.pick(cycle)
		i := s.ready[k].inst
		s.ready = slices.Delete(s.ready, k, k+1)
		cycle = max(cycle, at)
		m := &mops[g.insts[i].op]
		if l.final || m.class != MUFU {
			l.busy[m.class] = cycle + int32(m.issue)
		}
		if s.items[i].queue == sharedQueue {
			l.drained = max(l.drained, cycle) + queueCycles
		}
		l.busy[sharedQueue] = max(l.busy[Load], l.drained-queueDepth*queueCycles)
		if !l.final {
			l.issue(i)
			l.most = max(l.most, l.live)
			if l.live >= l.hopeless {
				return nil
			}
		}
		l.done[i] = true
		for l.next < n && l.done[l.next] {
			l.next++
		}
		for k := g.head[i]; k >= 0; k = g.edges[k].next {
			e := &g.edges[k]
			s.items[e.to].earliest = max(s.items[e.to].earliest, cycle+e.lat)
			if s.npreds[e.to]--; s.npreds[e.to] == 0 {
				l.push(e.to)
			}
		}
		out = append(out, i)
		cycle++
	}
	return out
}

// prepare fills the items of the block and the first ready ones.
func (l *lister) prepare() {
	g, s := l.g, l.s
	s.items, s.ready = s.items[:0], s.ready[:0]
	for i := range g.insts {
		op := g.insts[i].op
		it := item{inst: int32(i), height: g.height[i], queue: uint8(mops[op].class)}
		if op == opLDS {
			it.queue = sharedQueue
		}
		for _, d := range g.ops.writes(int32(i)) {
			it.gain += wordCount[d.mask&s.general[d.v]]
		}
		it.least = math.MinInt16
		if it.gain > 0 {
			it.least = int16(it.gain)
			for _, u := range g.ops.reads(int32(i)) {
				it.least -= int16(wordCount[u.mask&s.general[u.v]]) // frees no more
			}
		}
		s.items = append(s.items, it)
	}
	for i := range s.items {
		if s.npreds[i] == 0 {
			l.push(int32(i))
		}
	}
}

// start sets the live set and the readers left of every word of the block.
func (l *lister) start(b int) {
	f, s := l.f, l.s
	l.live = l.g.bounds.in
	l.g.ops.copyLive(s.live, f.live.in[b])
	out := f.live.out[b]
	leave := func(list []operand) {
		for _, u := range list {
			r := s.remain[4*int(u.v):][:4]
			for w := range r {
				r[w] = int32(out[u.v] >> w & 1) // never dies here
			}
		}
	}
	leave(l.g.ops.uses)
	leave(l.g.ops.defs)
	for _, u := range l.g.ops.uses {
		for w, m := 4*int(u.v), u.mask; m != 0; w, m = w+1, m>>1 {
			s.remain[w] += int32(m & 1)
		}
	}
}

// delta is by how much issuing an instruction changes the live registers.
func (l *lister) delta(i int32) int {
	s := l.s
	d := 0
	for _, a := range l.g.ops.writes(i) {
		m := a.mask & s.general[a.v] &^ s.live[a.v]
		for w := 4 * int(a.v); m != 0; w, m = w+1, m>>1 {
			if m&1 != 0 && s.remain[w] > 0 {
				d++
			}
		}
	}
	reads := l.g.ops.reads(i)
	for k, u := range reads {
		m := u.mask & s.general[u.v] & s.live[u.v]
		for w := 0; m>>w != 0; w++ {
			if m>>w&1 == 0 {
				continue
			}
			c := int32(1)
			for _, x := range reads[:k] {
				if x.v == u.v && x.mask>>w&1 != 0 {
					c++
				}
			}
			if s.remain[4*int(u.v)+w] == c {
				d--
			}
		}
	}
	return d
}

// issue updates the live set for an instruction.
func (l *lister) issue(i int32) {
	s := l.s
	for _, u := range l.g.ops.reads(i) {
		dead := uint8(0)
		for w := 0; u.mask>>w != 0; w++ {
			if u.mask>>w&1 != 0 {
				if r := &s.remain[4*int(u.v)+w]; *r == 1 {
					*r, dead = 0, dead|1<<w
				} else {
					*r--
				}
			}
		}
		l.live -= int(wordCount[dead&s.live[u.v]&s.general[u.v]])
		s.live[u.v] &^= dead
	}
	for _, a := range l.g.ops.writes(i) {
		born := uint8(0)
		for w := 0; a.mask>>w != 0; w++ {
			if a.mask>>w&1 != 0 && s.remain[4*int(a.v)+w] > 0 {
				born |= 1 << w
			}
		}
		l.live += int(wordCount[born&^s.live[a.v]&s.general[a.v]])
		s.live[a.v] |= born
	}
}

// pick chooses the next instruction: among those that may issue soonest and
// fit the register budget, the one with the longest chain behind it; when none
// fits, the first in program order, which is always ready. The ready list is
// kept longest chain first.
func (l *lister) pick(cycle int32) (k int, at int32) {
	best := -1
	bestAt := int32(math.MaxInt32)
	ready := l.s.ready
	room := l.greedy - l.live // what fits says, where it is plain, without the call
	for j := range ready {
		it := &ready[j]
		if int(it.least) > room && int(it.inst) != l.next {
			continue
		}
		t := max(it.earliest, l.busy[it.queue], cycle)
		if t >= bestAt || int(it.gain) > room && !l.fits(it) {
			continue
		}
		if !l.final {
			l.note(it)
		}
		best, bestAt = j, t
		if t == cycle {
			break
		}
	}
	if best < 0 {
		best = l.s.place(l.g.height[l.next], int32(l.next))
		bestAt = max(ready[best].earliest, l.busy[ready[best].queue], cycle)
	}
	return best, bestAt
}

// fits says whether the registers an instruction needs are there.
func (l *lister) fits(it *item) bool {
	limit := l.greedy
	if int(it.inst) == l.next {
		limit = l.budget
	}
	if l.live+int(it.gain) <= limit {
		return true
	}
	if l.live+int(it.least) > limit {
		return false
	}
	d := l.delta(it.inst)
	return d <= 0 || l.live+d <= limit
}

// note keeps the least limit under which an instruction that fits still would.
func (l *lister) note(it *item) {
	needed := &l.neededAny
	if int(it.inst) == l.next {
		needed = &l.neededNow
	}
	if l.live+int(it.gain) <= *needed {
		return
	}
	*needed = max(*needed, l.live+int(it.least))
	if d := l.delta(it.inst); d > 0 {
		*needed = max(*needed, l.live+d)
	}
}

// push adds an instruction to the ready list.
func (l *lister) push(i int32) {
	s := l.s
	s.ready = slices.Insert(s.ready, s.place(s.items[i].height, i), s.items[i])
}

// place is where in the ready list an instruction of that height is or goes.
func (s *scratch) place(height, inst int32) int {
	lo, hi := 0, len(s.ready)
	for lo < hi {
		m := (lo + hi) / 2
		if r := &s.ready[m]; r.height > height || r.height == height && r.inst < inst {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}
