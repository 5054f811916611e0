// Package isel selects machine instructions: it lowers an hir.Func to a mir.Func. The files
// lower*.go take one kind of operation each; operands.go has what an operand can be; uniform*.go
// decide what resides in uniform registers.
package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Instruction selection, bottom-up: blocks from the last to the first and nodes from the end, as in
// maximal munch (Cattell, 1978). When a node is lowered its readers are known. What all of them
// take in as part of themselves is never computed on its own, and what nobody reads is dropped.
//
//	setp p, x, 0      not demanded: the LOP3 below sets the predicate
//	and  x, a, b      demanded by setp alone
//	--------------
//	LOP3 p, a, b

// subst says that a value lives inside another one, from word w of v on.
type subst struct {
	v vreg.Value
	w uint8
}

// demand is which words of a value are read, and from which register file.
type demand uint8

const (
	demandLow     demand = 1 << iota // the first word
	demandHigh                       // the second word
	demandGeneral                    // by a slot that takes general registers only
	demandEither                     // by a flexible slot
	demandUniform                    // by a uniform instruction (from its twin)
)

// selector lowers the nodes of a kernel.
type selector struct {
	hir     *hir.Func
	out     *mir.Func // what is made
	scratch *Scratch
	cursor
	demands
	bindings
	files
	definitions
	splitAddresses
}

// cursor is the node being lowered.
type cursor struct {
	b         int // its block
	n         *hir.Node
	buf       []mir.Inst // its instructions so far, in order
	bare      int        // the first so many of them have no guard
	takesHalf bool       // some operand that stripModifiers returned last is one half of a register
}

// demands are what the readers of values need.
type demands struct {
	demand    []demand               // by value
	uses      []int32                // by value: reads
	writers   map[vreg.Value][]int32 // nodes that write values with several definitions; nil: not computed yet
	absorbed  []bool                 // by value: multiplications that all readers take in as multiply-adds
	keep      map[int32]bool         // guarded nodes whose results keep the old value in other lanes
	zeroTests map[vreg.Value]mir.Arg // by value: predicate that its instruction sets if it is zero
}

// bindings are where values live.
type bindings struct {
	sub       map[vreg.Value]subst
	twin      []vreg.Value         // by value: its copy in the uniform file, None where there is none
	mmaInputs map[vreg.Value]int32 // by value: reads as operand A or B of an MMA
}

// files is the choice between the general and the uniform file.
type files struct {
	comparedWithConst []bool              // by value: parameters that are compared with an immediate
	visiting          []bool              // by value: on the way of needsGeneral
	filesDecided      bool                // the file of every variable is chosen
	steppedInPlace    map[vreg.Value]bool // uniform pointers that a UIMAD.WIDE steps
	wanted            []bool              // by value: see findWanted
}

// definitions are the parameters, constants and addresses that blocks define for themselves.
type definitions struct {
	innermost []bool // by block: in a loop without loops inside
	local     map[localKey]vreg.Value
	pending   [][]localDef // by block: to be defined there
	hoisted   map[localKey]bool
	hoistedAt map[int]int // by block: registers of parameters that could be hoisted to it
}

// Select lowers every block of a kernel. It adds values to f and fails on instructions that it
// cannot lower.
func Select(f *hir.Func, x *Scratch) (*mir.Func, error) {
	m := &mir.Func{Kernel: f.Kernel, Target: f.Target, Check: f.Check, Order: f.Order, UniformNumbers: map[vreg.Value]bool{}}
	s := &selector{
		hir: f, out: m, scratch: x,
		demands:     demands{demand: make([]demand, len(f.Values)), uses: f.CountUses(), keep: map[int32]bool{}, zeroTests: map[vreg.Value]mir.Arg{}},
		bindings:    bindings{sub: map[vreg.Value]subst{}, twin: make([]vreg.Value, len(f.Values))},
		files:       files{steppedInPlace: map[vreg.Value]bool{}},
		definitions: definitions{innermost: f.InnermostLoops(), local: map[localKey]vreg.Value{}, pending: make([][]localDef, len(f.Blocks)), hoisted: map[localKey]bool{}, hoistedAt: map[int]int{}},
	}
	for i := range s.twin {
		s.twin[i] = vreg.None
	}
	s.absorbed = make([]bool, len(f.Values))
	if f.Target.Uses(rules.AbsorbedMultiplies) {
		s.findAbsorbed()
	}
	m.Blocks = make([]mir.Block, len(f.Blocks))
	for b := range f.Blocks {
		hb := &f.Blocks[b]
		m.Blocks[b] = mir.Block{Merged: hb.Merged, Holds: hb.Holds, Succs: hb.Succs, Preds: hb.Preds, LoopDepth: hb.LoopDepth}
	}
	s.demandVariables()
	s.bindFragments()
	s.bindVectors()
	for i := len(f.Order) - 1; i >= 0; i-- {
		if err := s.block(f.Order[i]); err != nil {
			return nil, err
		}
	}
	s.prologue()
	s.applySubst()
	s.narrow()
	m.Values = f.Values
	if m.Check {
		m.MayBeUnwritten = s.undefined()
	}
	return m, nil
}

