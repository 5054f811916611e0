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

// narrow shrinks 64-bit values of which only the low word is used, such as
// addresses in shared memory, to one register.
func (s *selector) narrow() {
	f, m := s.f, s.m
	used := make([]uint8, len(f.vals))
	note := func(a *arg) {
		if a.kind == argValue {
			used[a.v] |= a.wordMask()
		}
	}
	for b := range m.blocks {
		for i := range m.blocks[b].insts {
			in := &m.blocks[b].insts[i]
			for j := range in.dst {
				note(&in.dst[j])
			}
			for j := range in.src[:in.nsrc] {
				note(&in.src[j])
			}
		}
	}
	for v := range used {
		if used[v] == 1 && f.vals[v].words == 2 {
			f.vals[v].words = 1
		}
	}
}

// applySubst rewrites operands that name a value living inside another one.
func (s *selector) applySubst() {
	m := s.m
	fix := func(a *arg) {
		for a.kind == argValue {
			b, ok := s.sub[a.v]
			if !ok {
				return
			}
			a.v, a.w = b.v, a.w+b.w
		}
	}
	for b := range m.blocks {
		for i := range m.blocks[b].insts {
			in := &m.blocks[b].insts[i]
			for j := range in.dst {
				fix(&in.dst[j])
			}
			for j := range in.src {
				fix(&in.src[j])
			}
			if in.guard != noValue {
				g := valueArg(in.guard, 0, 1)
				fix(&g)
				in.guard = g.v
			}
		}
	}
}
