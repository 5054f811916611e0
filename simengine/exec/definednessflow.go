package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/ir"
)

// runFollowed is runBlock with definedness tracked.
func (r *Runner) runFollowed(w *warp, b *code.Block, active uint32) signal {
	s := r.definedness
	regs := s.warps[w.id]
	for ip := w.ip; ip < b.End; ip++ {
		in, f := &r.p.Code[ip], &s.flows[ip]
		mask, guard := active, undefined{}
		if in.HasGuard {
			guard = regs[r.p.Register(code.Slot{File: code.FilePred, Index: in.Guard})]
			if mask = w.guarded(mask, in.Guard, in.GuardNot); mask == 0 && guard.lanes == 0 {
				continue
			}
		}
		if guard.lanes&active != 0 && (in.Kind == code.KindMemory || in.Kind == code.KindCall && len(f.Dst) == 0) {
			s.matters(r, w, in, guard.from, "whether an instruction is executed depends on it")
		}
		if f.Kind == code.FlowMemory {
			if f.Address >= 0 && regs[f.Address].lanes&mask != 0 {
				s.matters(r, w, in, regs[f.Address].from, "an address depends on it")
			}
		} else {
			s.follow(r, w, in, f, mask, guard, active)
		}
		if w.wgmmaInFlight() && !r.watch(w, in, active) {
			return faulted
		}
		if sig := r.runRange(w, ip, ip+1, active); sig != next {
			return sig
		}
	}
	at := undefined{}
	switch {
	case b.Terminator == code.IndexedBranch:
		at = regs[b.Index]
	case b.HasGuard:
		at = regs[r.p.Register(code.Slot{File: code.FilePred, Index: b.Guard})]
	}
	if at.lanes&active != 0 {
		s.matters(r, w, &code.Instr{PC: b.PC}, at.from, "a branch depends on it")
	}
	return next
}

// follow marks the results of an instruction that is about to be executed.
func (s *shadow) follow(r *Runner, w *warp, in *code.Instr, f *code.Flow, mask uint32, guard undefined, active uint32) {
	regs := s.warps[w.id]
	u := undefined{from: -1}
	for _, n := range f.Src {
		if regs[n].lanes != 0 {
			u = u.or(regs[n])
		}
	}
	if u.lanes|guard.lanes == 0 {
		for _, d := range f.Dst {
			regs[d].lanes &^= mask
		}
		return
	}
	switch f.Kind {
	case code.FlowSelect:
		u = s.selected(r, w, in)
	case code.FlowBits:
		u.lanes &^= s.decided(r, w, in)
	case code.FlowShuffle:
		u.lanes = s.shuffled(r, w, in, f)
	case code.FlowWarp:
		if u.lanes&mask != 0 {
			u.lanes = ^uint32(0)
		}
	case code.FlowMatrix:
		s.multiply(r, w, in, f, mask, u)
		return
	}
	if g := guard.lanes & active; g != 0 {
		u, mask = u.or(undefined{g, guard.from}), mask|g
	}
	for _, d := range f.Dst {
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
func (s *shadow) selected(r *Runner, w *warp, in *code.Instr) undefined {
	p := w.predicateValue(in.X, 2)
	a, b, c := s.of(r, w, in.X.Src[0]), s.of(r, w, in.X.Src[1]), s.of(r, w, in.X.Src[2])
	a.lanes &= p
	b.lanes &^= p
	return a.or(b).or(c)
}

// decided returns the lanes in which one operand of an and or an or is defined and decides the
// result, as in "in range, and the value there is positive".
func (s *shadow) decided(r *Runner, w *warp, in *code.Instr) (lanes uint32) {
	ki := &r.p.Executed.Instrs[in.PC]
	or := ki.Op == ir.Or || ki.Op == ir.Setp && ki.Bool == ir.BoolOr
	switch in.Kind {
	case code.KindPred:
		for n, o := range in.X.Src {
			v := w.predicateValue(in.X, n)
			if !or {
				v = ^v
			}
			lanes |= v &^ s.of(r, w, o).lanes
		}
	case code.KindSetp:
		v := w.predicateValue(in.X, 2)
		if !or {
			v = ^v
		}
		lanes = v &^ s.of(r, w, in.X.Src[2]).lanes
	case code.Kind32:
		for _, i := range [...]int32{in.A, in.B} {
			zero := uint32(0)
			for l, v := range w.r32[i] {
				if v == 0 {
					zero |= 1 << l
				}
			}
			if !or {
				lanes |= zero &^ s.of(r, w, code.Slot{File: code.File32, Index: i}).lanes
			}
		}
	}
	return lanes
}

// shuffled returns the lanes whose source lane of a shfl is undefined.
func (s *shadow) shuffled(r *Runner, w *warp, in *code.Instr, f *code.Flow) (lanes uint32) {
	x := in.X
	value := s.of(r, w, x.Src[0]).lanes
	if value == 0 || x.Src[1].File != code.File32 || x.Src[2].File != code.File32 {
		return value
	}
	b, c := &w.r32[x.Src[1].Index], &w.r32[x.Src[2].Index]
	for l := range WarpSize {
		j, ok := shuffleSource(x.BoolOp, uint32(l), b[l]&31, c[l])
		if !ok {
			j = uint32(l)
		}
		lanes |= value >> (j & 31) & 1 << l
	}
	return lanes
}

// multiply marks the results of an MMA. An element of D is undefined if any in its row of A or its
// column of B is, or its own of C.
func (s *shadow) multiply(r *Runner, w *warp, in *code.Instr, f *code.Flow, mask uint32, u undefined) {
	m := f.Matrix
	na, nb, _ := m.Registers()
	src := in.X.Src
	var rows, cols [32]bool
	s.elements(r, w, m.FragmentA, src[:na], func(at int) { rows[at/m.K] = true })
	s.elements(r, w, m.FragmentB, src[na:na+nb], func(at int) { cols[at/m.K] = true })
	var own [16 * 8]bool
	s.elements(r, w, m.FragmentC, src[na+nb:], func(at int) { own[at] = true })
	per := max(1, 32/m.FragmentC.Bits)
	for n, d := range in.X.Dst {
		var lanes uint32
		for l := range WarpSize {
			bad := 0
			for _, at := range m.FragmentC.Place[l][n*per : min((n+1)*per, len(m.FragmentC.Place[l]))] {
				if rows[at/m.N] || cols[at%m.N] || own[at] {
					bad++
				}
			}
			if bad == per {
				lanes |= 1 << l
			}
		}
		s.mark(w, r.p.Register(d), lanes, mask, u.from)
	}
}

// elements calls f with the elements of a matrix that lie in undefined lanes of its registers.
func (s *shadow) elements(r *Runner, w *warp, g *mma.Fragment, regs []code.Slot, f func(at int)) {
	per := max(1, 32/g.Bits)
	for i := range regs {
		u := s.of(r, w, regs[i])
		for m := u.lanes; m != 0; m &= m - 1 {
			place := g.Place[bits.TrailingZeros32(m)]
			for _, at := range place[min(i*per, len(place)):min((i+1)*per, len(place))] {
				f(at)
			}
		}
	}
}
