package assemble

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
func (f *fn) schedule(budget int) {
	s := f.newScratch()
	for _, b := range f.order {
		mb := &f.mblocks[b]
		if len(mb.insts) < 2 {
			continue
		}
		mb.insts = f.scheduleBlock(b, mb.insts, budget, s)
	}
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
		l := lister{f: f, g: f.newDAG(mb.insts, s, true), insts: mb.insts, s: s, budget: 1 << 20, greedy: 1 << 20}
		mb.insts = l.run(b)
	}
	return nil
}

// scheduleBlock returns the best order found for a block: the first one, as
// the greed for early loads is turned down, that keeps within the budget, else
// the one with the lowest pressure.
func (f *fn) scheduleBlock(b int, insts []inst, budget int, s *scratch) []inst {
	g := f.newDAG(insts, s, false)
	best := insts
	bestPressure := f.blockPressure(b, s.live, insts)
	for _, slack := range [...]int{0, 2, 4, 8, 16, 32} {
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
	live    int // general registers live now
	busy    [NumClasses]int32
	drained int32 // when the shared memory queue will have been emptied
	done    []bool
	next    int // first instruction in program order not yet issued
}

// Shared memory loads queue: one leaves every queueCycles, and no more than
// queueDepth wait.
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
	for i := range l.npreds {
		if l.npreds[i] == 0 {
			l.ready = append(l.ready, int32(i))
		}
	}
	out := make([]inst, 0, n)
	cycle := int32(0)
	for len(out) < n {
		k, at := l.pick(cycle)
		i := l.ready[k]
		l.ready[k] = l.ready[len(l.ready)-1]
		l.ready = l.ready[:len(l.ready)-1]
		cycle = max(cycle, at)
		in := &l.insts[i]
		m := &mops[in.op]
		l.busy[m.class] = cycle + int32(m.issue)
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
				l.ready = append(l.ready, e.to)
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
// fits, the first in program order.
func (l *lister) pick(cycle int32) (k int, at int32) {
	best := -1
	var bestAt int32
	first := 0
	for j, i := range l.ready {
		if i < l.ready[first] {
			first = j
		}
		in := &l.insts[i]
		t := max(l.earlies[i], l.busy[mops[in.op].class], cycle)
		if in.op == opLDS {
			t = max(t, l.drained-queueDepth*queueCycles)
		}
		if best >= 0 && t > bestAt {
			continue
		}
		limit := l.greedy
		if int(i) == l.next {
			limit = l.budget
		}
		if d := l.delta(in); d > 0 && l.live+d > limit {
			continue
		}
		if best < 0 || t < bestAt || l.better(i, l.ready[best]) {
			best, bestAt = j, t
		}
	}
	if best < 0 {
		i := l.ready[first]
		return first, max(l.earlies[i], l.busy[mops[l.insts[i].op].class], cycle)
	}
	return best, bestAt
}

// better orders two instructions that may issue in the same cycle.
func (l *lister) better(a, b int32) bool {
	if l.g.height[a] != l.g.height[b] {
		return l.g.height[a] > l.g.height[b]
	}
	return a < b
}
