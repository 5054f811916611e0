package lower

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// async builds an instruction that is not written as spec.args says alone.
func (b *kernelBuilder) async(s *site) {
	ok := false
	switch s.shape.spec.form {
	case formWgmma:
		ok = b.wgmma(s)
	case formBulk:
		ok = b.bulk(s) && b.done(s)
	case formFenceProxy:
		ok = s.out.Space != ir.ParamSpace || s.out.Mod&ir.ModAcquire == 0 || b.mapFence(s)
		ok = ok && b.done(s)
	case formTensormapSet:
		ok = b.tensormapSet(s) && b.done(s)
	case formTensormapCopy:
		to, from := ir.Global, ir.Shared
		ok = b.addressArg(s, &to) && b.addressArg(s, &from) && b.mapSize(s) && b.done(s)
	case formArrive:
		ok = b.operands(s, s.shape.spec.args)
		if ok && s.out.Space == ir.SharedCluster && b.dst[0] != ir.NoReg {
			b.errorf(s.in.Args[0].At, "%s gives no state of an mbarrier that may be another CTA's: want _", s.in.Op)
			return
		}
	case formDropped:
		ok = b.operands(s, s.shape.spec.args)
		b.src, s.out.Space = b.src[:0], ir.Generic
	}
	if ok {
		b.finish(s)
	}
}

// next takes the next operand.
func (b *kernelBuilder) next(s *site) (*ptx.Operand, bool) {
	if s.arg >= len(s.in.Args) {
		b.errorf(s.in.At, "%s has too few operands (%d)", s.in.Op, len(s.in.Args))
		return nil, false
	}
	s.arg++
	return &s.in.Args[s.arg-1], true
}

func (b *kernelBuilder) addressArg(s *site, sp *ir.Space) bool {
	o, ok := b.next(s)
	return ok && b.address(s, o, sp)
}

func (b *kernelBuilder) sourceArg(s *site, t ir.Type, relaxed bool) bool {
	o, ok := b.next(s)
	return ok && b.source(s, o, t, relaxed)
}

// constantArg reads an integer constant between lo and hi.
func (b *kernelBuilder) constantArg(s *site, lo, hi int64) (v int64, ok bool) {
	o, ok := b.next(s)
	if !ok || !b.immediate(s, o) {
		return 0, false
	}
	v = int64(b.src[len(b.src)-1].Imm)
	b.src = b.src[:len(b.src)-1]
	if v < lo || v > hi {
		b.errorf(o.At, "%s: %d, want a constant between %d and %d", s.what(), v, lo, hi)
		return v, false
	}
	return v, true
}

// wgmma builds a warpgroup MMA.
func (b *kernelBuilder) wgmma(s *site) bool {
	m := *s.out.Matrix
	s.out.Matrix = &m
	if len(s.in.Args) < 4 {
		return b.count(s, 4, 8)
	}
	m.FromShared = s.in.Args[1].Kind != ptx.Vector
	_, _, nd := m.Registers()
	if !b.fragment(s, nd, ir.RegisterOf(m.D), true) {
		return false
	}
	accumulators := len(b.dst)
	ok := false
	if m.FromShared {
		ok = b.sourceArg(s, ir.B64, false)
	} else {
		na, _, _ := m.Registers()
		ok = b.fragment(s, na, ir.RegisterOf(m.A), false)
	}
	if !ok || !b.sourceArg(s, ir.B64, false) {
		return false
	}
	for _, r := range b.dst[:accumulators] {
		if r == ir.NoReg {
			b.errorf(s.in.At, "%s: accumulators have no place for _", s.in.Op)
			return false
		}
		b.src = append(b.src, ir.RegOperand(r))
	}
	return b.sourceArg(s, ir.Pred, false) && b.wgmmaConstants(s, &m) && b.done(s)
}

