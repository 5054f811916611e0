package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// What selection does once all blocks are lowered.

// prologue emits what every kernel starts with: the load of the stack pointer and, where global
// memory is accessed, of its descriptor.
func (s *selector) prologue() {
	f := s.hir
	if len(f.Order) == 0 {
		return
	}
	global := slices.ContainsFunc(f.Order, s.accesses) && !s.descriptorApart()
	s.buf = s.buf[:0]
	if f.Target.CC[0] >= 3 {
		op := mir.OpLDC
		if f.Target.ConstOperand {
			op = mir.OpMOV
		}
		s.emit(op, mir.ValueWords(s.newValue(1, vreg.NoFile), 0, 1), mir.Arg{Kind: mir.ArgConst})
	}
	if global && f.Target.Descriptor {
		s.emit(mir.OpULDC, mir.ValueWords(s.newValue(2, vreg.Uniform), 0, 2), mir.Arg{Kind: mir.ArgConst})
	}
	s.insert(f.Order[0], 0)
}

// forgets reports whether uniform registers do not keep what block b computes through a loop: other lanes of the warp may
// overwrite it.
func (s *selector) forgets(b int) bool {
	return s.hir.Blocks[b].Apart && s.hir.Target.Uses(rules.LanesApart)
}

// apart reports whether lanes of a warp may be in block b without the others.
func (s *selector) apart(b int) bool { return s.hir.Blocks[b].Partial || s.forgets(b) }

// accessesGlobal reports whether an instruction accesses global memory.
func accessesGlobal(in *mir.Inst) bool {
	switch in.Op {
	case mir.OpLDG, mir.OpSTG, mir.OpATOM, mir.OpRED, mir.OpLD, mir.OpST, mir.OpLDGSTS:
		return true
	}
	return false
}

// accesses reports whether a block accesses global memory.
func (s *selector) accesses(b int) bool {
	return slices.ContainsFunc(s.out.Blocks[b].Insts, func(in mir.Inst) bool { return accessesGlobal(&in) })
}

// descriptorApart loads the descriptor of global memory, where something accesses it, into general registers if lanes may
// be apart where it is first needed, and reports whether it did. It is loaded before the loops around, and copied for each
// access:
//
//	LDC.64   R18, c[0x0][0x208]
//	R2UR     UR8, R18
//	R2UR     UR9, R19
//	STG      desc[UR8][R32.64], R14
//
// Evidence, ptxas corpus (sm_90a): of 728 programs 52 have it in general registers, of bulk_stencil, embed_grad_bulk,
// mc_gemm, pp_gemm, wgrad_tn and gemm_ws, and they are the same 52 here.
func (s *selector) descriptorApart() bool {
	f, at := s.hir, -1
	for _, b := range f.Order {
		if !s.accesses(b) {
			continue
		}
		if at < 0 {
			at = b
		}
		for !f.Dominates(at, b) || f.Blocks[at].LoopDepth > 0 && at != f.Order[0] {
			at = f.Blocks[at].IDom
		}
	}
	if !s.forgets(at) {
		return false
	}
	d := s.newValue(2, vreg.General)
	for _, b := range f.Order {
		insts := s.out.Blocks[b].Insts
		for i := len(insts) - 1; i >= 0; i-- {
			if accessesGlobal(&insts[i]) {
				u := s.newValue(2, vreg.Uniform)
				s.buf = s.buf[:0]
				for w := range uint8(2) {
					s.emit(mir.OpR2UR, mir.ValueWords(u, w, 1), mir.ValueWords(d, w, 1))
				}
				s.insert(b, i)
			}
		}
	}
	s.buf = s.buf[:0]
	s.emit(mir.OpLDC, mir.ValueWords(d, 0, 2), mir.Arg{Kind: mir.ArgConst})
	s.insert(at, 0)
	return true
}

// insert puts the instructions emitted last, which stand for no PTX instruction, into a block.
func (s *selector) insert(b, at int) {
	for i := range s.buf {
		s.buf[i].PC, s.buf[i].Carried = -1, -1
	}
	s.out.Blocks[b].Insts = slices.Insert(s.out.Blocks[b].Insts, at, s.buf...)
}

// narrow makes 64-bit values of which only the low word is used, such as addresses in shared
// memory, one word wide.
func (s *selector) narrow() {
	f, m := s.hir, s.out
	used := make([]uint8, len(f.Values))
	note := func(a *mir.Arg) {
		if a.Kind == mir.ArgValue {
			used[a.Value] |= a.WordMask()
		}
	}
	for b := range m.Blocks {
		for i := range m.Blocks[b].Insts {
			in := &m.Blocks[b].Insts[i]
			for j := range in.Dst {
				note(&in.Dst[j])
			}
			for j := range in.Src[:in.NSrc] {
				note(&in.Src[j])
			}
			for j := range in.Acc {
				note(&in.Acc[j])
			}
		}
	}
	for v := range used {
		if used[v] == 1 && f.Values[v].Words == 2 {
			f.Values[v].Words = 1
		}
	}
}

// applySubst rewrites operands that name a value which lives inside another one.
func (s *selector) applySubst() {
	m := s.out
	fix := func(a *mir.Arg) {
		for a.Kind == mir.ArgValue {
			b, ok := s.sub[a.Value]
			if !ok {
				return
			}
			a.Value, a.Word = b.v, a.Word+b.w
		}
	}
	for b := range m.Blocks {
		for i := range m.Blocks[b].Insts {
			in := &m.Blocks[b].Insts[i]
			for j := range in.Dst {
				fix(&in.Dst[j])
			}
			for j := range in.Src {
				fix(&in.Src[j])
			}
			if in.Guard != vreg.None {
				g := mir.ValueWords(in.Guard, 0, 1)
				fix(&g)
				in.Guard = g.Value
			}
		}
	}
}