// undefined returns the values that the PTX itself may read unwritten, and the vectors that these
// became part of.
func (s *selector) undefined() map[vreg.Value]bool {
	all := map[vreg.Value]bool{}
	if len(s.hir.Order) == 0 {
		return all
	}
	entry := s.hir.Kernel.Liveness().In[s.hir.Order[0]]
	for r := range s.hir.Kernel.Regs {
		v := vreg.Value(r)
		if !entry.Has(ir.Reg(r)) && s.hir.Values[v].Defs == 1 {
			continue
		}
		all[v] = true
		if b, bound := s.sub[v]; bound {
			all[b.v] = true
		}
	}
	return all
}

// Scratch is storage that selections reuse.
type Scratch struct{ rev []mir.Inst }

// block lowers one block from its end.
func (s *selector) block(b int) error {
	f := s.hir
	hb := &f.Blocks[b]
	rev := s.scratch.rev[:0]
	s.b = b
	if f.IsExit(b) {
		return nil // every predecessor exits itself
	}
	s.n, s.buf = &hir.Node{Guard: vreg.None}, s.buf[:0]
	s.closeBlock()
	for _, in := range s.buf {
		in.PC = -1
		rev = append(rev, in)
	}
	for i := len(hb.Nodes) - 1; i >= 0; i-- {
		ni := hb.Nodes[i]
		n := &f.Nodes[ni]
		if !s.isDemanded(n) {
			continue
		}
		s.n, s.buf, s.bare = n, s.buf[:0], 0
		if n.Guard != vreg.None {
			s.demand[n.Guard] |= demandLow
		}
		if err := s.lowerNode(n); err != nil {
			return err
		}
		for j := range s.buf {
			in := &s.buf[j]
			if in.Guard == vreg.None && in.Op.Class() != mir.Uniform && j >= s.bare {
				in.Guard, in.GuardNot = n.Guard, n.GuardNot
			}
			in.KeepsOld = in.KeepsOld || s.keep[ni] && in.Guard != vreg.None && s.writesVariable(in)
			if in.PC >= 0 {
				in.PC = n.PC
			}
			in.Carried = -1
			if int(n.Block) != b {
				in.Carried = n.Block
			}
		}
		for j := len(s.buf) - 1; j >= 0; j-- {
			rev = append(rev, s.buf[j])
		}
	}
	slices.Reverse(rev)
	s.scratch.rev = rev
	s.out.Blocks[b].Insts = s.define(b, rev)
	return nil
}

// writesVariable reports whether an instruction writes a value that other nodes write too.
func (s *selector) writesVariable(in *mir.Inst) bool {
	for i := range in.Dst {
		a := &in.Dst[i]
		if a.Kind != mir.ArgValue {
			continue
		}
		if s.hir.Values[a.Value].Defs > 1 || slices.ContainsFunc(s.n.Dst, func(d vreg.Value) bool {
			b, bound := s.sub[d]
			return d == a.Value || bound && b.v == a.Value && s.hir.Values[d].Defs > 1
		}) {
			return true
		}
	}
	return false
}

// emit appends an instruction of the present node.
func (s *selector) emit(op mir.Op, dst mir.Arg, src ...mir.Arg) *mir.Inst {
	in := mir.Inst{Op: op, Guard: vreg.None, SpillSlot: -1, MemVar: -1, MemBase: vreg.None, Carried: -1, NSrc: uint8(len(src))}
	in.Dst[0] = dst
	copy(in.Src[:], src)
	s.buf = append(s.buf, in)
	return &s.buf[len(s.buf)-1]
}

// emitBeside emits an operation that comes with the one that stands for the PTX instruction, and does not
// stand for it itself.
func (s *selector) emitBeside(op mir.Op) { s.emit(op, mir.Arg{}).PC = -1 }

// temp returns a new general register of w words.
func (s *selector) temp(w uint8) mir.Arg {
	return mir.ValueWords(s.newValue(w, vreg.General), 0, w)
}

// newValue adds a virtual register.
func (s *selector) newValue(w uint8, fl vreg.File) vreg.Value {
	v := s.hir.NewValue(w, fl)
	s.demand = append(s.demand, 0)
	s.twin = append(s.twin, vreg.None)
	return v
}

// twinOf returns the copy of a value in the uniform file.
func (s *selector) twinOf(v vreg.Value) vreg.Value {
	if s.hir.Values[v].File == vreg.Uniform {
		return v
	}
	if s.twin[v] == vreg.None {
		t := s.newValue(s.hir.Values[v].Words, vreg.Uniform)
		s.twin[v] = t
	}
	return s.twin[v]
}
