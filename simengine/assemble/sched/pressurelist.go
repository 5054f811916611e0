package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// ByPressureList puts every block into the order by thrift if that needs fewer registers
// than the one it has. Under a cap it is not done: ptxas spills more there than
// this order would leave to spill (fat_threads with 64 accumulators: 0.84 times
// the measured time without it, 0.80 with).
func ByPressureList(f *mir.Func, s *Scratch) (changed bool) {
	return reorder(f, s, 0, newPressureList(f).order)
}

// pressureList orders blocks so that registers come free: of the instructions whose
// operands are there, next comes the one that frees most, less those it takes,
// and of equals the first of the program. A tile of products is used up column by
// column that way, each load just before what reads it, where the program's
// order and the order of demand have a whole row and a whole column wait for each
// other. ptxas does so, too: of clang's matrix products for sm_90 the one with
// tiles of 64x64 and 8x8 results a thread needs 102 registers in the program's
// order and 95 in this, and gets 96.
type pressureList struct {
	f *mir.Func
	g *dag
	// readers is, by value, how many instructions of the block are still to read
	// it, and sum what their numbers add up to: which is the last. Values that
	// outlive the block have none.
	readers, sum []int32
	ends         []bool  // by value: the block does not keep it for others as it is
	waits        []int32 // predecessors of each instruction that are still to come
	frees        []int32 // registers each instruction frees, less those it takes
	done         []bool
	ready        priorityQueue
}

func newPressureList(f *mir.Func) *pressureList {
	return &pressureList{f: f, readers: make([]int32, len(f.Values)), sum: make([]int32, len(f.Values)), ends: make([]bool, len(f.Values))}
}

// order is the order by thrift of a block.
func (o *pressureList) order(b int, g *dag, _ []uint8) []int32 {
	o.begin(b, g)
	out := make([]int32, 0, len(g.insts))
	for len(o.ready) > 0 {
		i, frees := o.ready.pop()
		if o.done[i] || frees != o.frees[i] {
			continue // it is there again with what it frees by now
		}
		o.take(i)
		out = append(out, i)
	}
	return out
}

func (o *pressureList) begin(b int, g *dag) {
	n := len(g.insts)
	o.g, o.ready = g, o.ready[:0]
	o.waits, o.frees, o.done = make([]int32, n), make([]int32, n), make([]bool, n)
	for _, u := range g.ops.Uses {
		o.readers[u.Value], o.sum[u.Value], o.ends[u.Value] = 0, 0, o.f.Live.Out[b][u.Value] == 0
	}
	for _, e := range g.edges {
		o.waits[e.to]++
	}
	for i := range int32(n) {
		for _, d := range g.ops.Writes(i) {
			o.frees[i] -= int32(mir.WordCount[d.Mask&o.f.GeneralMask(d.Value)])
			o.ends[d.Value] = true // written anew
		}
	}
	for i := range int32(n) {
		o.eachRead(i, func(v vreg.Value) {
			o.readers[v]++
			o.sum[v] += i
		})
	}
	for i := range int32(n) {
		o.eachRead(i, func(v vreg.Value) {
			if o.readers[v] == 1 {
				o.frees[i] += int32(o.f.GeneralWords(v))
			}
		})
	}
	for i := range int32(n) {
		if o.waits[i] == 0 {
			o.ready.push(i, o.frees[i])
		}
	}
}

// eachRead calls do once for each value that an instruction reads and the block
// does not keep.
func (o *pressureList) eachRead(i int32, do func(vreg.Value)) {
	reads := o.g.ops.Reads(i)
	for k, u := range reads {
		again := !o.ends[u.Value]
		for _, earlier := range reads[:k] {
			again = again || earlier.Value == u.Value
		}
		if !again {
			do(u.Value)
		}
	}
}

// take puts an instruction next.
func (o *pressureList) take(i int32) {
	o.done[i] = true
	o.eachRead(i, func(v vreg.Value) {
		o.readers[v]--
		o.sum[v] -= i
		if last := o.sum[v]; o.readers[v] == 1 {
			o.frees[last] += int32(o.f.GeneralWords(v))
			if o.waits[last] == 0 {
				o.ready.push(last, o.frees[last])
			}
		}
	})
	for k := o.g.head[i]; k >= 0; k = o.g.edges[k].next {
		to := o.g.edges[k].to
		if o.waits[to]--; o.waits[to] == 0 {
			o.ready.push(to, o.frees[to])
		}
	}
}
