package assemble

// affinities finds, for every value, the value that should take over its
// register: the result of a multiply-add that is the last to read it. The real
// assembler keeps such chains in one register, which decides the banks that
// their other operands prefer.
func (f *mfn) affinities(ranges []liveRange) []value {
	next := make([]value, len(f.vals))
	for v := range next {
		next[v] = noValue
	}
	for _, b := range f.order {
		for i := range f.blocks[b].insts {
			in := &f.blocks[b].insts[i]
			if (in.op != opFFMA && in.op != opIMADWIDE) || in.keeps || in.dst[0].kind != argValue {
				continue
			}
			d := in.dst[0].v
			if len(ranges[d].all) != 1 {
				continue
			}
			for _, k := range [...]int{2, 0, 1} {
				a := &in.src[k]
				if a.kind != argValue || f.vals[a.v].file != fileGeneral || f.vals[a.v].words != f.vals[d].words || len(ranges[a.v].all) != 1 || next[a.v] != noValue {
					continue
				}
				if ranges[a.v].all[0].to == ranges[d].all[0].from {
					next[a.v] = d
					break
				}
			}
		}
	}
	return next
}
