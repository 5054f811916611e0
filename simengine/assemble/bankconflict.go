package assemble

// readers lists, for every one-word general value, the instructions that
// read it together with other general registers.
type readers struct {
	end   []int32 // of each value's part of insts
	insts []*inst
}

// of returns the readers of a value.
func (r *readers) of(v value) []*inst {
	if v == 0 {
		return r.insts[:r.end[0]]
	}
	return r.insts[r.end[v-1]:r.end[v]]
}

// readersOf collects the readers of every value.
func (f *mfn) readersOf() *readers {
	r := &readers{end: make([]int32, len(f.vals)+1)}
	f.eachReader(func(v value, _ *inst) { r.end[v]++ })
	sum := int32(0)
	for v := range r.end {
		sum, r.end[v] = sum+r.end[v], sum
	}
	r.insts = make([]*inst, sum)
	f.eachReader(func(v value, in *inst) {
		r.insts[r.end[v]] = in
		r.end[v]++
	})
	return r
}

// eachReader calls visit for every one-word general value that an instruction
// reads together with another general one.
func (f *mfn) eachReader(visit func(v value, in *inst)) {
	for _, b := range f.order {
		for i := range f.blocks[b].insts {
			in := &f.blocks[b].insts[i]
			n := 0
			for j := range in.src[:in.nsrc] {
				if a := &in.src[j]; a.kind == argValue && f.vals[a.v].file == fileGeneral {
					n++
				}
			}
			if n < 2 {
				continue
			}
			for j := range in.src[:in.nsrc] {
				if a := &in.src[j]; a.kind == argValue && f.vals[a.v].file == fileGeneral && f.vals[a.v].words == 1 {
					visit(a.v, in)
				}
			}
		}
	}
}

// bankClash says whether register r for value v would make an instruction read
// all its operands from one of the two register banks (even and odd numbers),
// which costs a cycle. That there are two banks, and that the assembler avoids
// them even for two operands, is read off its register choices on sm_90.
func (f *mfn) bankClash(v value, r int, readers *readers, assigned []int16) bool {
	for _, in := range readers.of(v) {
		clash := true
		for j := range in.src[:in.nsrc] {
			a := &in.src[j]
			if a.kind != argValue || a.v == v || f.vals[a.v].file != fileGeneral {
				continue
			}
			if assigned[a.v] < 0 || (int(assigned[a.v])+int(a.w))%2 != r%2 {
				clash = false
				break
			}
		}
		if clash {
			return true
		}
	}
	return false
}
