package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Bottom-up list scheduling for low register pressure.
//
// The block is ordered from its last instruction to its first. At each step the ready instructions
// are those whose users have all been placed. The one placed next is, in this order:
//
// - the one that leaves the fewest registers live above it;
// - the one whose operands have the fewest other readers that are not ready yet;
// - the last in program order.
//
// This is the reverse of the usual list scheduler (Gibbons and Muchnick, "Efficient Instruction
// Scheduling for a Pipelined Architecture", 1986) with register pressure for a priority, as in
// LLVM's "list-burr". It differs in one point. An operand that several instructions read costs its
// register only at the first of them that is placed; the others then come at no cost. So the
// readers of one loaded word end up next to each other:
//
//	program order            bottom-up order
//	s0 += a0*w0              s0 += a0*w0
//	s0 += a1*w1              s0 += a1*w1, s1 += a1*w0
//	s1 += a1*w0              s1 += a2*w1
//	s1 += a2*w1
//	a1 waits for both rows   a1 is used up at once
//
// Evidence, ptxas corpus: 1,575 multiply-adds of 405 shared words take 62 registers for sm_75; the
// program's order keeps 206 live.

// bottomUpOrder returns the instructions of a block in bottom-up order. counted says, by value,
// which of its words take a register.
func bottomUpOrder(g *dag, counted []uint8, s *Scratch) []int32 {
	c := newBottomUp(g, counted, s)
	for i := range g.insts {
		if c.left[i] == 0 {
			c.enter(int32(i))
		}
	}
	out := make([]int32, 0, len(g.insts))
	for len(c.ready) > 0 {
		e := c.ready.pop()
		if c.done[e.inst] || e.cost != c.cost[e.inst] || e.waiting != c.waiting[e.inst] {
			continue
		}
		c.place(e.inst)
		out = append(out, e.inst)
	}
	slices.Reverse(out)
	return out
}

// bottomUp is an order in the making, from the end of the block.
type bottomUp struct {
	g       *dag
	d       *sethiUllman // predecessors
	left    []int32      // by instruction: users not placed yet
	cost    []int32      // by instruction: live registers above it, less those below it
	waiting []int32      // by instruction: readers of its operands that are not ready yet
	done    []bool
	word    []wordUse
	// The words that each instruction reads and writes, as indices in word.
	reads, writes     []int32
	readEnd, writeEnd []int32
	readers           []int32 // of the words, one after the other
	ready             candidates
}

// wordUse is one definition of a word that takes a register, with its readers.
type wordUse struct {
	unit    int32 // number of the word, by value
	first   int32 // of its readers, in bottomUp.readers
	end     int32 // of them
	def     int32 // instruction that writes it; -1: it is live at the start of the block
	shared  bool  // its definition has several readers
	free    bool  // its definition can stand right before its only reader and reads shared words only
	unready int32 // readers that are not ready yet; 0 for a word with more than mostReaders readers
	open    bool  // a reader has been placed: it is live above
}

func newBottomUp(g *dag, counted []uint8, s *Scratch) *bottomUp {
	n := len(g.insts)
	c := &bottomUp{
		g: g, d: newSethiUllman(g), left: make([]int32, n), cost: make([]int32, n), waiting: make([]int32, n), done: make([]bool, n),
		readEnd: make([]int32, n), writeEnd: make([]int32, n), ready: make(candidates, 0, n),
	}
	c.findWords(counted, s)
	c.findReaders()
	readers := make([]int32, n) // of an instruction's results
	for k := range c.word {
		if w := &c.word[k]; w.def >= 0 {
			readers[w.def] += w.end - w.first
		}
	}
	for k := range c.word {
		w := &c.word[k]
		w.shared = w.def < 0 || readers[w.def] > 1
	}
	for k := range c.word {
		w := &c.word[k]
		w.free = !w.shared && !c.readsUnshared(w.def)
		if w.end-w.first <= mostReaders {
			w.unready = w.end - w.first
		}
		for _, r := range c.readers[w.first:w.end] {
			c.cost[r] += w.weight()
			c.waiting[r] += w.unready
		}
	}
	for i := range int32(n) {
		for k := g.head[i]; k >= 0; k = g.edges[k].next {
			c.left[i]++
		}
		if !hasReader(g, i) {
			c.cost[i] -= unreadFirst
		}
	}
	return c
}

