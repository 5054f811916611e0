package hir

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Node is a PTX instruction being rewritten. Its operands name values, numbered as the PTX
// registers and on from there.
type Node struct {
	Op            ir.Op
	Type, SrcType ir.Type
	Mod           ir.Mod
	Cmp           ir.Cmp
	Bool          ir.BoolOp
	Atom          ir.AtomOp
	Space         ir.Space
	Vec           uint8 // elements of a vector access
	PC            int32 // index of the PTX instruction
	Block         int32 // block that it came from
	Guard         vreg.Value
	GuardNot      bool
	Matrix        *ir.Matrix
	Dst           []vreg.Value
	Src           []ir.Operand
	// Else is what the results of a guarded load hold where its guard is false; nil: what they held.
	Else []ir.Operand
}

// HasEffect reports whether a node must stay even if nothing reads its results.
func (n *Node) HasEffect() bool {
	switch n.Op {
	case ir.St, ir.Sust, ir.Atom, ir.Red, ir.CpAsync, ir.CpAsyncCommit, ir.CpAsyncWait, ir.Prefetch, ir.Bra, ir.Brx, ir.Exit, ir.Trap,
		ir.Bar, ir.BarRed, ir.BarWarp, ir.Membar, ir.Nanosleep, ir.Shfl, ir.Vote, ir.Match, ir.Redux, ir.Elect:
		return true
	case ir.Wgmma, ir.WgmmaFence, ir.WgmmaCommit, ir.WgmmaWait, ir.MbarInit, ir.MbarInval, ir.MbarArrive, ir.MbarExpect, ir.MbarWait, ir.CpAsyncArrive,
		ir.BulkCopy, ir.BulkPrefetch, ir.BulkCommit, ir.BulkWait, ir.FenceProxy, ir.TensormapSet, ir.TensormapCopy, ir.Setmaxnreg, ir.ClusterBarrier:
		return true
	case ir.Ld, ir.Ldu:
		return n.Mod&ir.ModVolatile != 0
	}
	return false
}

// OfAllLanes reports whether a shuffle is one of all lanes, by its mask.
func (n *Node) OfAllLanes() bool {
	return len(n.Src) > 3 && n.Src[3].Kind == ir.OperandImm && uint32(n.Src[3].Imm) == 1<<32-1
}

// HasSlowPath reports whether a node expands to code that branches to a slow path.
func (n *Node) HasSlowPath() bool {
	switch n.Op {
	case ir.Rsqrt:
		return n.Type == ir.F64 && n.Mod&ir.ModFtz == 0
	case ir.Rcp, ir.Sqrt, ir.Div:
		return n.Type == ir.F64 || n.Type == ir.F32 && n.Mod&(ir.ModApprox|ir.ModFull) == 0
	}
	return false
}

// IsTerminator reports whether a node ends its block.
func (n *Node) IsTerminator() bool {
	return n.Op == ir.Bra || n.Op == ir.Brx || n.Op == ir.Exit || n.Op == ir.Trap
}

// Is32Bit reports whether a widening multiply has 32-bit sources.
func Is32Bit(n *Node) bool {
	switch n.Type {
	case ir.U32, ir.S32, ir.B32:
		return true
	}
	return false
}

// ShiftCount returns the constant count of a shift, -1 where it has none.
func ShiftCount(n *Node) int {
	if len(n.Src) == 2 && n.Src[1].Kind == ir.OperandImm && n.Src[1].Imm < 64 {
		return int(n.Src[1].Imm)
	}
	return -1
}

// ShiftsLeft reports whether a node shifts 32 bits left by a constant.
func ShiftsLeft(d *Node) bool {
	return d != nil && d.Op == ir.Shl && Bits(d.Type) == 32 && ShiftCount(d) >= 0
}

// IsParam reports whether a node loads a kernel parameter.
func IsParam(d *Node) bool { return d.Op == ir.Ld && d.Space == ir.ParamSpace }

// RepeatsHalf reports whether a node packs one half twice into a word.
func (n *Node) RepeatsHalf() bool {
	return n.Op == ir.Mov && len(n.Src) == 2 && len(n.Dst) == 1 && Bits(n.Type) == 32 && n.Src[0].Kind == ir.OperandReg &&
		n.Src[1].Kind == ir.OperandReg && n.Src[0].Reg == n.Src[1].Reg
}

// ReadsHalves reports whether the machine instruction of a node reads a half of a register as an
// operand.
func (n *Node) ReadsHalves() bool {
	switch n.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.Fma, ir.Min, ir.Max, ir.Neg, ir.Abs, ir.Setp:
		return IsHalf(n.Type)
	case ir.Set:
		return IsHalf(n.SrcType)
	case ir.Cvt:
		return n.SrcType == ir.F16 && n.Type == ir.F32
	}
	return false
}

// SetsConstant reports whether a node sets a value to an immediate.
func SetsConstant(n *Node) bool {
	return n.Op == ir.Mov && len(n.Dst) == 1 && len(n.Src) == 1 && n.Src[0].Kind == ir.OperandImm
}

// Reads counts the operands of a node, its guard among them, that name v.
func (n *Node) Reads(v vreg.Value) (times int32) {
	if n.Guard == v {
		times++
	}
	for i := range n.Src {
		if o := &n.Src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && vreg.Value(o.Reg) == v {
			times++
		}
	}
	return times
}

// EachRead calls f for every value that a node reads, its guard among them.
func (n *Node) EachRead(f func(v vreg.Value)) {
	if n.Guard != vreg.None {
		f(n.Guard)
	}
	for i := range n.Src {
		if o := &n.Src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg {
			f(vreg.Value(o.Reg))
		}
	}
}

// VolatileSpecial reports whether a special register changes while a kernel runs.
func VolatileSpecial(s ir.Special) bool {
	switch s {
	case ir.Clock, ir.ClockHi, ir.Clock64, ir.GlobalTimer:
		return true
	}
	return false
}
