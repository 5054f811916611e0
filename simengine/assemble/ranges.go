package assemble

import "slices"

// span is a half-open range of program positions; instruction i of the emitted
// order reads at 2i and writes at 2i+1.
type span struct{ from, to int32 }

// liveRange is where a value is live: as a whole, and each of its words, which
// different instructions may write and read last. Spans ascend.
type liveRange struct {
	all  []span
	word [][]span
}

// liveRanges returns the live range of every value. Sources of instructions
// that read them late stay live for linger instructions more.
func (f *fn) liveRanges(linger int32) []liveRange {
	r := rangeBuilder{f: f, spans: make([][]span, 4*len(f.vals)), end: make([]int32, 4*len(f.vals)), cur: make([]uint8, len(f.vals))}
	base := int32(0)
	starts := make([]int32, len(f.order))
	for i, b := range f.order {
		starts[i] = base
		base += 2 * int32(len(f.mblocks[b].insts))
	}
	for oi := len(f.order) - 1; oi >= 0; oi-- {
		r.block(f.order[oi], starts[oi], linger)
	}
	out := make([]liveRange, len(f.vals))
	for v := range out {
		out[v] = r.finish(v)
	}
	return out
}

// rangeBuilder collects spans, last first.
type rangeBuilder struct {
	f     *fn
	spans [][]span // by word of a value
	end   []int32  // where the live span being followed ends
	cur   []uint8  // words live now
}

// block walks one block backwards from its end.
func (r *rangeBuilder) block(b int, first, linger int32) {
	insts := r.f.mblocks[b].insts
	last := first + 2*int32(len(insts))
	copy(r.cur, r.f.live.out[b])
	for v, m := range r.cur {
		for w := 0; m != 0; w, m = w+1, m>>1 {
			r.end[4*v+w] = last
		}
	}
	for j := len(insts) - 1; j >= 0; j-- {
		in := &insts[j]
		at := first + 2*int32(j)
		if !in.keeps {
			r.write(in, at)
		}
		to := at + 1
		if in.holdsSources() {
			to = min(to+2*linger, last)
		}
		in.reads(func(v value, m uint8) {
			for w := 0; w < 4; w++ {
				if m&^r.cur[v]&(1<<w) != 0 {
					r.end[4*int(v)+w] = to
				}
			}
			r.cur[v] |= m
		})
	}
	for v, m := range r.cur {
		for w := 0; m != 0; w, m = w+1, m>>1 {
			if m&1 != 0 {
				r.spans[4*v+w] = append(r.spans[4*v+w], span{first, r.end[4*v+w]})
			}
		}
		r.cur[v] = 0
	}
}

// write ends the spans of what an instruction at a position writes.
func (r *rangeBuilder) write(in *inst, at int32) {
	for i := range in.dst {
		a := &in.dst[i]
		if a.kind != argValue {
			continue
		}
		for w := a.w; w < a.w+a.n; w++ {
			u := 4*int(a.v) + int(w)
			s := span{at + 1, at + 2}
			if r.cur[a.v]&(1<<w) != 0 {
				s.to = r.end[u]
			}
			r.spans[u] = append(r.spans[u], s)
		}
		r.cur[a.v] &^= a.wordMask()
	}
}

// finish returns the range of one value.
func (r *rangeBuilder) finish(v int) liveRange {
	n := int(r.f.vals[v].words)
	l := liveRange{word: r.spans[4*v : 4*v+n : 4*v+n]}
	for w := range l.word {
		slices.Reverse(l.word[w])
		l.word[w] = mergeSpans(l.word[w])
	}
	if n == 1 {
		l.all = l.word[0]
		return l
	}
	for _, s := range l.word {
		l.all = append(l.all, s...)
	}
	slices.SortFunc(l.all, func(a, b span) int { return int(a.from - b.from) })
	l.all = mergeSpans(l.all)
	return l
}

// holdsSources says whether an instruction reads its sources some time after
// it issues, so that writing one of them soon would have to wait.
func (in *inst) holdsSources() bool {
	switch mops[in.op].class {
	case MUFU, XU, Store:
		return true
	}
	return false
}

// lingerCycles is for how many instructions a register that such an
// instruction read last is not given away while there are others. Chosen to
// match the registers of unrolled sin/cos loops on sm_90.
const lingerCycles = 6

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
