package mir

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// argKind says what an arg is.
type argKind uint8

// Kinds of argument. The zero value means absent.
const (
	ArgNone  argKind = iota
	ArgValue         // words w to w+n-1 of value v
	ArgImm           // immediate imm
	ArgConst         // constant bank word at imm (kernel parameters, .const data)
	ArgZero          // RZ, URZ or PT
)

// Arg is an operand of a machine instruction.
type Arg struct {
	Kind    argKind
	Word, N uint8
	Value   vreg.Value
	Imm     int64
}

func ValueWords(v vreg.Value, w, n uint8) Arg { return Arg{Kind: ArgValue, Value: v, Word: w, N: n} }

// Inst is a machine instruction over virtual registers.
type Inst struct {
	Op       Op
	ID       int32 // set by the verifier to follow an instruction through scheduling
	PC       int32 // ir instruction it came from, -1 none
	Carried  int32 // block it belonged to before if-conversion
	Guard    vreg.Value
	GuardNot bool
	// keeps: a guarded write that leaves the old value in the other lanes, so
	// the destination is also read.
	KeepsOld    bool
	NSrc        uint8
	Dst         [2]Arg
	Src         [5]Arg
	Space       ir.Space
	Width       uint8
	NonCoherent bool // read-only data: never conflicts with a store
	Volatile    bool // volatile or ordered access
	SpillSlot   int16
	MemVar      int32      // variable the address is known to lie in, -1 unknown
	MemBase     vreg.Value // base value of the address, noValue none
	MemOffset   int64      // constant offset from memVal (or from the variable)
}

func (in *Inst) IsMem() bool {
	switch in.Op.Class() {
	case Load, Store, Atomic, AsyncCopy:
		return true
	}
	return false
}

// NewControl is an instruction without operands that the assembler adds.
func NewControl(op Op) Inst {
	return Inst{Op: op, PC: -1, Carried: -1, Guard: vreg.None, SpillSlot: -1, MemVar: -1, MemBase: vreg.None}
}

// WordMask is the set of words an operand covers.
func (a *Arg) WordMask() uint8 { return (1<<a.N - 1) << a.Word }

// EachRead calls f for every value operand an instruction reads.
func (in *Inst) EachRead(f func(v vreg.Value, mask uint8)) {
	for i := range in.Src[:in.NSrc] {
		if a := &in.Src[i]; a.Kind == ArgValue {
			f(a.Value, a.WordMask())
		}
	}
	if in.Guard != vreg.None {
		f(in.Guard, 1)
	}
	if in.KeepsOld {
		for i := range in.Dst {
			if a := &in.Dst[i]; a.Kind == ArgValue {
				f(a.Value, a.WordMask())
			}
		}
	}
}

// Step moves a live set backwards over one instruction.
func (in *Inst) Step(live []uint8) {
	if !in.KeepsOld {
		for i := range in.Dst {
			if a := &in.Dst[i]; a.Kind == ArgValue {
				live[a.Value] &^= a.WordMask()
			}
		}
	}
	for i := range in.Src[:in.NSrc] {
		if a := &in.Src[i]; a.Kind == ArgValue {
			live[a.Value] |= a.WordMask()
		}
	}
	if in.Guard != vreg.None {
		live[in.Guard] |= 1
	}
	if in.KeepsOld {
		for i := range in.Dst {
			if a := &in.Dst[i]; a.Kind == ArgValue {
				live[a.Value] |= a.WordMask()
			}
		}
	}
}

// readsLate says whether an instruction reads its sources some time after
// it issues, so that writing one of them soon would have to wait.
func (in *Inst) readsLate() bool {
	switch in.Op.Class() {
	case MUFU, XU, Store:
		return true
	}
	return false
}

// Mentions says whether an instruction reads or writes a value.
func (in *Inst) Mentions(v vreg.Value) bool {
	for i := range in.Dst {
		if in.Dst[i].Value == v && in.Dst[i].Kind == ArgValue {
			return true
		}
	}
	for i := range in.Src[:in.NSrc] {
		if in.Src[i].Value == v && in.Src[i].Kind == ArgValue {
			return true
		}
	}
	return in.Guard == v && v != vreg.None
}

// Rename replaces values in an instruction's operands.
func (in *Inst) Rename(m map[vreg.Value]vreg.Value) {
	for i := range in.Dst {
		if t, ok := m[in.Dst[i].Value]; ok && in.Dst[i].Kind == ArgValue {
			in.Dst[i].Value = t
		}
	}
	for i := range in.Src {
		if t, ok := m[in.Src[i].Value]; ok && in.Src[i].Kind == ArgValue {
			in.Src[i].Value = t
		}
	}
}
