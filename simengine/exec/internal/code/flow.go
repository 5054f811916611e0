package code

import (
	"sync"

	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/ir"
)

// Flow is which registers a compiled instruction reads and writes, numbered over all register files.
type Flow struct {
	Src, Dst []int32
	Kind     FlowKind
	Address  int32 // of a memory instruction, -1: none
	Matrix   *mma.MMA
}

type FlowKind uint8

const (
	flowLanes  FlowKind = iota // each lane's results depend on its operands
	FlowMemory                 // see shadow.access
	FlowSelect                 // the last operand says which of the others
	FlowBits                   // of and, or: one operand may decide whatever the other is
	FlowShuffle
	FlowWarp // results depend on the operands of all lanes
	FlowMatrix
)

// flowTable is made when it is first needed. Most programs never need it.
type flowTable struct {
	once  sync.Once
	flows []Flow
}

// Register is the number of a slot among all files, -1 for none.
func (p *Program) Register(s Slot) int32 {
	switch s.File {
	case File32:
		return s.Index
	case File64:
		return p.N32 + s.Index
	case FilePred:
		return p.N32 + p.N64 + s.Index
	}
	return -1
}

// FlowsOf returns the flows of the program's code, by instruction.
func (p *Program) FlowsOf() []Flow {
	p.flows.once.Do(func() {
		p.flows.flows = make([]Flow, len(p.Code))
		for i := range p.Code {
			p.flows.flows[i] = p.flowOf(i)
		}
	})
	return p.flows.flows
}

func (p *Program) flowOf(i int) Flow {
	in := &p.Code[i]
	ki := &p.Executed.Instrs[in.PC]
	f := Flow{Address: -1}
	add := func(list *[]int32, s Slot) {
		if n := p.Register(s); n >= 0 {
			*list = append(*list, n)
		}
	}
	if in.Kind == KindMemory {
		f.Kind = FlowMemory
		f.Address = p.Register(in.X.Access.Base)
		return f
	}
	src := ki.Src
	if ki.Mirrored() {
		src = src[1:] // the move beside the access
	}
	for n := range src {
		if o := &src[n]; o.Kind == ir.OperandReg && o.Reg != ir.NoReg {
			add(&f.Src, p.Slots[o.Reg])
		}
	}
	for _, r := range ki.Dst {
		if r != ir.NoReg {
			add(&f.Dst, p.Slots[r])
		}
	}
	switch ki.Op {
	case ir.Selp:
		f.Kind = FlowSelect
	case ir.And, ir.Or, ir.Setp:
		if ki.Op != ir.Setp || len(ki.Src) > 2 && (ki.Bool == ir.BoolAnd || ki.Bool == ir.BoolOr) {
			f.Kind = FlowBits
		}
	case ir.Shfl:
		f.Kind = FlowShuffle
	case ir.Vote, ir.Match, ir.Redux, ir.BarRed, ir.Movmatrix:
		f.Kind = FlowWarp
	case ir.Mma:
		f.Kind, f.Matrix = FlowMatrix, in.X.Matrix
	}
	return f
}
