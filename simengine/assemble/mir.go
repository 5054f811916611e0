package assemble

import "github.com/warptune/warptune/simengine/ir"

// value is a virtual register of one to four 32-bit words; the first
// len(Kernel.Regs) values are the PTX registers.
type value int32

const noValue value = -1

// file is a register file.
type file uint8

// Register files. The zero value is invalid.
const (
	fileNone file = iota
	fileGeneral
	filePred
	fileUniform
	fileUniformPred
)

// valueInfo describes a virtual register.
type valueInfo struct {
	words uint8
	file  file
	defs  int32 // number of node (then instruction groups) that define it
	def   int32 // index of the defining node when defs is 1
	// uniform: all threads of a warp hold the same value.
	uniform bool
	// remat: its defining instruction may be repeated before a use instead of
	// keeping the value in a register.
	remat bool
}

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
	switch mops[in.op].class {
	case Load, Store, Atomic, AsyncCopy:
		return true
	}
	return false
}

// mblock is a basic block of machine instructions.
type mblock struct {
	insts  []inst
	merged int // block it was if-converted into, -1
	succs  []int
	depth  int // loop depth
}
