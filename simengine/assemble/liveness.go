package assemble

import "bytes"

// liveness holds, for each block, the words of every value that are live at
// its entry and exit: bit w of in[b][v] is word w of v.
type liveness struct {
	in, out [][]uint8
}

// wordMask is the set of words an operand covers.
func (a *arg) wordMask() uint8 { return (1<<a.n - 1) << a.w }

// reads calls f for every value operand an instruction reads.
func (in *inst) reads(f func(v value, mask uint8)) {
	for i := range in.src[:in.nsrc] {
		if a := &in.src[i]; a.kind == argValue {
			f(a.v, a.wordMask())
		}
	}
	if in.guard != noValue {
		f(in.guard, 1)
	}
	if in.keeps {
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				f(a.v, a.wordMask())
			}
		}
	}
}

// step moves a live set backwards over one instruction.
func (in *inst) step(live []uint8) {
	if !in.keeps {
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				live[a.v] &^= a.wordMask()
			}
		}
	}
	for i := range in.src[:in.nsrc] {
		if a := &in.src[i]; a.kind == argValue {
			live[a.v] |= a.wordMask()
		}
	}
	if in.guard != noValue {
		live[in.guard] |= 1
	}
	if in.keeps {
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				live[a.v] |= a.wordMask()
			}
		}
	}
}

// findLiveness solves the data flow equations over the machine blocks.
func (f *fn) findLiveness() error {
	n := len(f.vals)
	store := make([]uint8, 2*n*len(f.mblocks)+n)
	take := func() []uint8 {
		s := store[:n:n]
		store = store[n:]
		return s
	}
	f.live = liveness{in: make([][]uint8, len(f.mblocks)), out: make([][]uint8, len(f.mblocks))}
	for _, b := range f.order {
		f.live.in[b], f.live.out[b] = take(), take()
	}
	cur := take()
	known := make([]bool, len(f.mblocks)) // by what is known of the blocks that follow
	for changed := true; changed; {
		changed = false
		for i := len(f.order) - 1; i >= 0; i-- {
			b := f.order[i]
			if known[b] {
				continue
			}
			known[b] = true
			out := f.live.out[b]
			for _, s := range f.blocks[b].succs {
				for v, m := range f.live.in[s] {
					out[v] |= m
				}
			}
			copy(cur, out)
			insts := f.mblocks[b].insts
			for j := len(insts) - 1; j >= 0; j-- {
				insts[j].step(cur)
			}
			if bytes.Equal(f.live.in[b], cur) {
				continue
			}
			copy(f.live.in[b], cur)
			for _, p := range f.blocks[b].preds {
				known[p], changed = false, true
			}
		}
	}
	return nil
}

// generalMask are the words of a value that take general registers.
func (f *fn) generalMask(v value) uint8 {
	if f.vals[v].file != fileGeneral {
		return 0
	}
	return 1<<f.vals[v].words - 1
}

// generalWords is the number of general registers a value takes.
func (f *fn) generalWords(v value) int { return int(wordCount[f.generalMask(v)]) }

// wordCount is the number of words in a mask.
var wordCount = func() (n [256]int8) {
	for m := range n {
		n[m] = n[m/2] + int8(m&1)
	}
	return n
}()

// pressure returns the largest number of general registers live at any point.
func (f *fn) pressure() int {
	most := 0
	cur := make([]uint8, len(f.vals))
	for _, b := range f.order {
		most = max(most, f.blockPressure(b, cur, f.mblocks[b].insts))
	}
	return most
}

// blockPressure is the largest number of live general registers inside a block
// whose instructions are insts; cur is scratch of one byte a value.
func (f *fn) blockPressure(b int, cur []uint8, insts []inst) int {
	copy(cur, f.live.out[b])
	n := 0
	for v, m := range cur {
		n += int(wordCount[m&f.generalMask(value(v))])
	}
	most := n
	for j := len(insts) - 1; j >= 0; j-- {
		in := &insts[j]
		// A result nobody reads still needs its register at its definition.
		at := n
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				at += int(wordCount[a.wordMask()&^cur[a.v]&f.generalMask(a.v)])
			}
		}
		most = max(most, at)
		n += f.stepCount(in, cur)
		most = max(most, n)
	}
	return most
}

// stepCount is step, returning by how much the number of live general
// registers changed.
func (f *fn) stepCount(in *inst, live []uint8) int {
	d := 0
	if !in.keeps {
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				d -= int(wordCount[a.wordMask()&live[a.v]&f.generalMask(a.v)])
				live[a.v] &^= a.wordMask()
			}
		}
	}
	add := func(v value, m uint8) {
		d += int(wordCount[m&^live[v]&f.generalMask(v)])
		live[v] |= m
	}
	in.reads(add)
	return d
}
