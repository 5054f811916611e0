package assemble

import "github.com/warptune/warptune/simengine/ir"

// argKind says what an arg is.
type argKind uint8

// Kinds of argument. The zero value means absent.
const (
	argNone  argKind = iota
	argValue         // words w to w+n-1 of value v
	argImm           // immediate imm
	argConst         // constant bank word at imm (kernel parameters, .const data)
	argZero          // RZ, URZ or PT
)

// arg is an operand of a machine instruction.
type arg struct {
	kind argKind
	w, n uint8
	v    value
	imm  int64
}

func valueArg(v value, w, n uint8) arg { return arg{kind: argValue, v: v, w: w, n: n} }

// inst is a machine instruction over virtual registers.
type inst struct {
	op      mop
	id      int32 // set by the verifier to follow an instruction through scheduling
	pc      int32 // ir instruction it came from, -1 none
	carried int32 // block it belonged to before if-conversion
	guard   value
	gnot    bool
	// keeps: a guarded write that leaves the old value in the other lanes, so
	// the destination is also read.
	keeps  bool
	nsrc   uint8
	dst    [2]arg
	src    [5]arg
	space  ir.Space
	width  uint8
	nc     bool // read-only data: never conflicts with a store
	vol    bool // volatile or ordered access
	spill  int16
	memVar int32 // variable the address is known to lie in, -1 unknown
	memVal value // base value of the address, noValue none
	memOff int64 // constant offset from memVal (or from the variable)
}

func (in *inst) isMem() bool {
	switch in.op.class() {
	case Load, Store, Atomic, AsyncCopy:
		return true
	}
	return false
}

// control is an instruction without operands that the assembler adds.
func control(op mop) inst {
	return inst{op: op, pc: -1, carried: -1, guard: noValue, spill: -1, memVar: -1, memVal: noValue}
}

// wordMask is the set of words an operand covers.
func (a *arg) wordMask() uint8 { return (1<<a.n - 1) << a.w }

// reads calls f for every value operand an instruction reads.
func (in *inst) reads(f func(v value, mask uint8)) {
	for i := range in.src[:in.nsrc] {
		if a := &in.src[i]; a.kind == argValue {
			f(a.v, a.wordMask())
		}
	}
	if in.guard != noValue {
		f(in.guard, 1)
	}
	if in.keeps {
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				f(a.v, a.wordMask())
			}
		}
	}
}

// step moves a live set backwards over one instruction.
func (in *inst) step(live []uint8) {
	if !in.keeps {
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				live[a.v] &^= a.wordMask()
			}
		}
	}
	for i := range in.src[:in.nsrc] {
		if a := &in.src[i]; a.kind == argValue {
			live[a.v] |= a.wordMask()
		}
	}
	if in.guard != noValue {
		live[in.guard] |= 1
	}
	if in.keeps {
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				live[a.v] |= a.wordMask()
			}
		}
	}
}

// holdsSources says whether an instruction reads its sources some time after
// it issues, so that writing one of them soon would have to wait.
func (in *inst) holdsSources() bool {
	switch in.op.class() {
	case MUFU, XU, Store:
		return true
	}
	return false
}

// mentions says whether an instruction reads or writes a value.
func (in *inst) mentions(v value) bool {
	for i := range in.dst {
		if in.dst[i].v == v && in.dst[i].kind == argValue {
			return true
		}
	}
	for i := range in.src[:in.nsrc] {
		if in.src[i].v == v && in.src[i].kind == argValue {
			return true
		}
	}
	return in.guard == v && v != noValue
}

// rename replaces values in an instruction's operands.
func (in *inst) rename(m map[value]value) {
	for i := range in.dst {
		if t, ok := m[in.dst[i].v]; ok && in.dst[i].kind == argValue {
			in.dst[i].v = t
		}
	}
	for i := range in.src {
		if t, ok := m[in.src[i].v]; ok && in.src[i].kind == argValue {
			in.src[i].v = t
		}
	}
}
