package sched

import (
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// lister is one run of the list scheduler over a block.
type lister struct {
	f       *mir.Func
	g       *dag
	s       *Scratch
	budget  int                    // registers that may be live
	greedy  int                    // the same for instructions out of program order
	live    int                    // general registers live now
	busy    [sharedQueue + 1]int32 // by queue: first cycle it takes another
	final   bool                   // registers are assigned and no longer counted; before, the transcendental unit's rate is not modelled
	drained int32                  // when the shared memory queue will have been emptied
	// hopeless is how many live registers make the order worthless.
	hopeless int
	next     int32 // first instruction in program order not yet issued

	neededNow, neededAny, most int // see attempt
}

// Shared memory loads queue: one leaves every queueCycles, and no more than
// queueDepth wait. Both were chosen to match how far the real assembler's
// loads run ahead in unrolled stencils and matrix products on sm_90.
const (
	queueCycles = 4
	queueDepth  = 16
)

// sharedQueue is the queue of loads from shared memory, all others are classes.
const sharedQueue = uint8(mir.NumClasses)

// ranking is what the lister needs to know of a block's instructions whatever the
// limits.
type ranking struct {
	rank  []int32 // by instruction: how many come first when all may, the longest chains
	order []int32 // the instructions so
	queue []uint8 // by instruction: what it issues to, its class or sharedQueue
}

func (g *dag) rank(s *Scratch) *ranking {
	n := len(g.insts)
	ints := make([]int32, 2*n)
	r := &ranking{rank: ints[:n], order: ints[n:], queue: make([]uint8, n)}
	keys := s.list.keys[:0]
	for i := range n {
		keys = append(keys, int64(-g.height[i])<<32|int64(i))
		r.queue[i] = uint8(g.insts[i].Op.Class())
		if g.insts[i].Op == mir.OpLDS {
			r.queue[i] = sharedQueue
		}
	}
	slices.Sort(keys)
	for k, key := range keys {
		r.order[k] = int32(key)
		r.rank[int32(key)] = int32(k)
	}
	s.list.keys = keys
	return r
}

// listing is the memory of a run.
type listing struct {
	keys             []int64 // see rank
	npreds, earliest []int32
	state            []readiness
	words            wordState
	waiting          priorityQueue // instructions whose operands are still on their way, the earliest first
	ready            readyQueue
}

// readiness is how far an instruction is.
type readiness uint8

const (
	dependent readiness = iota // on one that has not issued
	coming                     // its operands are
	ready
	issued
)

// run returns the instructions in issue order, nil when it is hopeless.
func (l *lister) run(b int) []int32 {
	g := l.g
	n := len(g.insts)
	l.begin(b)
	out := make([]int32, 0, n)
	for cycle := int32(0); len(out) < n; cycle++ {
		i, at := l.pick(cycle)
		cycle = at
		l.leave(i)
		l.occupy(i, cycle)
		if !l.final {
			l.issue(i)
			l.most = max(l.most, l.live)
			if l.live >= l.hopeless {
				return nil
			}
		}
		for int(l.next) < n && l.s.list.state[l.next] == issued {
			l.next++
		}
		for k := g.head[i]; k >= 0; k = g.edges[k].next {
			e := &g.edges[k]
			l.s.list.earliest[e.to] = max(l.s.list.earliest[e.to], cycle+e.lat)
			if l.s.list.npreds[e.to]--; l.s.list.npreds[e.to] == 0 {
				l.enter(e.to, cycle+1)
			}
		}
		out = append(out, i)
	}
	return out
}

// begin fills the memory of a run with the block's beginning.
func (l *lister) begin(b int) {
	g, x := l.g, &l.s.list
	n := len(g.insts)
	if g.ranked == nil {
		g.ranked = g.rank(l.s)
	}
	if !l.final {
		if g.words == nil {
			g.words = findWordUses(l.f, b, g, l.s)
		}
		x.words.set(&g.words.start)
		l.live = g.bounds.in
	}
	x.npreds = append(x.npreds[:0], g.npreds...)
	x.earliest = slices.Grow(x.earliest[:0], n)[:n]
	x.state = slices.Grow(x.state[:0], n)[:n]
	clear(x.earliest)
	clear(x.state)
	x.waiting = x.waiting[:0]
	x.ready.reset(n)
	for i := range int32(n) {
		if x.npreds[i] == 0 {
			l.enter(i, 0)
		}
	}
}

// enter takes up an instruction whose predecessors have issued; cycle is the next.
func (l *lister) enter(i, cycle int32) {
	x := &l.s.list
	if x.earliest[i] > cycle {
		x.state[i] = coming
		x.waiting.push(i, -x.earliest[i])
		return
	}
	x.state[i] = ready
	x.ready.add(l.need(i), l.g.ranked.queue[i], l.g.ranked.rank[i])
}

// leave takes out an instruction that issues. What its operands did not wait for it
// finds later.
func (l *lister) leave(i int32) {
	x := &l.s.list
	if x.state[i] == ready {
		x.ready.remove(l.need(i), l.g.ranked.queue[i], l.g.ranked.rank[i])
	}
	x.state[i] = issued
}

// occupy notes what an instruction that issues keeps busy.
func (l *lister) occupy(i, cycle int32) {
	m := l.g.insts[i].Op.Info()
	if l.final || m.Class != mir.MUFU {
		l.busy[m.Class] = cycle + int32(m.Issue)
	}
	if l.g.ranked.queue[i] == sharedQueue {
		l.drained = max(l.drained, cycle) + queueCycles
	}
	l.busy[sharedQueue] = max(l.busy[mir.Load], l.drained-queueDepth*queueCycles)
}

// need is how many registers must be free for an instruction to fit: not those that
// it takes, when what it frees makes up for them, nor those that it might.
func (l *lister) need(i int32) int8 {
	if l.final || l.g.words.gain[i] == 0 {
		return noNeed
	}
	w := l.g.words
	return min(w.gain[i], max(w.least[i], positive(l.s.list.words.delta[i])))
}

// positive is d if it is more than 0, and else less than any number of registers.
func positive(d int8) int8 {
	if d > 0 {
		return d
	}
	return noNeed
}

// pick chooses the next instruction: among those that may issue soonest and
// fit the register budget, the one with the longest chain behind it; when none
// fits, the first in program order, which is always ready.
func (l *lister) pick(cycle int32) (i, at int32) {
	x, r := &l.s.list, l.g.ranked
	for len(x.waiting) > 0 && -x.waiting.most() <= cycle {
		if i, _ := x.waiting.pop(); x.state[i] == coming {
			x.state[i] = ready
			x.ready.add(l.need(i), r.queue[i], r.rank[i])
		}
	}
	room := l.greedy - l.live
	best := int32(-1) // its rank
	at = math.MaxInt32
	for k := range x.ready.sets {
		c := &x.ready.sets[k]
		t := max(l.busy[c.queue], cycle)
		if c.count == 0 || int(c.need) > room || t > at {
			continue
		}
		if rank := c.first(); t < at || rank < best {
			best, at = rank, t
		}
	}
	first := max(x.earliest[l.next], l.busy[r.queue[l.next]], cycle)
	if need := int(l.need(l.next)); need > room && need <= l.budget-l.live && (first < at || first == at && r.rank[l.next] < best) {
		best, at = r.rank[l.next], first
	}
	if at > cycle {
		best, at = l.awaited(room, best, at)
	}
	if best < 0 {
		return l.next, first
	}
	i = r.order[best]
	if !l.final {
		l.note(i)
	}
	return i, at
}

// awaited is what pick has found, or what comes before that of instructions whose
// operands are on their way.
func (l *lister) awaited(room int, best, at int32) (rank, issue int32) {
	x, r := &l.s.list, l.g.ranked
	for _, e := range x.waiting {
		i := queuedInst(e)
		t := max(x.earliest[i], l.busy[r.queue[i]])
		if t <= at && (t < at || r.rank[i] < best) && x.state[i] == coming && int(l.need(i)) <= room {
			best, at = r.rank[i], t
		}
	}
	return best, at
}

// note keeps the least limit under which an instruction that fits still would.
func (l *lister) note(i int32) {
	needed := &l.neededAny
	if i == l.next {
		needed = &l.neededNow
	}
	*needed = max(*needed, l.live+int(l.need(i)))
}

// issue updates the live words for an instruction.
func (l *lister) issue(i int32) {
	u, st := l.g.words, &l.s.list.words
	for _, k := range part(u.reads, u.readEnd, i) {
		st.remain[k]--
		st.sum[k] -= int64(i)
		switch {
		case !st.live[k]: // read without having been written
		case st.remain[k] > 0:
			l.closing(k)
		default:
			st.live[k] = false
			l.live--
		}
	}
	for _, k := range part(u.writes, u.writeEnd, i) {
		if st.remain[k] > 0 {
			st.live[k] = true
			l.live++
			l.closing(k)
		}
	}
}

// closing sees to the instruction that ends a live word, if it is known now.
func (l *lister) closing(k int32) {
	if i := l.g.words.lastReader(k, &l.s.list.words); i >= 0 {
		l.change(i)
	}
}

// change makes issuing an instruction take one register less.
func (l *lister) change(i int32) {
	x := &l.s.list
	if x.state[i] == issued {
		return
	}
	before := l.need(i)
	x.words.delta[i]--
	if after := l.need(i); after != before && x.state[i] == ready {
		x.ready.remove(before, l.g.ranked.queue[i], l.g.ranked.rank[i])
		x.ready.add(after, l.g.ranked.queue[i], l.g.ranked.rank[i])
	}
}
