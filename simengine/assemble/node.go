package assemble

import "github.com/warptune/warptune/simengine/ir"

// node is one PTX instruction being rewritten. Its operands name values, which
// share numbering with the PTX registers.
type node struct {
	op        ir.Op
	typ, styp ir.Type
	mod       ir.Mod
	cmp       ir.Cmp
	boolOp    ir.BoolOp
	atom      ir.AtomOp
	space     ir.Space
	vec       uint8
	pc        int32
	block     int32 // ir block it came from
	guard     value
	gnot      bool
	matrix    *ir.Matrix
	dst       []value
	src       []ir.Operand
}

// hasEffect says whether a node must stay even when its results are unused.
func (n *node) hasEffect() bool {
	switch n.op {
	case ir.St, ir.Atom, ir.Red, ir.CpAsync, ir.CpAsyncCommit, ir.CpAsyncWait, ir.Prefetch, ir.Bra, ir.Brx, ir.Exit, ir.Trap,
		ir.Bar, ir.BarRed, ir.BarWarp, ir.Membar, ir.Nanosleep, ir.Shfl, ir.Vote, ir.Match, ir.Redux, ir.Elect:
		return true
	case ir.Ld, ir.Ldu:
		return n.mod&ir.ModVolatile != 0
	}
	return false
}

// branches says whether a node expands to code with a slow path.
func (n *node) branches() bool {
	switch n.op {
	case ir.Rsqrt:
		return n.typ == ir.F64 && n.mod&ir.ModFtz == 0
	case ir.Rcp, ir.Sqrt, ir.Div:
		return n.typ == ir.F64 || n.typ == ir.F32 && n.mod&(ir.ModApprox|ir.ModFull) == 0
	}
	return false
}

// isTerminator says whether a node ends its block.
func (n *node) isTerminator() bool {
	return n.op == ir.Bra || n.op == ir.Brx || n.op == ir.Exit || n.op == ir.Trap
}

// bits32 says whether a widening multiply has 32-bit sources.
func bits32(n *node) bool {
	switch n.typ {
	case ir.U32, ir.S32, ir.B32:
		return true
	}
	return false
}

// shiftCount returns the constant shift of a node, -1 when it has none.
func shiftCount(n *node) int {
	if len(n.src) == 2 && n.src[1].Kind == ir.OperandImm && n.src[1].Imm < 64 {
		return int(n.src[1].Imm)
	}
	return -1
}

func shiftsLeft(d *node) bool {
	return d != nil && d.op == ir.Shl && bits(d.typ) == 32 && shiftCount(d) >= 0
}

func isParam(d *node) bool { return d.op == ir.Ld && d.space == ir.ParamSpace }

// repeatsHalf says that a node makes a pair of one half.
func (n *node) repeatsHalf() bool {
	return n.op == ir.Mov && len(n.src) == 2 && len(n.dst) == 1 && bits(n.typ) == 32 && n.src[0].Kind == ir.OperandReg &&
		n.src[1].Kind == ir.OperandReg && n.src[0].Reg == n.src[1].Reg
}

// takesHalves says that the machine instruction of a node reads halves in place.
func (n *node) takesHalves() bool {
	switch n.op {
	case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.Fma, ir.Min, ir.Max, ir.Neg, ir.Abs, ir.Setp:
		return isHalves(n.typ)
	case ir.Set:
		return isHalves(n.styp)
	case ir.Cvt:
		return n.styp == ir.F16 && n.typ == ir.F32
	}
	return false
}

// setsConstant says whether a node gives a value of one word a constant.
func setsConstant(n *node) bool {
	return n.op == ir.Mov && len(n.dst) == 1 && len(n.src) == 1 && n.src[0].Kind == ir.OperandImm
}

// reads counts the operands of a node, its guard among them, that are a value.
func (n *node) reads(v value) (times int32) {
	if n.guard == v {
		times++
	}
	for i := range n.src {
		if o := &n.src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && value(o.Reg) == v {
			times++
		}
	}
	return times
}

// rename has a node read another value in the place of one.
func (n *node) rename(from, to value) {
	if n.guard == from {
		n.guard = to
	}
	for i := range n.src {
		if o := &n.src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && value(o.Reg) == from {
			o.Reg = ir.Reg(to)
		}
	}
}

// volatileSpecial says whether a special register changes while a kernel runs.
func volatileSpecial(s ir.Special) bool {
	switch s {
	case ir.Clock, ir.ClockHi, ir.Clock64, ir.GlobalTimer:
		return true
	}
	return false
}
