package sched

import (
	"cmp"
	"container/heap"
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
func bottomUpOrder(g *dag, counted []uint8) []int32 {
	c := newBottomUp(g, counted)
	for i := range g.insts {
		if c.left[i] == 0 {
			c.enter(int32(i))
		}
	}
	out := make([]int32, 0, len(g.insts))
	for len(c.ready) > 0 {
		e := heap.Pop(c).(candidate)
		if c.done[e.inst] || e.cost != c.cost[e.inst] || e.waiting != c.waiting[e.inst] {
			continue
		}
		c.place(e.inst)
		out = append(out, e.inst)
	}
	slices.Reverse(out)
	return out
}

// candidate is a ready instruction with the priority it had when it was pushed.
type candidate struct{ cost, waiting, inst int32 }

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
	ready             []candidate
}

// wordUse is one definition of a word that takes a register, with its readers.
type wordUse struct {
	readers []int32
	def     int32 // instruction that writes it; -1: it is live at the start of the block
	shared  bool  // its definition has several readers
	free    bool  // its definition can stand right before its only reader and reads shared words only
	unready int32 // readers that are not ready yet; 0 for a word with more than mostReaders readers
	open    bool  // a reader has been placed: it is live above
}

func newBottomUp(g *dag, counted []uint8) *bottomUp {
	n := len(g.insts)
	c := &bottomUp{
		g: g, d: newSethiUllman(g), left: make([]int32, n), cost: make([]int32, n), waiting: make([]int32, n), done: make([]bool, n),
		readEnd: make([]int32, n), writeEnd: make([]int32, n), ready: make([]candidate, 0, n),
	}
	c.findWords(counted)
	readers := make([]int, n) // of an instruction's results
	for k := range c.word {
		if w := &c.word[k]; w.def >= 0 {
			readers[w.def] += len(w.readers)
		}
	}
	for k := range c.word {
		w := &c.word[k]
		w.shared = w.def < 0 || readers[w.def] > 1
	}
	for k := range c.word {
		w := &c.word[k]
		w.free = !w.shared && !c.readsUnshared(w.def)
		if len(w.readers) <= mostReaders {
			w.unready = int32(len(w.readers))
		}
		for _, r := range w.readers {
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

// findWords lists the definitions of words in the block with their readers.
func (c *bottomUp) findWords(counted []uint8) {
	now := make([]int32, 4*len(counted)) // by word of a value: index of its definition in word plus one, 0 none
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
				c.word = append(c.word, wordUse{def: -1})
				now[unit] = int32(len(c.word))
			}
			k := now[unit] - 1
			if !slices.Contains(c.reads[from:], k) {
				c.reads = append(c.reads, k)
				c.word[k].readers = append(c.word[k].readers, i)
			}
		})
		each(c.g.ops.Writes(i), func(unit int32) {
			c.word = append(c.word, wordUse{def: i})
			now[unit] = int32(len(c.word))
			c.writes = append(c.writes, now[unit]-1)
		})
		c.readEnd[i], c.writeEnd[i] = int32(len(c.reads)), int32(len(c.writes))
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
	for _, r := range w.readers {
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
		heap.Push(c, candidate{c.cost[i], c.waiting[i], i})
	}
}

// Len is part of heap.Interface.
func (c *bottomUp) Len() int { return len(c.ready) }

// Less reports whether candidate i is placed before candidate j: later in the block.
func (c *bottomUp) Less(i, j int) bool {
	a, b := &c.ready[i], &c.ready[j]
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.waiting, b.waiting), cmp.Compare(b.inst, a.inst)) < 0
}

func (c *bottomUp) Swap(i, j int) { c.ready[i], c.ready[j] = c.ready[j], c.ready[i] }

// Push is heap.Interface's.
func (c *bottomUp) Push(x any) { c.ready = append(c.ready, x.(candidate)) }

// Pop is heap.Interface's.
func (c *bottomUp) Pop() any {
	last := c.ready[len(c.ready)-1]
	c.ready = c.ready[:len(c.ready)-1]
	return last
}
