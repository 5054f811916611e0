package sched

import (
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
)

// List scheduling under a register budget (Gibbons and Muchnick, 1986; the budget as in Goodman and
// Hsu, "Code Scheduling and Register Allocation in Large Basic Blocks", ICS 1988).
//
// Cycle by cycle, of the instructions whose predecessors have issued:
//
// - those that can issue soonest come first (operands there, issue port free);
// - of these, those that fit the registers left;
// - of these, the one with the greatest height (see dag.go).
//
// An instruction out of program order must fit aheadBudget, the next one in program order only
// budget. If none fits, the next in program order issues anyway.
//
//	height  ^            aheadBudget keeps loads from running ahead
//	        |  load      until the registers for the rest are gone
//	        |  load
//	        |  fma   <-- next in program order: may use the full budget
//	        +--------> cycle

// limits are the numbers of general registers that may be live.
type limits struct {
	budget      int // after the next instruction in program order
	aheadBudget int // after an instruction out of program order
	abandonAt   int // at this many the run is abandoned
}

// lister is one run of the list scheduler over a block.
type lister struct {
	f *mir.Func
	g *dag
	s *Scratch
	limits
	live    int                    // general registers live now
	busy    [sharedQueue + 1]int32 // by queue: first cycle at which it takes another instruction
	final   bool                   // registers are allocated and not counted; only then is the rate of MUFU modelled
	drained int32                  // cycle at which the queue of shared memory loads is empty
	next    int32                  // first instruction in program order that has not issued

	leastBudget, leastAhead, most int // See memo.
}

// The queue of loads from shared memory: one leaves every queueCycles cycles, and up to queueDepth
// wait. Chosen so that loads run ahead as far as in ptxas' code of unrolled stencils and matrix
// products for sm_90 (ptxas corpus).
const (
	queueCycles = 4
	queueDepth  = 16
)

// sharedQueue is the queue of loads from shared memory. All other queues are classes.
const sharedQueue = uint8(mir.NumClasses)

// ranking is what the list scheduler knows of a block whatever its budget.
type ranking struct {
	rank  []int32 // by instruction: its place by height, greatest first, then program order
	order []int32 // instructions by rank
	queue []uint8 // by instruction: its class, or sharedQueue
}

// rank sorts the instructions by height.
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

// listing is the storage of a run, used again by the next one.
type listing struct {
	keys             []int64 // of dag.rank
	npreds, earliest []int32
	state            []readiness
	words            wordState
	waiting          priorityQueue // instructions whose operands are not there yet, soonest first
	ready            readyQueue
}

// readiness is how far an instruction is from issue.
type readiness uint8

const (
	dependent readiness = iota // a predecessor has not issued
	inFlight                   // all predecessors have issued, a result is not there yet
	ready
	issued
)

// run returns the instructions in issue order, nil if the run was abandoned.
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
			if l.live >= l.abandonAt {
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

// begin sets the state at the start of block b.
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

// enter takes up an instruction whose predecessors have issued. cycle is the next one.
func (l *lister) enter(i, cycle int32) {
	x := &l.s.list
	if x.earliest[i] > cycle {
		x.state[i] = inFlight
		x.waiting.push(i, -x.earliest[i])
		return
	}
	x.state[i] = ready
	x.ready.add(l.need(i), l.g.ranked.queue[i], l.g.ranked.rank[i])
}

// leave takes out an instruction that issues. An entry in waiting is dropped later.
func (l *lister) leave(i int32) {
	x := &l.s.list
	if x.state[i] == ready {
		x.ready.remove(l.need(i), l.g.ranked.queue[i], l.g.ranked.rank[i])
	}
	x.state[i] = issued
}

// occupy keeps the issue port of an instruction busy from a cycle on.
func (l *lister) occupy(i, cycle int32) {
	m := l.g.insts[i].Op.Info()
	if l.final || m.Class != mir.MUFU {
		l.busy[m.Class] = cycle + int32(m.Issue)
	}
	if l.g.ranked.queue[i] == sharedQueue {
		l.drained = max(l.drained, cycle) + queueCycles
	}
	l.busy[sharedQueue] = l.busy[mir.Load]
	if l.f.Target.Uses(rules.SharedLoadQueue) {
		l.busy[sharedQueue] = max(l.busy[sharedQueue], l.drained-queueDepth*queueCycles)
	}
}

// need is the free registers that an instruction must find to fit: its net growth, or alwaysFits
// where it frees as many as it takes.
func (l *lister) need(i int32) int8 {
	if l.final || l.g.words.gain[i] == 0 {
		return alwaysFits
	}
	w := l.g.words
	return int8(max(-mostNeed, min(w.gain[i], max(w.least[i], positive(l.s.list.words.delta[i])), mostNeed)))
}

// positive returns d if it is more than 0, else alwaysFits.
func positive(d int16) int16 {
	if d > 0 {
		return d
	}
	return alwaysFits
}

// pick chooses the next instruction and its issue cycle.
func (l *lister) pick(cycle int32) (i, at int32) {
	x, r := &l.s.list, l.g.ranked
	for len(x.waiting) > 0 && -x.waiting.most() <= cycle {
		if i, _ := x.waiting.pop(); x.state[i] == inFlight {
			x.state[i] = ready
			x.ready.add(l.need(i), r.queue[i], r.rank[i])
		}
	}
	room := l.aheadBudget - l.live
	best := int32(-1) // rank of the choice
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
		best, at = l.earliestInFlight(room, best, at)
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

// earliestInFlight returns the best choice when instructions whose operands are still on their way
// are considered too. best and at are the rank and the cycle of the choice so far.
func (l *lister) earliestInFlight(room int, best, at int32) (rank, issue int32) {
	x, r := &l.s.list, l.g.ranked
	for _, e := range x.waiting {
		i := queuedInst(e)
		t := max(x.earliest[i], l.busy[r.queue[i]])
		if t <= at && (t < at || r.rank[i] < best) && x.state[i] == inFlight && int(l.need(i)) <= room {
			best, at = r.rank[i], t
		}
	}
	return best, at
}

// note records the least limit under which the chosen instruction would still fit.
func (l *lister) note(i int32) {
	leastLimit := &l.leastAhead
	if i == l.next {
		leastLimit = &l.leastBudget
	}
	*leastLimit = max(*leastLimit, l.live+int(l.need(i)))
}

// issue updates the live words for an instruction.
func (l *lister) issue(i int32) {
	u, st := l.g.words, &l.s.list.words
	for _, k := range part(u.reads, u.readEnd, i) {
		st.remain[k]--
		st.sum[k] -= int64(i)
		switch {
		case !st.live[k]: // read but never written
		case st.remain[k] > 0:
			l.noteLastReader(k)
		default:
			st.live[k] = false
			l.live--
		}
	}
	for _, k := range part(u.writes, u.writeEnd, i) {
		if st.remain[k] > 0 {
			st.live[k] = true
			l.live++
			l.noteLastReader(k)
		}
	}
}

// noteLastReader looks for the instruction that now is the only one left to read word k.
func (l *lister) noteLastReader(k int32) {
	if i := l.g.words.lastReader(k, &l.s.list.words); i >= 0 {
		l.change(i)
	}
}

// change records that issuing instruction i frees one register more than before.
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
