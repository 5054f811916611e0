package mir

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// argKind is the kind of an operand.
type argKind uint8

// Kinds of operand. The zero value means that there is none.
const (
	ArgNone  argKind = iota
	ArgValue         // words Word to Word+N-1 of Value
	ArgImm           // immediate Imm
	ArgConst         // constant memory at Imm: kernel parameters, .const data
	ArgZero          // RZ, URZ or PT
)

// Arg is an operand of a machine instruction.
type Arg struct {
	Kind    argKind
	Word, N uint8
	Value   vreg.Value
	Imm     int64
}

// ValueWords is the operand of n words of v from word w on.
func ValueWords(v vreg.Value, w, n uint8) Arg { return Arg{Kind: ArgValue, Value: v, Word: w, N: n} }

// Inst is a machine instruction over virtual registers.
type Inst struct {
	Op       Op
	ID       int32 // set by the verifier, to follow an instruction through scheduling
	PC       int32 // index of its PTX instruction, -1 none
	Carried  int32 // block that it belonged to before if-conversion, -1 none
	Guard    vreg.Value
	GuardNot bool
	// KeepsOld marks a guarded write that leaves the old value in the other lanes: the destination
	// is also read.
	KeepsOld bool
	NSrc     uint8
	Dst      [2]Arg
	Src      [5]Arg
	// Acc are the accumulators of a Wgmma, which it reads and writes in place; with AccNew it only
	// writes them. A wait for products has those that it makes readable.
	Acc         []Arg
	AccNew      bool
	Space       ir.Space
	Width       uint8      // bytes a lane accesses
	NonCoherent bool       // read-only data: never conflicts with a store
	Volatile    bool       // volatile or ordered access
	SpillSlot   int16      // place in the spill area, in words; -1 none
	MemVar      int32      // variable that the address lies in, -1 unknown
	MemBase     vreg.Value // value that the address is based on, vreg.None none
	MemOffset   int64      // bytes from MemBase, or from the start of MemVar
}

// IsMem reports whether an instruction accesses memory other than constant memory.
func (in *Inst) IsMem() bool {
	switch in.Op.Class() {
	case Load, Store, Atomic, AsyncCopy:
		return true
	}
	return false
}

// NewControl is an instruction without operands and without a PTX instruction.
func NewControl(op Op) Inst {
	return Inst{Op: op, PC: -1, Carried: -1, Guard: vreg.None, SpillSlot: -1, MemVar: -1, MemBase: vreg.None}
}

// WordMask is the set of words that an operand covers.
func (a *Arg) WordMask() uint8 { return (1<<a.N - 1) << a.Word }

// EachRead calls f for every value that an instruction reads, with the words read.
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
	if !in.AccNew {
		for i := range in.Acc {
			f(in.Acc[i].Value, in.Acc[i].WordMask())
		}
	}
}

// EachWrite calls f for every operand that an instruction writes, accumulators among them.
func (in *Inst) EachWrite(f func(a *Arg)) {
	for i := range in.Dst {
		if a := &in.Dst[i]; a.Kind == ArgValue {
			f(a)
		}
	}
	for i := range in.Acc {
		f(&in.Acc[i])
	}
}

// Step updates a live set, words by value, from after an instruction to before it.
func (in *Inst) Step(live []uint8) {
	if !in.KeepsOld {
		for i := range in.Dst {
			if a := &in.Dst[i]; a.Kind == ArgValue {
				live[a.Value] &^= a.WordMask()
			}
		}
	}
	for i := range in.Acc {
		if a := &in.Acc[i]; in.AccNew {
			live[a.Value] &^= a.WordMask()
		} else {
			live[a.Value] |= a.WordMask()
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

// readsLate reports whether an instruction reads its sources some cycles after it issues. An
// instruction that overwrites one of them soon would have to wait.
func (in *Inst) readsLate() bool {
	switch in.Op.Class() {
	case MUFU, XU, Store:
		return true
	}
	return false
}

// Mentions reports whether an instruction reads or writes v.
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
	for i := range in.Acc {
		if in.Acc[i].Value == v {
			return true
		}
	}
	return in.Guard == v && v != vreg.None
}

// Rename replaces values in the operands of an instruction.
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
	if len(in.Acc) > 0 {
		in.Acc = slices.Clone(in.Acc)
	}
	for i := range in.Acc {
		if t, ok := m[in.Acc[i].Value]; ok {
			in.Acc[i].Value = t
		}
	}
}
