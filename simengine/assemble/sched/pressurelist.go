package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Top-down list scheduling for low register pressure.
//
// Of the instructions whose operands are there, the next is the one that frees the most registers,
// less those it takes; of equals the first in program order. A tile of multiply-adds is used up
// column by column, each load right before its readers. In program order a whole row and a whole
// column wait for each other.
//
// Evidence, ptxas corpus: of clang's matrix products for sm_90, tiles of 64x64 with 8x8 results a
// thread need 102 registers in program order and 95 in this one; ptxas takes 96. Kernels: under a
// cap ptxas spills more than this order would (fat_threads with 64 accumulators: 0.80 times the
// measured time with it, 0.84 without), so that it is not used there.

// ByPressureList reorders every block that needs fewer registers in top-down pressure order. It
// reports whether any block was reordered.
func ByPressureList(f *mir.Func, s *Scratch) (changed bool) {
	if !f.Target.Uses(rules.PressureListOrder) {
		return false
	}
	return reorder(f, s, 0, newPressureList(f).order)
}

// pressureList is an order in the making.
type pressureList struct {
	f *mir.Func
	g *dag
	// By value: instructions of the block that are still to read it, and the sum of their numbers,
	// which names the last one. Values that outlive the block are not counted.
	readers, sum []int32
	ends         []bool  // by value: it dies in the block, or is written anew in it
	waits        []int32 // by instruction: predecessors that have not issued
	frees        []int32 // by instruction: registers it frees, less those it takes
	done         []bool
	ready        priorityQueue
}

func newPressureList(f *mir.Func) *pressureList {
	return &pressureList{f: f, readers: make([]int32, len(f.Values)), sum: make([]int32, len(f.Values)), ends: make([]bool, len(f.Values))}
}

// order returns the instructions of block b in top-down pressure order.
func (o *pressureList) order(b int, g *dag, _ []uint8) []int32 {
	o.begin(b, g)
	out := make([]int32, 0, len(g.insts))
	for len(o.ready) > 0 {
		i, frees := o.ready.pop()
		if o.done[i] || frees != o.frees[i] {
			continue // queued again since, with another priority
		}
		o.take(i)
		out = append(out, i)
	}
	return out
}

// begin sets the state at the start of block b.
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

// eachRead calls do once for each value that an instruction reads and that dies in the block.
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

// take issues an instruction.
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
