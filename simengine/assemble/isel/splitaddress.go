package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Addresses in shared memory that are the sum of a general and a uniform register:
//
//	ULEA UR15, UR11, UR9       the tile of a stage
//	LDSM R4, [R62+UR15+0x80]   the lane's place in it
//
// Evidence, ptxas corpus (shared launches, sm_90a): accesses to the tiles of stages, by products of warps
// and by kernels of rows.

// splitAddresses are the sums that accesses to shared memory take in as they are.
type splitAddresses struct {
	sums   map[vreg.Value]splitAddress
	copied []ir.Operand // uniform parts of the addresses that copies write to
	beside mir.Arg      // the uniform register of the address that address returned last
}

// splitAddress is the parts of a sum.
type splitAddress struct{ lane, uniform ir.Operand }

// findSplits finds the sums of a value that differs among lanes and one that does not, and that
// only accesses to shared memory read. What asynchronous copies write to they add up themselves, with a
// uniform operand.
func (s *selector) findSplits() {
	s.sums = map[vreg.Value]splitAddress{}
	reads, copied := map[vreg.Value]int32{}, map[vreg.Value]bool{}
	s.eachNode(func(n *hir.Node) {
		switch {
		case takesSplit(n):
			reads[vreg.Value(n.Src[0].Reg)]++
		case n.Op == ir.CpAsync && n.Src[0].Reg != ir.NoReg:
			copied[vreg.Value(n.Src[0].Reg)] = true
		}
	})
	for v, times := range reads {
		if x, is := s.splits(v); is && times == s.uses[v] {
			s.sums[v] = x
		}
	}
	for v := range copied {
		if x, is := s.splits(v); is {
			s.copied = append(s.copied, x.uniform)
		}
	}
}

// splits reports whether a value is the sum of one that differs among lanes and one that does not.
func (s *selector) splits(v vreg.Value) (x splitAddress, is bool) {
	d := s.hir.DefOf(v)
	if d == nil || d.Op != ir.Add || d.Guard != vreg.None || d.Mod != 0 || len(d.Dst) != 1 || !hir.IsInt(d.Type) || hir.Bits(d.Type) != 32 || s.hir.Values[v].Words != 1 {
		return x, false
	}
	for i := range d.Src {
		if lane, uniform := d.Src[i], d.Src[1-i]; s.differs(lane) && s.agrees(uniform) {
			return splitAddress{lane, uniform}, true
		}
	}
	return x, false
}

// takesSplit reports whether a node accesses shared memory at an address in a register, with an
// instruction that takes a uniform register too.
func takesSplit(n *hir.Node) bool {
	return (n.Op == ir.Ld || n.Op == ir.St) && n.Space == ir.Shared && n.Src[0].Kind == ir.OperandAddr && n.Src[0].Reg != ir.NoReg
}

// differs reports whether an operand is a value of one definition that lanes need not agree on.
func (s *selector) differs(o ir.Operand) bool {
	return o.Kind == ir.OperandReg && !s.hir.Values[o.Reg].Uniform && s.hir.Values[o.Reg].Words == 1 && s.hir.Values[o.Reg].File == vreg.General && s.hir.Values[o.Reg].Defs == 1
}

// agrees reports whether an operand is a value that lanes agree on and that is computed from a variable.
func (s *selector) agrees(o ir.Operand) bool {
	if o.Kind != ir.OperandReg || !s.hir.Values[o.Reg].Uniform || s.hir.Values[o.Reg].Words != 1 {
		return false
	}
	return s.variesUniformly(vreg.Value(o.Reg), 0)
}

// variesUniformly reports whether a value is computed from a variable by what the uniform datapath can
// compute.
func (s *selector) variesUniformly(v vreg.Value, depth int) (varies bool) {
	if s.hir.Values[v].Defs > 1 {
		return true
	}
	d := s.hir.DefOf(v)
	if d == nil || depth > 4 || !s.onUniformDatapath(d) {
		return false
	}
	for i := range d.Src {
		if o := &d.Src[i]; o.Kind == ir.OperandReg {
			varies = varies || s.variesUniformly(vreg.Value(o.Reg), depth+1)
		}
	}
	return varies
}

// split returns the lane's part of the address of the present node, and sets beside, if the access
// takes both.
func (s *selector) split(v vreg.Value) (ir.Operand, bool) {
	x, is := s.sums[v]
	if !is || !takesSplit(s.n) || !s.isWanted(vreg.Value(x.uniform.Reg)) {
		return ir.Operand{}, false
	}
	s.beside = s.uniOperand(x.uniform)
	return x.lane, true
}
