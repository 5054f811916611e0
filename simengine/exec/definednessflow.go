package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// runFollowed is runBlock with definedness tracked.
func (r *Runner) runFollowed(w *warp, b *block, active uint32) signal {
	s := r.definedness
	regs := s.warps[w.id]
	for ip := w.ip; ip < b.end; ip++ {
		in, f := &r.p.code[ip], &s.flows[ip]
		mask, guard := active, undefined{}
		if in.hasGuard {
			guard = regs[r.p.register(slot{filePred, in.guard})]
			if mask = w.guarded(mask, in.guard, in.guardNot); mask == 0 && guard.lanes == 0 {
				continue
			}
		}
		if guard.lanes&active != 0 && (in.kind == kindMemory || in.kind == kindCall && len(f.dst) == 0) {
			s.matters(r, w, in, guard.from, "whether an instruction is executed depends on it")
		}
		if f.kind == flowMemory {
			if f.address >= 0 && regs[f.address].lanes&mask != 0 {
				s.matters(r, w, in, regs[f.address].from, "an address depends on it")
			}
		} else {
			s.follow(r, w, in, f, mask, guard, active)
		}
		if w.inProducts() && !r.watch(w, in, active) {
			return faulted
		}
		if sig := r.runRange(w, ip, ip+1, active); sig != next {
			return sig
		}
	}
	at := undefined{}
	switch {
	case b.term == indexedBranch:
		at = regs[b.index]
	case b.hasGuard:
		at = regs[r.p.register(slot{filePred, b.guard})]
	}
	if at.lanes&active != 0 {
		s.matters(r, w, &instr{pc: b.pc}, at.from, "a branch depends on it")
	}
	return next
}

// follow marks the results of an instruction that is about to be executed.
func (s *shadow) follow(r *Runner, w *warp, in *instr, f *flow, mask uint32, guard undefined, active uint32) {
	regs := s.warps[w.id]
	u := undefined{from: -1}
	for _, n := range f.src {
		if regs[n].lanes != 0 {
			u = u.or(regs[n])
		}
	}
	if u.lanes|guard.lanes == 0 {
		for _, d := range f.dst {
			regs[d].lanes &^= mask
		}
		return
	}
	switch f.kind {
	case flowSelect:
		u = s.selected(r, w, in)
	case flowBits:
		u.lanes &^= s.decided(r, w, in)
	case flowShuffle:
		u.lanes = s.shuffled(r, w, in, f)
	case flowWarp:
		if u.lanes&mask != 0 {
			u.lanes = ^uint32(0)
		}
	case flowMatrix:
		s.multiply(r, w, in, f, mask, u)
		return
	}
	if g := guard.lanes & active; g != 0 {
		u, mask = u.or(undefined{g, guard.from}), mask|g
	}
	for _, d := range f.dst {
		s.mark(w, d, u.lanes, mask, u.from)
	}
}

func (u undefined) or(v undefined) undefined {
	if u.lanes == 0 {
		return v
	}
	u.lanes |= v.lanes
	return u
}

// selected is the definedness of what selp selects.
func (s *shadow) selected(r *Runner, w *warp, in *instr) undefined {
	p := w.predicateValue(in.x, 2)
	a, b, c := s.of(r, w, in.x.src[0]), s.of(r, w, in.x.src[1]), s.of(r, w, in.x.src[2])
	a.lanes &= p
	b.lanes &^= p
	return a.or(b).or(c)
}

// decided returns the lanes in which one operand of an and or an or is defined and decides the
// result, as in "in range, and the value there is positive".
func (s *shadow) decided(r *Runner, w *warp, in *instr) (lanes uint32) {
	ki := &r.p.executed.Instrs[in.pc]
	or := ki.Op == ir.Or || ki.Op == ir.Setp && ki.Bool == ir.BoolOr
	switch in.kind {
	case kindPred:
		for n, o := range in.x.src {
			v := w.predicateValue(in.x, n)
			if !or {
				v = ^v
			}
			lanes |= v &^ s.of(r, w, o).lanes
		}
	case kindSetp:
		v := w.predicateValue(in.x, 2)
		if !or {
			v = ^v
		}
		lanes = v &^ s.of(r, w, in.x.src[2]).lanes
	case kind32:
		for _, i := range [...]int32{in.a, in.b} {
			zero := uint32(0)
			for l, v := range w.r32[i] {
				if v == 0 {
					zero |= 1 << l
				}
			}
			if !or {
				lanes |= zero &^ s.of(r, w, slot{file32, i}).lanes
			}
		}
	}
	return lanes
}

// shuffled returns the lanes whose source lane of a shfl is undefined.
func (s *shadow) shuffled(r *Runner, w *warp, in *instr, f *flow) (lanes uint32) {
	x := in.x
	value := s.of(r, w, x.src[0]).lanes
	if value == 0 || x.src[1].file != file32 || x.src[2].file != file32 {
		return value
	}
	b, c := &w.r32[x.src[1].index], &w.r32[x.src[2].index]
	for l := range WarpSize {
		j, ok := shuffleSource(x.bool, uint32(l), b[l]&31, c[l])
		if !ok {
			j = uint32(l)
		}
		lanes |= value >> (j & 31) & 1 << l
	}
	return lanes
}

// multiply marks the results of an MMA. An element of D is undefined if any in its row of A or its
// column of B is, or its own of C.
func (s *shadow) multiply(r *Runner, w *warp, in *instr, f *flow, mask uint32, u undefined) {
	m := f.matrix
	na, nb, _ := m.Registers()
	src := in.x.src
	var rows, cols [32]bool
	s.elements(r, w, &m.a, src[:na], func(at int) { rows[at/m.K] = true })
	s.elements(r, w, &m.b, src[na:na+nb], func(at int) { cols[at/m.K] = true })
	var own [16 * 8]bool
	s.elements(r, w, &m.c, src[na+nb:], func(at int) { own[at] = true })
	per := max(1, 32/m.c.bits)
	for n, d := range in.x.dst {
		var lanes uint32
		for l := range WarpSize {
			bad := 0
			for _, at := range m.c.place[l][n*per : min((n+1)*per, len(m.c.place[l]))] {
				if rows[at/m.N] || cols[at%m.N] || own[at] {
					bad++
				}
			}
			if bad == per {
				lanes |= 1 << l
			}
		}
		s.mark(w, r.p.register(d), lanes, mask, u.from)
	}
}

// elements calls f with the elements of a matrix that lie in undefined lanes of its registers.
func (s *shadow) elements(r *Runner, w *warp, g *fragment, regs []slot, f func(at int)) {
	per := max(1, 32/g.bits)
	for i := range regs {
		u := s.of(r, w, regs[i])
		for m := u.lanes; m != 0; m &= m - 1 {
			place := g.place[bits.TrailingZeros32(m)]
			for _, at := range place[min(i*per, len(place)):min((i+1)*per, len(place))] {
				f(at)
			}
		}
	}
}
