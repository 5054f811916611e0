package lower

import (
	"strings"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// isSpecial reports a name PTX reserves for a special register, modelled or not.
func isSpecial(name string) bool {
	if ir.SpecialNamed(name) != ir.SpecialNone {
		return true
	}
	base, _, _ := strings.Cut(name, ".")
	switch base {
	case "%tid", "%ntid", "%ctaid", "%nctaid", "%is_explicit_cluster", "%clusterid", "%nclusterid",
		"%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank",
		"%aggr_smem_size", "%globaltimer_lo", "%globaltimer_hi", "%current_graph_exec":
		return true
	}
	for _, p := range []string{"%pm", "%envreg", "%reserved_smem_"} {
		if strings.HasPrefix(base, p) {
			return true
		}
	}
	return false
}

// count reports whether the instruction has between lo and hi operands.
func (b *kernelBuilder) count(s *site, lo, hi int) bool {
	switch n := len(s.in.Args); {
	case n < lo:
		b.errorf(s.in.At, "%s has too few operands (%d)", s.in.Op, n)
	case n > hi:
		b.errorf(s.in.Args[hi].At, "%s has too many operands (%d)", s.in.Op, n)
	default:
		return true
	}
	return false
}

// mov builds a plain move, a pack or an unpack.
func (b *kernelBuilder) mov(s *site) {
	if !b.count(s, 2, 2) {
		return
	}
	d, a := &s.in.Args[0], &s.in.Args[1]
	ok := false
	s.arg = 1
	switch {
	case d.Kind == ptx.Vector && a.Kind == ptx.Vector:
		b.errorf(a.At, "mov between two vectors is not PTX")
	case d.Kind == ptx.Vector:
		ok = b.elements(s, d, true)
		s.arg = 2
		ok = ok && b.source(s, a, s.shape.Type, false)
	case a.Kind == ptx.Vector:
		ok = b.dest(s, d, s.shape.Type, false)
		s.arg = 2
		ok = ok && b.elements(s, a, false)
	default:
		ok = b.dest(s, d, s.shape.Type, false)
		s.arg = 2
		ok = ok && b.source(s, a, s.shape.Type, false)
	}
	if ok {
		b.finish(s)
	}
}

// elements reads the vector of a packing or unpacking mov.
func (b *kernelBuilder) elements(s *site, o *ptx.Operand, dest bool) bool {
	n, t := len(o.Elems), s.shape.Type
	if n != 2 && n != 4 || t.Size() == 0 {
		b.errorf(o.At, "%s: a vector of %d elements, want 2 or 4", s.what(), n)
		return false
	}
	et := ir.BitsOf(t.Size() / n)
	if et == ir.TypeInvalid {
		b.errorf(o.At, "%s: .%s does not split into %d", s.what(), t, n)
		return false
	}
	for i := range o.Elems {
		ok := false
		if dest {
			ok = b.dest(s, &o.Elems[i], et, false)
		} else {
			ok = b.source(s, &o.Elems[i], et, false)
		}
		if !ok {
			return false
		}
	}
	return true
}

// cvt builds a conversion; packed 16-bit results take two sources.
func (b *kernelBuilder) cvt(s *site) {
	args := "ds"
	if (s.shape.Type.Packed() != ir.TypeInvalid || tFP8>>s.shape.Type&1 != 0) && s.shape.SrcType == ir.F32 {
		args = "dss"
	}
	if b.operands(s, args) {
		b.finish(s)
	}
}

// atomTypes are the types each atomic operation takes.
var atomTypes = map[ir.AtomOp]typeSet{
	ir.AtomAdd: types(ir.U32, ir.S32, ir.U64, ir.S64, ir.F16, ir.F16x2, ir.BF16, ir.BF16x2, ir.F32, ir.F64),
	ir.AtomMin: types(ir.U32, ir.S32, ir.U64, ir.S64, ir.F16, ir.F16x2, ir.BF16, ir.BF16x2),
	ir.AtomMax: types(ir.U32, ir.S32, ir.U64, ir.S64, ir.F16, ir.F16x2, ir.BF16, ir.BF16x2),
	ir.AtomInc: types(ir.U32), ir.AtomDec: types(ir.U32),
	ir.AtomAnd: types(ir.B32, ir.B64), ir.AtomOr: types(ir.B32, ir.B64), ir.AtomXor: types(ir.B32, ir.B64),
	ir.AtomExch: types(ir.B32, ir.B64, ir.U32, ir.U64, ir.S32, ir.S64, ir.F32), ir.AtomCAS: types(ir.B16, ir.B32, ir.B64, ir.U32, ir.U64, ir.S32, ir.S64),
}

// atom builds atom and red.
func (b *kernelBuilder) atom(s *site) {
	switch {
	case atomTypes[s.out.Atom]>>s.shape.Type&1 == 0:
		b.errorf(s.in.At, "%s.%s does not take type .%s", s.out.Op, s.out.Atom, s.shape.Type)
		return
	case s.out.Space != ir.Generic && s.out.Space != ir.Global && s.out.Space != ir.Shared && s.out.Space != ir.SharedCluster:
		b.errorf(s.in.At, "%s does not work on .%s", s.out.Op, s.out.Space)
		return
	case s.out.Op == ir.Red && (s.out.Atom == ir.AtomExch || s.out.Atom == ir.AtomCAS):
		b.errorf(s.in.At, "red.%s is not PTX: use atom", s.out.Atom)
		return
	}
	args := "dat"
	if s.out.Op == ir.Red {
		args = "at"
	}
	if s.out.Vec > 1 {
		if !b.vectorAtom(s) {
			return
		}
		args = strings.NewReplacer("d", "V", "t", "X").Replace(args)
	}
	if s.out.Atom == ir.AtomCAS {
		args += "t"
	}
	if strings.Contains(s.in.Op, "L2::cache_hint") {
		args += "h"
	}
	if b.operands(s, args) {
		b.finish(s)
	}
}

// vectorAtom checks an atomic operation on a vector: of up to 16 bytes of device memory.
func (b *kernelBuilder) vectorAtom(s *site) bool {
	t, n := s.shape.Type, int(s.out.Vec)
	half := tHalf>>t&1 != 0
	switch {
	case s.out.Space == ir.Shared || s.out.Space == ir.SharedCluster:
		b.errorf(s.in.At, "%s of vectors does not work on .%s", s.out.Op, s.out.Space)
	case !half && (t != ir.F32 || s.out.Atom != ir.AtomAdd) || n*t.Size() > 16:
		b.errorf(s.in.At, "%s.%s does not take .v%d of type .%s", s.out.Op, s.out.Atom, n, t)
	default:
		return true
	}
	return false
}

// cpAsync builds cp.async.{ca,cg}.shared.global [dst], [src], size{, bytes}.
func (b *kernelBuilder) cpAsync(s *site) {
	if s.shape.spaces != 2 || s.out.Space != ir.Shared {
		b.errorf(s.in.At, "%s: want .shared.global", s.in.Op)
		return
	}
	hi := 4
	if strings.Contains(s.in.Op, "L2::cache_hint") {
		hi = 5
	}
	if !b.count(s, 3, hi) {
		return
	}
	from := ir.Global
	s.arg = 1
	ok := b.address(s, &s.in.Args[0], &s.out.Space)
	s.arg = 2
	ok = ok && b.address(s, &s.in.Args[1], &from)
	s.arg = 3
	if !ok || !b.immediate(s, &s.in.Args[2]) {
		return
	}
	size := b.src[2].Imm
	if size != 16 && (s.out.Mod&ir.ModBypassL1 != 0 || size != 4 && size != 8) {
		b.errorf(s.in.Args[2].At, "%s cannot copy %d bytes", s.in.Op, size)
		return
	}
	if s.arg = 4; len(s.in.Args) == 4 && hi == 4 {
		o := &s.in.Args[3]
		t := ir.B32
		if sym, found := b.lookup(o.Text); o.Kind == ptx.Name && found && sym.kind == symReg && b.k.Regs[sym.index].Type == ir.Pred {
			t = ir.Pred
		}
		if !b.source(s, o, t, false) {
			return
		}
	}
	b.finish(s)
}

// bra builds a branch.
func (b *kernelBuilder) bra(s *site) {
	if !b.count(s, 1, 1) {
		return
	}
	l, ok := b.findLabel(&s.in.Args[0])
	if !ok {
		return
	}
	s.out.Target = l
	b.finish(s)
}

// brx builds an indexed branch through a .branchtargets list.
func (b *kernelBuilder) brx(s *site) {
	if !b.count(s, 2, 2) {
		return
	}
	s.arg = 1
	if !b.source(s, &s.in.Args[0], ir.U32, false) {
		return
	}
	var list *ptx.Directive
	for sc := b.scope; sc != nil && list == nil; sc = sc.parent {
		list = sc.lists[s.in.Args[1].Text]
	}
	if list == nil || list.Name != ".branchtargets" {
		b.errorf(s.in.Args[1].At, "%s is not a .branchtargets list", s.in.Args[1].Text)
		return
	}
	for i := range list.Args {
		l, ok := b.findLabel(&list.Args[i])
		if !ok {
			return
		}
		s.out.Targets = append(s.out.Targets, l)
	}
	if len(s.out.Targets) == 0 {
		b.errorf(list.At, "the .branchtargets list is empty")
		return
	}
	b.finish(s)
}

// ret leaves the kernel, or jumps behind the call that is being inlined.
func (b *kernelBuilder) ret(s *site) {
	if !b.count(s, 0, 0) {
		return
	}
	s.out.Mod &^= ir.ModUni
	if f := b.frames[len(b.frames)-1]; f.ret >= 0 {
		s.out.Op, s.out.Target = ir.Bra, f.ret
	}
	b.finish(s)
}

// bar builds bar.sync a{,b}, bar.arrive a,b and bar.red.
func (b *kernelBuilder) bar(s *site) {
	args := "ii?"
	switch {
	case s.out.Op == ir.Bar && s.out.Mod&ir.ModArrive != 0:
		args = "ii"
	case s.out.Op == ir.BarRed:
		if wantPred := s.out.Bool != ir.BoolPopc; wantPred != (s.shape.Type == ir.Pred) {
			b.errorf(s.in.At, "%s does not give type .%s", s.in.Op, s.shape.Type)
			return
		}
		args = "dip"
		if len(s.in.Args) == 4 {
			args = "diip"
		}
	}
	if b.operands(s, args) {
		s.out.Mod &^= ir.ModSync
		b.finish(s)
	}
}
