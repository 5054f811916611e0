package assemble

// shareConstants has a block bring a constant that several instructions take from a
// register there once (lavamd's machine code, which takes expf's constants so for ten
// particles at a time: deploy/calibrate/validation/sixth), and one of 64 bits, to uniform
// registers (22 UMOV for 81 exponentials of doubles in the sm_90 code of HeCBench's
// crossEntropy) or general ones (charges_double of the seventh batch with two charges a
// thread and eight at a time executes 0.81 of the instructions that there would be if each
// of its 16 products by a third brought that).
func (f *mfn) shareConstants() error {
	first, same := map[int64]value{}, map[value]value{}
	pairs := map[constantPair]value{}
	for b := range f.blocks {
		clear(first)
		clear(same)
		clear(pairs)
		mb := &f.blocks[b]
		kept := mb.insts[:0]
		for i, in := range mb.insts {
			for k := range in.src[:in.nsrc] {
				if a := &in.src[k]; a.kind == argValue {
					if v, ok := same[a.v]; ok {
						a.v = v
					}
				}
			}
			v := in.dst[0].v
			switch {
			case in.dst[0].kind != argValue:
			case f.bringsWord(&in):
				if w, ok := first[in.src[0].imm]; ok {
					same[v] = w
				} else {
					first[in.src[0].imm] = v
				}
			case f.bringsPair(mb.insts[i:]):
				key := constantPair{in.src[0].imm, mb.insts[i+1].src[0].imm, f.vals[v].file}
				if w, ok := pairs[key]; ok {
					same[v] = w
				} else {
					pairs[key] = v
				}
			}
			if _, gone := same[v]; gone && in.dst[0].kind == argValue {
				continue
			}
			kept = append(kept, in)
		}
		mb.insts = kept
	}
	return nil
}

// constantPair is a constant of 64 bits in registers.
type constantPair struct {
	low, high int64
	file      file
}

// bringsWord says that an instruction brings a constant to a general register for one
// instruction, which has no definition in PTX.
func (f *mfn) bringsWord(in *inst) bool {
	v := in.dst[0].v
	return in.op == opMOV && bringsNumber(in) && f.vals[v].defs == 0 && f.vals[v].file == fileGeneral && f.vals[v].words == 1
}

// bringsPair says that the first two of some instructions bring a constant of 64 bits to
// a pair of registers for one instruction.
func (f *mfn) bringsPair(insts []inst) bool {
	v := insts[0].dst[0].v
	if len(insts) < 2 || insts[1].dst[0].kind != argValue || insts[1].dst[0].v != v || insts[0].dst[0].w != 0 || insts[1].dst[0].w != 1 {
		return false
	}
	for k := range insts[:2] {
		if in := &insts[k]; !bringsNumber(in) || in.op != opMOV && in.op != opUMOV {
			return false
		}
	}
	return f.numbers[v] || insts[0].op == opMOV && f.vals[v].defs == 0 && f.vals[v].file == fileGeneral && f.vals[v].words == 2
}

// bringsNumber says that an instruction has nothing but a constant.
func bringsNumber(in *inst) bool {
	return in.guard == noValue && in.nsrc == 1 && in.src[0].kind == argImm
}
