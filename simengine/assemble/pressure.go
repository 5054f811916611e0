package assemble

// generalMask are the words of a value that take general registers.
func (f *mfn) generalMask(v value) uint8 {
	if f.vals[v].file != fileGeneral {
		return 0
	}
	return 1<<f.vals[v].words - 1
}

// generalWords is the number of general registers a value takes.
func (f *mfn) generalWords(v value) int { return int(wordCount[f.generalMask(v)]) }

// wordCount is the number of words in a mask.
var wordCount = func() (n [256]int8) {
	for m := range n {
		n[m] = n[m/2] + int8(m&1)
	}
	return n
}()

// pressure returns the largest number of general registers live at any point.
func (f *mfn) pressure() int {
	most := 0
	cur := make([]uint8, len(f.vals))
	for _, b := range f.order {
		most = max(most, f.blockPressure(b, cur, f.blocks[b].insts))
	}
	return most
}

// blockPressure is the largest number of live general registers inside a block
// whose instructions are insts; cur is scratch of one byte a value.
func (f *mfn) blockPressure(b int, cur []uint8, insts []inst) int {
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
func (f *mfn) stepCount(in *inst, live []uint8) int {
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
