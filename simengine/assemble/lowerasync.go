package assemble

import "github.com/warptune/warptune/simengine/ir"

// beforeAsync emits what comes before the first LDGSTS of a block: two times @!PT LDS RZ, [RZ],
// three for 9.0 and later (the 12 blocks of gemm_async's machine code by ptxas 13.0 for 8.0, 8.6, 8.9, 9.0,
// 10.0 and 12.0), which take a place in the load/store unit as reads of special registers do.
func (s *selector) beforeAsync(n *node) {
	for _, ni := range s.f.blocks[s.b].nodes {
		if first := &s.f.nodes[ni]; first.op == ir.CpAsync {
			if first != n {
				return
			}
			break
		}
	}
	s.emit(opLDSOFF, arg{})
	s.emit(opLDSOFF, arg{})
	if s.f.t.cc[0] >= 9 {
		s.emit(opLDSOFF, arg{})
	}
}

// lowerAsync lowers cp.async and prefetches.
func (s *selector) lowerAsync(n *node) error {
	switch n.op {
	case ir.CpAsyncCommit:
		s.emit(opLDGDEPBAR, arg{})
	case ir.CpAsyncWait:
		s.emit(opDEPBAR, arg{})
	case ir.Prefetch:
		a, _, _, _ := s.address(n.src[0], ir.Global)
		s.emit(opCCTL, arg{}, a)
	case ir.CpAsync:
		a, vr, base, off := s.address(n.src[0], ir.Shared)
		g, _, _, _ := s.address(n.src[1], ir.Global)
		s.beforeAsync(n)
		in := s.emit(opLDGSTS, arg{}, a, g)
		s.access(in, n, vr, base, off)
		in.space = ir.Shared
		if len(n.src) > 2 && n.src[2].Kind == ir.OperandImm {
			in.width = uint8(min(n.src[2].Imm, 16))
		}
	}
	return nil
}
