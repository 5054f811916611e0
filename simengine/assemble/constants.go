package assemble

// shareConstants has a block bring a constant that several instructions take from a
// register there once (lavamd's machine code, which takes expf's constants so for ten
// particles at a time: deploy/calibrate/validation/sixth), and one of 64 bits to uniform
// registers (22 UMOV for 81 exponentials of doubles in the sm_90 code of HeCBench's
// crossEntropy).
func (f *fn) shareConstants() error {
	first, same := map[int64]value{}, map[value]value{}
	pairs := map[[2]int64]value{}
	for b := range f.mblocks {
		clear(first)
		clear(same)
		clear(pairs)
		mb := &f.mblocks[b]
		kept := mb.insts[:0]
		for i, in := range mb.insts {
			for k := range in.src[:in.nsrc] {
				if a := &in.src[k]; a.kind == argValue {
					if v, ok := same[a.v]; ok {
						a.v = v
					}
				}
			}
			if in.op == opMOV && in.guard == noValue && in.nsrc == 1 && in.src[0].kind == argImm && in.dst[0].kind == argValue {
				// What selection brought there for one instruction has no definition in PTX.
				if v := in.dst[0].v; f.vals[v].defs == 0 && f.vals[v].file == fileGeneral && f.vals[v].words == 1 {
					if w, ok := first[in.src[0].imm]; ok {
						same[v] = w
						continue
					}
					first[in.src[0].imm] = v
				}
			}
			if in.op == opUMOV && f.numbers[in.dst[0].v] {
				v := in.dst[0].v
				if _, gone := same[v]; gone {
					continue
				}
				if in.dst[0].w == 0 {
					key := [2]int64{in.src[0].imm, mb.insts[i+1].src[0].imm}
					if w, ok := pairs[key]; ok {
						same[v] = w
						continue
					}
					pairs[key] = v
				}
			}
			kept = append(kept, in)
		}
		mb.insts = kept
	}
	return nil
}
