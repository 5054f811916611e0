package slice

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/alias"
	"github.com/warptune/warptune/simengine/ir/bounds"
)

// place is where an instruction reads or writes: a state space, of device memory which buffers, and of the CTA's shared
// memory which bytes, if that is known.
type place struct {
	space ir.Space
	from  alias.Roots
	bytes bounds.Range // of shared memory; no bytes: any
}

// anywhere reports whether it may be anywhere in the state space.
func (p *place) anywhere() bool { return p.bytes == bounds.Range{} }

// memory is places in memory.
type memory struct {
	of     [ir.SharedCluster + 1]bool
	global alias.Roots
	any    bool           // of shared memory any place
	shared []bounds.Range // of shared memory
}

func (m *memory) add(p place) {
	if p.space == ir.SharedCluster {
		p.space, p.bytes = ir.Shared, bounds.Range{}
	}
	m.of[p.space] = true
	switch {
	case p.space == ir.Global:
		m.global |= p.from
	case p.space == ir.Shared && p.anywhere():
		m.any = true
	case p.space == ir.Shared:
		m.shared = append(m.shared, p.bytes)
	}
}

// mayAlias reports whether something at a place may be among the places.
func (m *memory) mayAlias(p place) bool {
	if p.space == ir.SharedCluster {
		p.space, p.bytes = ir.Shared, bounds.Range{}
	}
	any := m.of[ir.Global] || m.of[ir.Shared] || m.of[ir.Local] || m.of[ir.Generic]
	if p.space == ir.Generic && any || m.of[ir.Generic] {
		return true
	}
	switch {
	case p.space == ir.Global && m.of[ir.Global]:
		return m.global.MayAlias(p.from)
	case p.space == ir.Shared && m.of[ir.Shared] && !m.any && !p.anywhere():
		return m.overlaps(p.bytes)
	}
	return m.of[p.space]
}

// overlaps reports whether bytes of shared memory are among those of the places.
func (m *memory) overlaps(bytes bounds.Range) bool {
	for _, r := range m.shared {
		if bytes.Low <= r.High && r.Low <= bytes.High {
			return true
		}
	}
	return false
}

// accessed is where a load, store or atomic does.
func (s *slicer) accessed(in *ir.Instr) place {
	p := place{space: in.Space, from: s.roots(&in.Src[0])}
	if in.Space == ir.Shared {
		width := in.Type.Size() * max(int(in.Vec), 1)
		if in.Mod&ir.ModMatrix != 0 {
			width = matrixRow
		}
		p.bytes = s.bytes(&in.Src[0], width)
	}
	return p
}

// What a lane accesses of a matrix, and what it copies at most, bytes.
const (
	matrixRow = 16
	mostAsync = 16
)

// bytes is those of shared memory that accesses of so many bytes at an address are of. They are told apart in kernels for
// one architecture: in these asynchronous copies bring what addresses depend on beside what does not matter to them.
func (s *slicer) bytes(o *ir.Operand, width int) bounds.Range {
	if !s.k.Specific() || width <= 0 {
		return bounds.Range{}
	}
	r, ok := s.ranges().Shared(o)
	if !ok {
		return bounds.Range{}
	}
	r.High += int64(width) - 1
	return r
}

// ranges is what is known of the registers.
func (s *slicer) ranges() *bounds.Registers {
	if s.bounds == nil {
		s.bounds = bounds.Of(s.k)
	}
	return s.bounds
}

// written is where an instruction writes.
func (s *slicer) written(in *ir.Instr) place {
	switch in.Op {
	case ir.BulkCopy:
		if in.Bulk.Dims > 0 {
			return place{space: in.Bulk.To, from: s.tensor(in)}
		}
		return place{space: in.Bulk.To, from: s.roots(&in.Src[0])}
	case ir.TensormapCopy:
		return place{space: ir.Global, from: s.roots(&in.Src[0])}
	case ir.CpAsync:
		return place{space: ir.Shared, bytes: s.bytes(&in.Src[0], mostAsync)}
	case ir.St, ir.Atom, ir.Red:
		return s.accessed(in)
	}
	return place{space: in.Space, from: s.roots(&in.Src[0])}
}
