package sched

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// bottomUpOrder orders a block from its end: each time the instruction above
// which the fewest registers are live, those that several wait for counting from
// the first of them on, then the one for whose operands the fewest wait that cannot
// go yet, then the last in program order. Loads whose results several sums share so come row by
// row, each used by all sums before the next, where the program goes sum by sum or
// column by column and keeps them all: ptxas orders tiles of filters so
// (1,575 multiply-adds of 405 words in 62 registers for sm_75, where the program's
// order keeps 206).
func bottomUpOrder(g *dag, counted []uint8) []int32 {
	c := newBottomUp(g, counted)
	for i := range g.insts {
		if c.left[i] == 0 {
			c.enter(int32(i))
		}
	}
	out := make([]int32, 0, len(g.insts))
	for len(c.ready) > 0 {
		e := heap.Pop(c).(readyInst)
		if c.done[e.inst] || e.cost != c.cost[e.inst] || e.waiting != c.waiting[e.inst] {
			continue
		}
		c.place(e.inst)
		out = append(out, e.inst)
	}
	slices.Reverse(out)
	return out
}

// readyInst is a ready instruction as it stood when it was pushed.
type readyInst struct{ cost, waiting, inst int32 }

// bottomUp is an order in the making, from the end.
type bottomUp struct {
	g       *dag
	d       *sethiUllman // for what instructions depend on
	left    []int32      // by instruction: those that depend on it, not placed yet
	cost    []int32      // by instruction: registers more live above it than below
	waiting []int32      // by instruction: readers, not ready yet, of the operands it brings to life
	done    []bool
	word    []wordUse
	// The words that each instruction reads and writes, by place in word.
	reads, writes     []int32
	readEnd, writeEnd []int32
	ready             []readyInst
}

// wordUse is a word of a value that takes a register, from where it
// is written to where it is written anew.
type wordUse struct {
	readers []int32
	def     int32 // what writes it; -1: it is live where the block begins
	shared  bool  // what writes it must wait for other readers, too
	free    bool  // what writes it can go right before its only reader, and needs nothing that others do not
	unready int32 // readers that are not ready yet; 0 of a word that most of the block reads
	open    bool
}

func newBottomUp(g *dag, counted []uint8) *bottomUp {
	n := len(g.insts)
	c := &bottomUp{
		g: g, d: newSethiUllman(g), left: make([]int32, n), cost: make([]int32, n), waiting: make([]int32, n), done: make([]bool, n),
		readEnd: make([]int32, n), writeEnd: make([]int32, n), ready: make([]readyInst, 0, n),
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
		if len(w.readers) <= fewReaders {
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
			c.cost[i] -= rootFirst
		}
	}
	return c
}

// Results that nobody reads come first from the end, and what writes a word that
// was taken to cost nothing comes at once: both by more than an instruction costs.
const (
	rootFirst = 1 << 8
	atOnce    = 1 << 9
)

// fewReaders is the most readers of a word that ends inside the block; others,
// addresses most often, are kept through it, whatever the order.
const fewReaders = 64

// findWords lists the words of the block and which instructions read and write them.
func (c *bottomUp) findWords(counted []uint8) {
	now := make([]int32, 4*len(counted)) // by value and word: its place in word, less one
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

// weight is what the word's first reader, from the end, costs.
func (w *wordUse) weight() int32 {
	if w.free {
		return 0
	}
	return 1
}

// readsUnshared says whether an instruction reads a word that no other does.
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
				c.cost[d] -= atOnce
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

// enter makes an instruction ready: those that read what it reads wait for one
// reader less.
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

// update makes the readers of a word cost less and wait for fewer.
func (c *bottomUp) update(w *wordUse, cost, waiting int32) {
	for _, r := range w.readers {
		if !c.done[r] {
			c.cost[r] -= cost
			c.waiting[r] -= waiting
			c.push(r)
		}
	}
}

// push enters an instruction, if it is ready, as it stands now.
func (c *bottomUp) push(i int32) {
	if c.left[i] == 0 && !c.done[i] {
		heap.Push(c, readyInst{c.cost[i], c.waiting[i], i})
	}
}

// Len, Less, Swap, Push and Pop make the ready instructions a heap.
func (c *bottomUp) Len() int { return len(c.ready) }

// Less says which of two ready instructions comes later in the block.
func (c *bottomUp) Less(i, j int) bool {
	a, b := &c.ready[i], &c.ready[j]
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.waiting, b.waiting), cmp.Compare(b.inst, a.inst)) < 0
}

func (c *bottomUp) Swap(i, j int) { c.ready[i], c.ready[j] = c.ready[j], c.ready[i] }

// Push is heap.Interface's.
func (c *bottomUp) Push(x any) { c.ready = append(c.ready, x.(readyInst)) }

// Pop is heap.Interface's.
func (c *bottomUp) Pop() any {
	last := c.ready[len(c.ready)-1]
	c.ready = c.ready[:len(c.ready)-1]
	return last
}
