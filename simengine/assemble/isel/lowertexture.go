package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// lowerTexture lowers fetches, queries and accesses to surfaces. Only the channels that are read take registers.
//
//	TEX.LL RZ, R7, R8, R19, UR4, 0x0, 3D    R7 the channels that are read, R8 on coordinates, R19 the level, UR4 the handle
//	TLD.LZ R10, R8, R5, UR4, 0x0, 1D        integer coordinates; R8 on two channels, R10 on two more
//	SUST.D.BA.2D [R16], R14, UR4, 0x0
//
// Evidence, machine code of ptxas 13.5 (sm_90).
func (s *selector) lowerTexture(n *hir.Node) error {
	t := s.hir.Kernel.Instrs[n.PC].Texture
	if n.Op == ir.Txq {
		s.emit(mir.OpTXQ, s.dest(0, 1), s.handle(n.Src[0]))
		return nil
	}
	c := 1 + t.Coordinates()
	at := s.together(n.Src[1:c], ir.B32)
	handle := s.handle(n.Src[0])
	if n.Op == ir.Sust {
		m := s.emit(mir.OpSUST, mir.Arg{}, at, s.together(n.Src[c:], n.Type), handle)
		s.accessTexture(m, n, n.Type)
		return nil
	}
	var used []vreg.Value
	for _, v := range n.Dst {
		if v >= 0 && s.uses[v] > 0 {
			used = append(used, v)
		}
	}
	if len(used) == 0 {
		return nil
	}
	dst := s.vector(used, true)
	args := append(make([]mir.Arg, 0, 3), at)
	op := mir.OpTLD
	switch {
	case n.Op == ir.Suld:
		op = mir.OpSULD
	case t.Gather:
		op = mir.OpTLD4
	case n.SrcType == ir.F32:
		op = mir.OpTEX
		level := ir.WordOperand(0xc200) // of a texture without mipmaps
		if t.Level {
			level = n.Src[c]
		}
		args = append(args, s.gprWord(level, 0))
	}
	m := s.emit(op, dst, append(args, handle)...)
	s.accessTexture(m, n, n.Type)
	m.NonCoherent = n.Op == ir.Tex
	s.unpackVector(used, dst)
	return nil
}

// handle is the operand that an object's handle is.
func (s *selector) handle(o ir.Operand) mir.Arg {
	if s.hir.Target.Uniform {
		return s.uniformWords(o)
	}
	return s.gprWord(o, 0)
}

// together is operands in adjacent registers.
func (s *selector) together(ops []ir.Operand, t ir.Type) mir.Arg {
	if len(ops) == 1 && hir.Words(t) == 1 {
		return s.gprWord(ops[0], 0)
	}
	return s.gather(ops, t)
}

// accessTexture fills in the memory fields of an instruction.
func (s *selector) accessTexture(m *mir.Inst, n *hir.Node, t ir.Type) {
	m.Space, m.MemVar, m.MemBase = ir.Global, -1, vreg.None
	m.Width = uint8(t.Size() * int(n.Vec))
}
