package assemble

// pairZeros makes one instruction of two that zero the halves of an aligned pair of
// registers (CS2R from SRZ: 22 of the machine code of validation/fifth depthwise, for
// vectors of two that loads under a condition may leave untouched), if nothing between
// them reads or writes the later one's half.
func (f *mfn) pairZeros() error {
	first := map[int16]int{} // zeroing instructions of a block by register
	for _, b := range f.order {
		insts := f.blocks[b].insts
		gone := 0
		clear(first)
		for j := range insts {
			in := &insts[j]
			r, zeroes := f.zeroes(in)
			if i, ok := first[r^1]; zeroes && ok && insts[i].guard == in.guard && insts[i].gnot == in.gnot {
				low, high := insts[i].dst[0], in.dst[0]
				if r&1 == 0 {
					low, high = high, low
				}
				insts[i].op, insts[i].dst[0], insts[i].dst[1] = opCS2R, low, high
				in.op = opInvalid
				gone++
				delete(first, r^1)
				continue
			}
			f.forget(first, in)
			if zeroes {
				first[r] = j
			}
		}
		if gone > 0 {
			f.blocks[b].insts = without(insts, gone)
		}
	}
	return nil
}

// zeroes says whether an instruction does nothing but zero one general register.
func (f *mfn) zeroes(in *inst) (register int16, ok bool) {
	d := in.dst[0]
	if in.op != opMOV || in.nsrc != 1 || in.src[0].kind != argZero || in.keeps || d.kind != argValue || d.n != 1 || f.vals[d.v].file != fileGeneral || f.regs[d.v] < 0 {
		return -1, false
	}
	return f.regs[d.v] + int16(d.w), true
}

// forget drops the zeroing instructions into whose pair another half can no longer be
// taken, since an instruction reads or writes that.
func (f *mfn) forget(first map[int16]int, in *inst) {
	if len(first) == 0 {
		return
	}
	drop := func(a *arg) {
		if a.kind != argValue || f.vals[a.v].file != fileGeneral || f.regs[a.v] < 0 {
			return
		}
		for w := range max(a.n, 1) {
			delete(first, (f.regs[a.v]+int16(a.w)+int16(w))^1)
		}
	}
	for i := range in.dst {
		drop(&in.dst[i])
	}
	for i := range in.src[:in.nsrc] {
		drop(&in.src[i])
	}
}

// without returns instructions without those that became invalid.
func without(insts []inst, gone int) []inst {
	out := make([]inst, 0, len(insts)-gone)
	for i := range insts {
		if insts[i].op != opInvalid {
			out = append(out, insts[i])
		}
	}
	return out
}
