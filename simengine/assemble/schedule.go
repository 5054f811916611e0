package assemble

import "slices"

// scratch is reused by the scheduling of every block.
type scratch struct {
	lastDef []int32
	readers [][]int32
	live    []uint8
	remain  []int32 // by value: reads still to be scheduled in this block
}

func (f *fn) newScratch() *scratch {
	units := 4*len(f.vals) + 5*1024
	s := &scratch{lastDef: make([]int32, units), readers: make([][]int32, units), live: make([]uint8, len(f.vals)), remain: make([]int32, len(f.vals))}
	for i := range s.lastDef {
		s.lastDef[i] = -1
	}
	return s
}

// schedule orders the instructions of every block: the longest dependent chain
// first, as far as the register budget lets it.
// source is the order to start from, dags its dependences.
func (f *fn) schedule(budget int, source [][]inst, dags []*dag, s *scratch) {
	for _, b := range f.order {
		if dags[b] != nil {
			f.mblocks[b].insts = f.scheduleBlock(b, source[b], budget, dags[b], s)
		}
	}
}

// dags builds the dependence graph of every block worth ordering.
func (f *fn) dags(s *scratch) []*dag {
	out := make([]*dag, len(f.mblocks))
	for _, b := range f.order {
		if len(f.mblocks[b].insts) > 1 {
			out[b] = f.newDAG(f.mblocks[b].insts, s, false)
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
		l := lister{f: f, g: f.newDAG(mb.insts, s, true), insts: mb.insts, s: s, budget: 1 << 20, greedy: 1 << 20, final: true}
		mb.insts = l.run(b)
	}
	return nil
}

// scheduleBlock returns the best order found for a block: the first one, as
// the greed for early loads is turned down, that keeps within the budget, else
// the one with the lowest pressure.
func (f *fn) scheduleBlock(b int, insts []inst, budget int, g *dag, s *scratch) []inst {
	best := insts
	bestPressure := f.blockPressure(b, s.live, insts)
	for _, slack := range [...]int{0, 2, 4, 8, 16} {
		if slack > 0 && budget-slack < 8 {
			break
		}
		l := lister{f: f, g: g, insts: insts, s: s, budget: budget, greedy: budget - slack}
		order := l.run(b)
		p := f.blockPressure(b, s.live, order)
		if p <= budget {
			return order
		}
		if p < bestPressure {
			best, bestPressure = order, p
		}
	}
	return best
}

// lister is one run of the list scheduler over a block.
type lister struct {
	f       *fn
	g       *dag
	insts   []inst
	s       *scratch
	budget  int // registers that may be live
	greedy  int // the same for instructions out of program order
	npreds  []int32
	earlies []int32 // earliest issue cycle
	ready   []int32
	live    int    // general registers live now
	gain    []int8 // by instruction: registers it writes
	loss    []int8 // and reads, at most what it frees
	busy    [NumClasses]int32
	final   bool  // registers are assigned; before, the transcendental unit's rate is not modelled
	drained int32 // when the shared memory queue will have been emptied
	done    []bool
	next    int // first instruction in program order not yet issued
}

// Shared memory loads queue: one leaves every queueCycles, and no more than
// queueDepth wait. Both were chosen to match how far the real assembler's
// loads run ahead in unrolled stencils and matrix products on sm_90.
const (
	queueCycles = 4
	queueDepth  = 16
)

// run returns the instructions in issue order.
func (l *lister) run(b int) []inst {
	n := len(l.insts)
	l.npreds = append([]int32(nil), l.g.npreds...)
	l.earlies = make([]int32, n)
	l.done = make([]bool, n)
	l.start(b)
	l.gain, l.loss = make([]int8, n), make([]int8, n)
	for i := range l.insts {
		in := &l.insts[i]
		for k := range in.dst {
			if a := &in.dst[k]; a.kind == argValue {
				l.gain[i] += int8(l.f.generalWords(a.v))
			}
		}
		in.reads(func(v value, _ uint8) { l.loss[i] += int8(l.f.generalWords(v)) })
		if l.npreds[i] == 0 {
			l.push(int32(i))
		}
	}
	out := make([]inst, 0, n)
	cycle := int32(0)
	for len(out) < n {
		k, at := l.pick(cycle)
		i := l.ready[k]
		l.ready = slices.Delete(l.ready, k, k+1)
		cycle = max(cycle, at)
		in := &l.insts[i]
		m := &mops[in.op]
		if l.final || m.class != MUFU {
			l.busy[m.class] = cycle + int32(m.issue)
		}
		if in.op == opLDS {
			l.drained = max(l.drained, cycle) + queueCycles
		}
		l.issue(in)
		l.done[i] = true
		for l.next < n && l.done[l.next] {
			l.next++
		}
		for _, e := range l.g.succs[i] {
			l.earlies[e.to] = max(l.earlies[e.to], cycle+e.lat)
			if l.npreds[e.to]--; l.npreds[e.to] == 0 {
				l.push(e.to)
			}
		}
		out = append(out, *in)
		cycle++
	}
	return out
}

// start sets the live set and the readers left of every value of the block.
func (l *lister) start(b int) {
	f, s := l.f, l.s
	for v := range s.remain {
		s.remain[v] = 0
		s.live[v] = f.live.in[b][v]
		if f.live.out[b][v] != 0 {
			s.remain[v] = 1 // never dies here
		}
	}
	l.live = 0
	for v, m := range s.live {
		if m != 0 {
			l.live += f.generalWords(value(v))
		}
	}
	for i := range l.insts {
		l.insts[i].reads(func(v value, _ uint8) { s.remain[v]++ })
	}
}

// delta is by how much issuing an instruction changes the live registers.
func (l *lister) delta(in *inst) int {
	f, s := l.f, l.s
	d := 0
	for k := range in.dst {
		if a := &in.dst[k]; a.kind == argValue && s.live[a.v] == 0 && s.remain[a.v] > 0 {
			d += f.generalWords(a.v)
		}
	}
	var seen [8]value
	n := 0
	in.reads(func(v value, _ uint8) {
		c := int32(1)
		for _, x := range seen[:n] {
			if x == v {
				c++
			}
		}
		if n < len(seen) {
			seen[n] = v
			n++
		}
		if s.remain[v] == c && s.live[v] != 0 {
			d -= f.generalWords(v)
		}
	})
	return d
}

// issue updates the live set for an instruction.
func (l *lister) issue(in *inst) {
	f, s := l.f, l.s
	in.reads(func(v value, _ uint8) {
		if s.remain[v]--; s.remain[v] == 0 && s.live[v] != 0 {
			l.live -= f.generalWords(v)
			s.live[v] = 0
		}
	})
	for k := range in.dst {
		if a := &in.dst[k]; a.kind == argValue && s.remain[a.v] > 0 {
			if s.live[a.v] == 0 {
				l.live += f.generalWords(a.v)
			}
			s.live[a.v] |= a.wordMask()
		}
	}
}

// pick chooses the next instruction: among those that may issue soonest and
// fit the register budget, the one with the longest chain behind it; when none
// fits, the first in program order. The ready list is kept longest chain first.
func (l *lister) pick(cycle int32) (k int, at int32) {
	best := -1
	var bestAt int32
	for j, i := range l.ready {
		t := l.issuable(i, cycle)
		if best >= 0 && t >= bestAt {
			continue
		}
		if !l.fits(i) {
			continue
		}
		best, bestAt = j, t
		if t == cycle {
			break
		}
	}
	if best < 0 {
		best = 0
		for j, i := range l.ready {
			if i < l.ready[best] {
				best = j
			}
		}
		bestAt = l.issuable(l.ready[best], cycle)
	}
	return best, bestAt
}

// issuable is the first cycle from now on in which an instruction can issue.
func (l *lister) issuable(i, cycle int32) int32 {
	op := l.insts[i].op
	t := max(l.earlies[i], l.busy[mops[op].class], cycle)
	if op == opLDS {
		t = max(t, l.drained-queueDepth*queueCycles)
	}
	return t
}

// fits says whether the registers an instruction needs are there.
func (l *lister) fits(i int32) bool {
	limit := l.greedy
	if int(i) == l.next {
		limit = l.budget
	}
	if l.live+int(l.gain[i]) <= limit {
		return true
	}
	if l.gain[i] > 0 && l.live+int(l.gain[i])-int(l.loss[i]) > limit {
		return false
	}
	d := l.delta(&l.insts[i])
	return d <= 0 || l.live+d <= limit
}

// push adds an instruction to the ready list.
func (l *lister) push(i int32) {
	k, _ := slices.BinarySearchFunc(l.ready, i, func(a, b int32) int {
		if l.better(a, b) {
			return -1
		}
		return 1
	})
	l.ready = slices.Insert(l.ready, k, i)
}

// better orders two instructions that may issue in the same cycle.
func (l *lister) better(a, b int32) bool {
	if l.g.height[a] != l.g.height[b] {
		return l.g.height[a] > l.g.height[b]
	}
	return a < b
}
