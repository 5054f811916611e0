package assemble

// prologue emits what every kernel starts with: the stack pointer and, where
// global memory is accessed through a descriptor, its load.
func (s *selector) prologue() {
	f := s.f
	if len(f.order) == 0 {
		return
	}
	global := false
	for b := range s.m.blocks {
		for i := range s.m.blocks[b].insts {
			switch s.m.blocks[b].insts[i].op {
			case opLDG, opSTG, opATOM, opRED, opLD, opST, opLDGSTS:
				global = true
			}
		}
	}
	s.buf = s.buf[:0]
	if f.t.cc[0] >= 3 {
		op := opLDC
		if f.t.constOperand {
			op = opMOV
		}
		s.emit(op, valueArg(s.newValue(1, fileNone), 0, 1), arg{kind: argConst})
	}
	if global && f.t.descriptor {
		s.emit(opULDC, valueArg(s.newValue(2, fileUniform), 0, 2), arg{kind: argConst})
	}
	for i := range s.buf {
		s.buf[i].pc, s.buf[i].carried = -1, -1
	}
	e := &s.m.blocks[f.order[0]]
	e.insts = append(append([]inst(nil), s.buf...), e.insts...)
}