// wgmmaConstants reads the signs of A and B, and which of those in shared memory are transposed.
func (b *kernelBuilder) wgmmaConstants(s *site, m *ir.Matrix) bool {
	if m.A == ir.S8 || m.A == ir.U8 {
		return true
	}
	sign := func(neg *bool) bool {
		v, ok := b.constantArg(s, -1, 1)
		if ok && v == 0 {
			b.errorf(s.in.At, "%s: %s is 0, want 1 or -1", s.in.Op, s.what())
			return false
		}
		*neg = v < 0
		return ok
	}
	trans := func(t *bool) bool {
		v, ok := b.constantArg(s, 0, 1)
		*t = v == 1
		return ok
	}
	if !sign(&m.NegA) || !sign(&m.NegB) {
		return false
	}
	if m.A != ir.F16 && m.A != ir.BF16 {
		return true
	}
	return (!m.FromShared || trans(&m.TransA)) && trans(&m.TransB)
}

// bulk builds a BulkCopy or BulkPrefetch.
func (b *kernelBuilder) bulk(s *site) bool {
	k := s.out.Bulk
	var coords *ptx.Operand
	place := func(sp ir.Space) bool {
		if k.Dims == 0 || sp != ir.Global {
			return b.addressArg(s, &sp)
		}
		o, ok := b.next(s)
		if !ok || !b.mapAddress(s, o) {
			return false
		}
		coords = &o.Elems[1]
		return true
	}
	if k.From != k.To && !place(k.To) || !place(k.From) {
		return false
	}
	word := func(o *ptx.Operand) bool { return b.source(s, o, ir.B32, false) }
	switch {
	case k.Dims == 0 && !b.sourceArg(s, ir.B32, false), k.Dims > 0 && !b.eachOf(s, coords, k.Dims, word):
		return false
	}
	barrier := k.To
	if k.Barrier && !b.addressArg(s, &barrier) || k.Multicast && !b.sourceArg(s, ir.B16, true) {
		return false
	}
	return b.policy(s)
}

// policy reads the cache policy that .L2::cache_hint announces, and drops it.
func (b *kernelBuilder) policy(s *site) bool {
	if !s.shape.hint {
		return true
	}
	o, ok := b.next(s)
	if ok {
		_, ok = b.value(s, o, ir.B64, false)
	}
	return ok
}

// mapAddress reads the first part of [map, {coordinates}].
func (b *kernelBuilder) mapAddress(s *site, o *ptx.Operand) bool {
	if o.Kind != ptx.Address || len(o.Elems) != 2 {
		b.errorf(o.At, "%s: a tensor map and coordinates in brackets are wanted", s.what())
		return false
	}
	if sym, ok := b.lookup(o.Elems[0].Text); ok && sym.kind == symParam {
		b.refuse(o.At, "a tensor map that is named rather than addressed")
		return false
	}
	sp := ir.Generic
	alone := ptx.Operand{At: o.At, Kind: ptx.Address, Elems: o.Elems[:1]}
	return b.address(s, &alone, &sp)
}

// mapFence reads [map], 128.
func (b *kernelBuilder) mapFence(s *site) bool {
	sp := ir.Generic
	return b.addressArg(s, &sp) && b.mapSize(s)
}

// mapSize reads the size of a tensor map.
func (b *kernelBuilder) mapSize(s *site) bool {
	v, ok := b.constantArg(s, 128, 128)
	b.src = append(b.src, ir.ImmOperand(uint64(v)))
	return ok
}

// tensormapSet reads [map]{, ordinal}, value.
func (b *kernelBuilder) tensormapSet(s *site) bool {
	if !b.addressArg(s, &s.out.Space) {
		return false
	}
	f := s.out.Field
	if f.PerDimension() {
		v, ok := b.constantArg(s, 0, 4)
		if !ok {
			return false
		}
		b.src = append(b.src, ir.ImmOperand(uint64(v)))
	}
	if most := f.LargestConstant(); most > 0 {
		v, ok := b.constantArg(s, 0, most)
		b.src = append(b.src, ir.ImmOperand(uint64(v)))
		return ok
	}
	return b.sourceArg(s, f.ValueType(), false)
}
