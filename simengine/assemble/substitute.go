package assemble

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
