package isel

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
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
	global := false
	for b := range s.out.Blocks {
		for i := range s.out.Blocks[b].Insts {
			switch s.out.Blocks[b].Insts[i].Op {
			case mir.OpLDG, mir.OpSTG, mir.OpATOM, mir.OpRED, mir.OpLD, mir.OpST, mir.OpLDGSTS:
				global = true
			}
		}
	}
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
	for i := range s.buf {
		s.buf[i].PC, s.buf[i].Carried = -1, -1
	}
	e := &s.out.Blocks[f.Order[0]]
	e.Insts = append(append([]mir.Inst(nil), s.buf...), e.Insts...)
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
