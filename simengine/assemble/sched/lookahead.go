package sched

import (
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// lookahead is a run over a block that goes ahead of its order only as far as the
// registers left for the rest allow. Of the instructions that may issue soonest comes
// the first in program order; one that others stand before comes only where these,
// which then hold its result as well, still keep within the limit in program order.
//
// ptxas does about so where the longest chains first do not keep within the budget: in
// loops that need all but a few of their registers it has as many loads under way as
// registers are left, the next as soon as a sum has taken one in, and the next group's
// before this one's last sums. A lower limit for what goes ahead, with which the longest
// chains first come to fit, leaves one load after the other: one warp alone then takes
// 18 % more or less for a turn than in ptxas's code, by the geometric mean of 882 loops
// for sm_90 (deploy/calibrate/validation's eleventh and twelfth batch and one more, a
// load from global memory taken for 300 cycles), and 15 % with this. With the longest
// chains first among what fits here, too, it is 16: they hold registers for long.
type lookahead struct {
	lister
	limit  int
	needed int     // the least limit that would have let in all that went ahead
	follow []int32 // by instruction: the next in program order that has not issued
	after  []int32 // by instruction: registers live after it when the rest goes in program order
	// readers are the instructions that read each word; the last of a word that has not
	// issued is before last.
	readers, first, last []int32
	closed               []int32 // see closes
}

// listLookahead returns a block's prudent order within a limit, and its pressure.
func listLookahead(f *mir.Func, b, limit int, g *dag, s *Scratch) ([]int32, int) {
	for i := range g.lookaheadMemos {
		if x := &g.lookaheadMemos[i]; x.validFor(limit, limit, 0) {
			return x.order, x.pressure
		}
	}
	p := lookahead{lister: lister{f: f, g: g, s: s}, limit: limit}
	order := p.run(b)
	pressure := orderPressure(f, b, &g.ops, order, g.bounds.out, s.general, s)
	g.lookaheadMemos = append(g.lookaheadMemos, memo{budget: limit, greedy: limit, neededAny: p.needed, order: order, pressure: pressure})
	return order, pressure
}

// run returns the instructions in issue order.
func (p *lookahead) run(b int) []int32 {
	p.begin(b)
	p.foresee()
	g, x := p.g, &p.s.list
	out := make([]int32, 0, len(g.insts))
	for cycle := int32(0); len(out) < len(g.insts); cycle++ {
		i, at := p.pick(cycle)
		cycle = at
		p.goAhead(i)
		x.state[i] = issued
		p.occupy(i, cycle)
		p.issue(i)
		for k := g.head[i]; k >= 0; k = g.edges[k].next {
			e := &g.edges[k]
			x.earliest[e.to] = max(x.earliest[e.to], cycle+e.lat)
			x.npreds[e.to]--
		}
		out = append(out, i)
	}
	return out
}

// foresee finds what is live after each instruction in program order.
func (p *lookahead) foresee() {
	u, st, n := p.g.words, &p.g.words.start, len(p.g.insts)
	words := len(st.live)
	ints := make([]int32, 2*n+2*words+len(u.reads))
	p.follow, p.after, ints = ints[:n], ints[n:2*n], ints[2*n:]
	p.first, p.last, p.readers = ints[:words], ints[words:2*words], ints[2*words:]
	for _, k := range u.reads {
		p.last[k]++
	}
	sum := int32(0)
	for k, reads := range p.last {
		p.first[k], p.last[k] = sum, sum
		sum += reads
	}
	remain, lives, live := slices.Clone(st.remain), slices.Clone(st.live), int32(p.live)
	for i := range int32(n) {
		p.follow[i] = i + 1
		for _, k := range part(u.reads, u.readEnd, i) {
			p.readers[p.last[k]] = i
			p.last[k]++
			if remain[k]--; remain[k] == 0 && lives[k] {
				live--
			}
		}
		for _, k := range part(u.writes, u.writeEnd, i) {
			if remain[k] > 0 {
				lives[k] = true
				live++
			}
		}
		p.after[i] = live
	}
}

// pick chooses the next instruction.
func (p *lookahead) pick(cycle int32) (best, at int32) {
	x, queue := &p.s.list, p.g.ranked.queue
	at = math.MaxInt32
	most := int32(0)
	for i := p.next; int(i) < len(p.after) && at > cycle; i = p.follow[i] {
		if x.npreds[i] == 0 {
			if t := max(x.earliest[i], p.busy[queue[i]], cycle); t < at && (i == p.next || p.fits(i, most)) {
				best, at = i, t
			}
		}
		most = max(most, p.after[i])
	}
	return best, at
}

// fits says whether an instruction may go ahead of those before it, after which at most
// some registers are live.
func (p *lookahead) fits(i, most int32) bool {
	born := p.born(i)
	if born == 0 {
		return true
	}
	now := p.live + int(p.s.list.words.delta[i])
	if now > p.limit {
		return false
	}
	if int(most+born) > p.limit && p.closes(i) {
		most = 0
		for j := p.next; j < i; j = p.follow[j] {
			most = max(most, p.after[j]-p.closedBy(j))
		}
	}
	if int(most+born) > p.limit {
		return false
	}
	p.needed = max(p.needed, now, int(most+born))
	return true
}

// goAhead accounts for an instruction that issues before those that stand before it.
func (p *lookahead) goAhead(i int32) {
	if i == p.next {
		p.next = p.follow[i]
		return
	}
	born, before := p.born(i), i
	p.closes(i)
	for j := p.next; j < i; j = p.follow[j] {
		p.after[j] += born - p.closedBy(j)
		before = j
	}
	p.follow[before] = p.follow[i]
}

// born is how many words come to life with an instruction.
func (p *lookahead) born(i int32) (n int32) {
	for _, k := range part(p.g.words.writes, p.g.words.writeEnd, i) {
		if p.s.list.words.remain[k] > 0 {
			n++
		}
	}
	return n
}

// closes says whether there are words that an instruction is the last to read, and lists of
// each the last to do so before it, -1 for none: after that one the word is no longer live
// if the instruction goes ahead.
func (p *lookahead) closes(i int32) bool {
	p.closed = p.closed[:0]
	x := &p.s.list
	reads := part(p.g.words.reads, p.g.words.readEnd, i)
	for n, k := range reads {
		if x.words.remain[k] >= liveOutReads || !x.words.live[k] || slices.Contains(reads[:n], k) {
			continue
		}
		for x.state[p.readers[p.last[k]-1]] == issued {
			p.last[k]--
		}
		e := p.last[k] - 1
		if p.readers[e] != i {
			continue
		}
		for e >= p.first[k] && (p.readers[e] == i || x.state[p.readers[e]] == issued) {
			e--
		}
		if e < p.first[k] {
			p.closed = append(p.closed, -1)
		} else {
			p.closed = append(p.closed, p.readers[e])
		}
	}
	return len(p.closed) > 0
}

// closedBy is how many of these words are no longer live after another instruction.
func (p *lookahead) closedBy(j int32) (n int32) {
	for _, r := range p.closed {
		if r <= j {
			n++
		}
	}
	return n
}