// Bonuses that outweigh any difference in registers: for an instruction whose result the block does
// not read, and for the definition of a free word once its reader is placed.
const (
	unreadFirst = 1 << 8
	immediately = 1 << 9
)

// mostReaders is the most readers that a word is followed for. Words with more, mostly addresses,
// are live through the block in any order.
const mostReaders = 64

// findWords lists the definitions of words in the block, and which of them instructions read and write.
func (c *bottomUp) findWords(counted []uint8, s *Scratch) {
	now := s.number // by word of a value: index of its definition in word plus one, 0 none
	c.word, c.reads, c.writes = make([]wordUse, 0, len(c.g.ops.Defs)+len(c.g.insts)/4), make([]int32, 0, len(c.g.ops.Uses)), make([]int32, 0, len(c.g.ops.Defs))
	each := func(list []mir.Operand, f func(unit int32)) {
		for _, u := range list {
			for unit, m := 4*int32(u.Value), u.Mask&counted[u.Value]; m != 0; unit, m = unit+1, m>>1 {
				if m&1 != 0 {
					f(unit)
				}
			}
		}
	}
	for i := range int32(len(c.g.insts)) {
		from := len(c.reads)
		each(c.g.ops.Reads(i), func(unit int32) {
			if now[unit] == 0 {
				c.word = append(c.word, wordUse{unit: unit, def: -1})
				now[unit] = int32(len(c.word))
			}
			k := now[unit] - 1
			if !slices.Contains(c.reads[from:], k) {
				c.reads = append(c.reads, k)
				c.word[k].end++
			}
		})
		each(c.g.ops.Writes(i), func(unit int32) {
			c.word = append(c.word, wordUse{unit: unit, def: i})
			now[unit] = int32(len(c.word))
			c.writes = append(c.writes, now[unit]-1)
		})
		c.readEnd[i], c.writeEnd[i] = int32(len(c.reads)), int32(len(c.writes))
	}
	for k := range c.word {
		now[c.word[k].unit] = 0
	}
}

// findReaders lists the readers of words, of which end is how many there are.
func (c *bottomUp) findReaders() {
	c.readers = make([]int32, len(c.reads))
	sum := int32(0)
	for k := range c.word {
		w := &c.word[k]
		n := w.end
		w.first, w.end = sum, sum
		sum += n
	}
	for i := range int32(len(c.g.insts)) {
		for _, k := range part(c.reads, c.readEnd, i) {
			w := &c.word[k]
			c.readers[w.end] = i
			w.end++
		}
	}
}

// weight is the registers that placing the word's first reader adds.
func (w *wordUse) weight() int32 {
	if w.free {
		return 0
	}
	return 1
}

// readsUnshared reports whether an instruction reads a word that no other instruction reads.
func (c *bottomUp) readsUnshared(i int32) bool {
	return slices.ContainsFunc(part(c.reads, c.readEnd, i), func(k int32) bool { return !c.word[k].shared })
}

// place puts an instruction before all that were placed.
func (c *bottomUp) place(i int32) {
	c.done[i] = true
	for _, k := range part(c.reads, c.readEnd, i) {
		w := &c.word[k]
		if w.open {
			continue
		}
		w.open = true
		c.update(w, w.weight(), w.unready)
		if d := w.def; d >= 0 && !c.done[d] {
			c.cost[d]--
			if w.free {
				c.cost[d] -= immediately
			}
			c.push(d)
		}
	}
	for _, p := range c.d.predsOf(i) {
		if c.left[p]--; c.left[p] == 0 {
			c.enter(p)
		}
	}
}

// enter makes an instruction ready.
func (c *bottomUp) enter(i int32) {
	for _, k := range part(c.reads, c.readEnd, i) {
		if w := &c.word[k]; w.unready > 0 {
			w.unready--
			if !w.open {
				c.update(w, 0, 1)
			}
		}
	}
	c.push(i)
}

// update lowers the cost and the waiting readers of all readers of a word.
func (c *bottomUp) update(w *wordUse, cost, waiting int32) {
	for _, r := range c.readers[w.first:w.end] {
		if !c.done[r] {
			c.cost[r] -= cost
			c.waiting[r] -= waiting
			c.push(r)
		}
	}
}

// push queues an instruction with its present priority, if it is ready.
func (c *bottomUp) push(i int32) {
	if c.left[i] == 0 && !c.done[i] {
		c.ready.push(candidate{c.cost[i], c.waiting[i], i})
	}
}
