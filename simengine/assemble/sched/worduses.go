package sched

import (
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Words and their readers, as the list scheduler counts them. A word lives from its write to its
// last read. Each write starts a new word.

// wordUses lists the words that the instructions of a block read and write.
type wordUses struct {
	reads, writes     []int32 // indices of words, instruction by instruction
	readEnd, writeEnd []int32
	gain              []int16   // by instruction: words it writes
	least             []int16   // by instruction: least growth of the live registers; no bound if it writes none
	start             wordState // state at the start of the block
}

// wordState is the state of the words part way through an order.
type wordState struct {
	live   []bool
	remain []int32 // by word: reads to come
	sum    []int64 // by word: sum of the numbers of the instructions that are to read it
	delta  []int16 // by instruction: growth of the live registers if it issued now
}

// liveOutReads is the number of reads that being live at the block's end counts for.
const liveOutReads = 1 << 24

// set copies y to x.
func (x *wordState) set(y *wordState) {
	x.live, x.remain = append(x.live[:0], y.live...), append(x.remain[:0], y.remain...)
	x.sum, x.delta = append(x.sum[:0], y.sum...), append(x.delta[:0], y.delta...)
}

// findWordUses collects the words of block b.
func findWordUses(f *mir.Func, b int, g *dag, s *Scratch) *wordUses {
	n := len(g.insts)
	small, ends := make([]int16, 3*n), make([]int32, 2*n)
	x := &wordUses{readEnd: ends[:n], writeEnd: ends[n:], gain: small[:n], least: small[n : 2*n]}
	x.reads, x.writes = make([]int32, 0, len(g.ops.Uses)), make([]int32, 0, len(g.ops.Defs))
	x.start.delta = small[2*n:]
	in, out := f.Live.In[b], f.Live.Out[b]
	st := &x.start
	var units []int32
	list := func(to []int32, ops []mir.Operand, written bool) []int32 {
		for _, o := range ops {
			for u, m := 4*int32(o.Value), o.Mask&s.general[o.Value]; m != 0; u, m = u+1, m>>1 {
				if m&1 == 0 {
					continue
				}
				if s.number[u] == 0 || written {
					st.live = append(st.live, s.number[u] == 0 && in[u/4]>>(u%4)&1 != 0)
					units = append(units, u)
					s.number[u] = int32(len(units))
				}
				to = append(to, s.number[u]-1)
			}
		}
		return to
	}
	for i := range int32(n) {
		x.reads = list(x.reads, g.ops.Reads(i), false)
		x.writes = list(x.writes, g.ops.Writes(i), true)
		x.readEnd[i], x.writeEnd[i] = int32(len(x.reads)), int32(len(x.writes))
		x.gain[i], x.least[i] = int16(len(part(x.writes, x.writeEnd, i))), math.MinInt16
		if x.gain[i] > 0 {
			x.least[i] = x.gain[i] - int16(len(part(x.reads, x.readEnd, i))) // it frees at most what it reads
		}
	}
	st.remain, st.sum = make([]int32, len(units)), make([]int64, len(units))
	for k, u := range slices.Backward(units) {
		if s.number[u] != 0 { // the last definition of the word
			s.number[u] = 0
			st.remain[k] = int32(out[u/4]>>(u%4)&1) * liveOutReads
		}
	}
	for i := range int32(n) {
		for _, k := range part(x.reads, x.readEnd, i) {
			st.remain[k]++
			st.sum[k] += int64(i)
		}
	}
	for i := range int32(n) {
		st.delta[i] = x.deltaAt(i, st)
	}
	return x
}

// deltaAt is the growth of the live registers if instruction i issued in a state.
func (x *wordUses) deltaAt(i int32, st *wordState) int16 {
	d := int16(0)
	for _, k := range part(x.writes, x.writeEnd, i) {
		if !st.live[k] && st.remain[k] > 0 {
			d++
		}
	}
	reads := part(x.reads, x.readEnd, i)
	for n, k := range reads {
		if st.live[k] && !slices.Contains(reads[:n], k) && x.lastReader(k, st) == i {
			d--
		}
	}
	return d
}

// lastReader is the only instruction that is still to read word k, -1 if there are several or none.
func (x *wordUses) lastReader(k int32, st *wordState) int32 {
	n := st.remain[k]
	if n == 1 {
		return int32(st.sum[k])
	}
	if n == 0 || n > 8 || st.sum[k]%int64(n) != 0 {
		return -1
	}
	i := int32(st.sum[k] / int64(n))
	for _, r := range part(x.reads, x.readEnd, i) {
		if r == k {
			n--
		}
	}
	if n != 0 {
		return -1
	}
	return i
}

// part is instruction i's part of a list; end holds the end of each part.
func part(list, end []int32, i int32) []int32 {
	if i == 0 {
		return list[:end[0]]
	}
	return list[end[i-1]:end[i]]
}
