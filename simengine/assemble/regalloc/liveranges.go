package regalloc

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Live ranges as spans of program positions. Instruction i of the laid-out program reads at
// position 2i and writes at 2i+1:
//
//	position   0 1 2 3 4 5
//	i=0 writes   [           a: [1,5)
//	i=1            . .
//	i=2 reads          ]     a may share its register with the result of i=2

// span is a half-open range of program positions.
type span struct{ from, to int32 }

// liveRange is where a value is live, as a whole and word by word. Spans ascend.
type liveRange struct {
	all  []span
	word [4][]span
	n    uint8 // number of words
}

// words returns the spans of each word.
func (l *liveRange) words() [][]span { return l.word[:l.n] }

// liveRanges returns the live range of every value. Sources of late readers stay live for linger
// instructions more. The next call overwrites the result.
func (l *Allocator) liveRanges(linger int32) []liveRange {
	f := l.f
	r := &l.s.ranges
	r.reset(f)
	first := int32(l.Positions())
	for oi := len(f.Order) - 1; oi >= 0; oi-- {
		b := &l.Blocks[f.Order[oi]]
		first -= 2 * int32(len(b.Ops.Flags))
		r.block(b, f.Live.Out[f.Order[oi]], first, linger)
	}
	if n := 2 * len(r.pool); cap(r.slab) < n { // must not grow below, since ranges are slices of it
		r.slab = make([]span, 0, n+n/4)
	}
	if n := len(f.Values); cap(r.out) < n {
		r.out = make([]liveRange, n+n/8)
	}
	slab, out := r.slab[:0], r.out[:len(f.Values)]
	clear(out)
	for v := range out {
		slab = r.finish(v, &out[v], slab)
	}
	return out
}

// rangeBuilder collects spans, the last of a word first.
type rangeBuilder struct {
	vals []vreg.Info
	head []int32 // by unit: its first span in pool, -1 none
	pool []listedSpan
	end  []int32 // by unit: end of the span being followed
	cur  []uint8 // by value: words live now
	slab []span  // backing store of the ranges returned last
	out  []liveRange
}

// listedSpan is a span and the index of the one after it, -1 none.
type listedSpan struct {
	span
	next int32
}

// reset empties the builder for a function.
func (r *rangeBuilder) reset(f *mir.Func) {
	n := len(f.Values)
	if cap(r.cur) < n {
		most := n + n/8
		r.head, r.end, r.cur = make([]int32, 4*most), make([]int32, 4*most), make([]uint8, most)
	}
	r.vals, r.pool, r.head, r.end, r.cur = f.Values, r.pool[:0], r.head[:4*n], r.end[:4*n], r.cur[:n]
	for i := range r.head {
		r.head[i] = -1
	}
}

// add puts a span in front of those of a unit.
func (r *rangeBuilder) add(u int, s span) {
	r.pool = append(r.pool, listedSpan{s, r.head[u]})
	r.head[u] = int32(len(r.pool) - 1)
}

// block walks a block backwards from its end, where out is live. first is its first position.
func (r *rangeBuilder) block(b *mir.LaidOutBlock, out []uint8, first, linger int32) {
	n := len(b.Ops.Flags)
	last := first + 2*int32(n)
	copy(r.cur, out)
	mir.EachLive(r.cur, func(v int, m uint8) {
		for w := 0; m != 0; w, m = w+1, m>>1 {
			r.end[4*v+w] = last
		}
	})
	for j := n - 1; j >= 0; j-- {
		i := b.At(j)
		at := first + 2*int32(j)
		if b.Ops.Flags[i]&mir.KeepsOld == 0 {
			r.write(b.Ops.Writes(i), at)
		}
		to := at + 1
		if b.Ops.Flags[i]&mir.ReadsLate != 0 {
			to = min(to+2*linger, last)
		}
		for _, u := range b.Ops.Reads(i) {
			for m, w := u.Mask&^r.cur[u.Value], 0; m != 0; w, m = w+1, m>>1 {
				if m&1 != 0 {
					r.end[4*int(u.Value)+w] = to
				}
			}
			r.cur[u.Value] |= u.Mask
		}
	}
	mir.EachLive(r.cur, func(v int, m uint8) {
		for w := 0; m != 0; w, m = w+1, m>>1 {
			if m&1 != 0 {
				r.add(4*v+w, span{first, r.end[4*v+w]})
			}
		}
		r.cur[v] = 0
	})
}

// write ends the spans of the words that an instruction writes.
func (r *rangeBuilder) write(defs []mir.Operand, at int32) {
	for _, d := range defs {
		for m, w := d.Mask, 0; m != 0; w, m = w+1, m>>1 {
			if m&1 == 0 {
				continue
			}
			u := 4*int(d.Value) + w
			s := span{at + 1, at + 2}
			if r.cur[d.Value]&(1<<w) != 0 {
				s.to = r.end[u]
			}
			r.add(u, s)
		}
		r.cur[d.Value] &^= d.Mask
	}
}

// finish fills the range of one value. It appends the spans to slab and returns it.
func (r *rangeBuilder) finish(v int, l *liveRange, slab []span) []span {
	l.n = r.vals[v].Words
	for w := range int(l.n) {
		from := len(slab)
		for i := r.head[4*v+w]; i >= 0; i = r.pool[i].next {
			slab = append(slab, r.pool[i].span)
		}
		l.word[w] = mergeSpans(slab[from:])
		slab = slab[:from+len(l.word[w])]
	}
	if l.n == 1 {
		l.all = l.word[0]
		return slab
	}
	from := len(slab)
	for w := range int(l.n) {
		slab = append(slab, l.word[w]...)
	}
	slices.SortFunc(slab[from:], func(a, b span) int { return int(a.from - b.from) })
	l.all = mergeSpans(slab[from:])
	return slab[:from+len(l.all)]
}

// lateReadInsts is how many instructions more the source of a late reader (see mir.ReadsLate) keeps
// its register while there are others. Chosen so that unrolled loops of sines and cosines take the
// registers that ptxas gives them (ptxas corpus, sm_90).
const lateReadInsts = 6

// mergeSpans joins spans that touch.
func mergeSpans(r []span) []span {
	out := r[:0]
	for _, s := range r {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}
