// Package hir is a kernel as PTX instructions, before instruction selection, with the analyses
// that passes over it share.
package hir

import (
	"fmt"
	"maps"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// The kernel as a control-flow graph of PTX instructions, before instruction selection.
//
// A node is a PTX instruction; its operands name virtual registers. Registers that are written once
// are in SSA form as far as compilers leave them so. There are no phi functions: variables of loops
// are registers with several definitions, and passes ask how many a value has (vreg.Info.Defs).

// Block is a basic block of nodes.
type Block struct {
	Nodes     []int32 // indices in Func.Nodes, in order
	Succs     []int   // fall-through first
	Preds     []int
	IDom      int  // immediate dominator, itself for the entry
	IPDom     int  // immediate post-dominator, -1 none
	Merged    int  // block that it was if-converted into, -1 none
	Holds     int  // block whose first nodes were moved to the end of this one, 0 none (opt/sinkloads.go)
	LoopDepth int  // loops around it
	Divergent bool // lanes of a warp may leave it by different ways
	Partial   bool // some lanes of a warp may be in it without the others
	Apart     bool // so they may, or were before and nothing brought them together since (see markApart)
}

// Func is a kernel being rewritten.
type Func struct {
	Kernel    *ir.Kernel
	Target    *target.Target
	Check     bool   // verifiers run after each pass
	Yields    []bool // by block: it heads a loop whose lanes yield (ir.Kernel.Yields)
	Values    []vreg.Info
	Nodes     []Node
	Blocks    []Block
	Order     []int                     // reachable, unmerged blocks in reverse post-order
	Sign      map[vreg.Value]vreg.Value // by sign-extended value: the value that is its upper word
	Joined    []int32                   // PTX accesses that became part of another
	Wide      []WideAccess              // accesses that others became part of
	Scarce    bool                      // registers are: values are defined again rather than kept
	unwritten []vreg.Value              // PTX registers that some path from the entry reads before it writes them
}

// New copies a kernel. It reports instructions that are not valid.
func New(k *ir.Kernel, t *target.Target) (*Func, error) {
	f := &Func{Kernel: k, Yields: k.Yields(), Target: t, Values: make([]vreg.Info, len(k.Regs)), Nodes: make([]Node, len(k.Instrs)), Blocks: make([]Block, len(k.Blocks))}
	nsrc, ndst := 0, 0
	for i := range k.Instrs {
		nsrc, ndst = nsrc+len(k.Instrs[i].Src), ndst+len(k.Instrs[i].Dst)
	}
	srcs, dsts := make([]ir.Operand, 0, nsrc), make([]vreg.Value, 0, ndst)
	for i, r := range k.Regs {
		f.Values[i] = vreg.Info{Words: Words(r.Type), File: vreg.General, Def: -1}
		if r.Type == ir.Pred {
			f.Values[i].File = vreg.Predicate
		}
	}
	for b := range k.Blocks {
		kb := &k.Blocks[b]
		hb := &f.Blocks[b]
		*hb = Block{Succs: append([]int(nil), kb.Succs...), IPDom: kb.IPDom, Merged: -1, LoopDepth: kb.LoopDepth, IDom: -1}
		hb.Nodes = make([]int32, 0, max(kb.End-kb.Start, 0))
		for pc := kb.Start; pc < kb.End; pc++ {
			in := &k.Instrs[pc]
			if int(in.Op) >= int(ir.NumOps) || in.Op == ir.OpInvalid {
				return nil, fmt.Errorf("assemble %s: instruction %d at %v is not valid", k.Name, pc, in.Pos)
			}
			n := Node{Op: in.Op, Type: in.Type, SrcType: in.SrcType, Mod: in.Mod, Cmp: in.Cmp, Bool: in.Bool, Atom: in.Atom,
				Space: in.Space, Vec: max(in.Vec, 1), PC: int32(pc), Block: int32(b), Guard: vreg.Value(in.Guard), GuardNot: in.GuardNot, Matrix: in.Matrix}
			if n.Op == ir.Ld && n.Space == ir.ParamSpace && in.Src[0].Reg != ir.NoReg {
				n.Space = ir.Const // a parameter that is indexed: they lie in constant memory
			}
			s, d := len(srcs), len(dsts)
			srcs = append(srcs, in.Src...)
			for _, r := range in.Dst {
				dsts = append(dsts, vreg.Value(r))
			}
			n.Src, n.Dst = srcs[s:len(srcs):len(srcs)], dsts[d:len(dsts):len(dsts)]
			f.Nodes[pc] = n
			hb.Nodes = append(hb.Nodes, int32(pc))
		}
	}
	f.Link()
	f.findUnwritten()
	f.CountDefs()
	return f, nil
}

// findUnwritten fills unwritten.
func (f *Func) findUnwritten() {
	if len(f.Order) == 0 {
		return
	}
	entry := f.Kernel.Liveness().In[f.Order[0]]
	for r := range f.Kernel.Regs {
		if entry.Has(ir.Reg(r)) {
			f.unwritten = append(f.unwritten, vreg.Value(r))
		}
	}
}

// CountDefs recomputes the number of definitions of each value, and the one where there is one. A
// value that may be read unwritten has one more, at the entry, so that its only definition is not
// taken for what its readers see.
func (f *Func) CountDefs() {
	for v := range f.Values {
		f.Values[v].Defs, f.Values[v].Def = 0, -1
	}
	for _, v := range f.unwritten {
		f.Values[v].Defs = 1
	}
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			for _, d := range f.Nodes[ni].Dst {
				if d >= 0 {
					f.Values[d].Defs++
					f.Values[d].Def = ni
				}
			}
		}
	}
}

// DefOf returns the only node that defines v, nil where there are none or several.
func (f *Func) DefOf(v vreg.Value) *Node {
	if v < 0 || int(v) >= len(f.Values) || f.Values[v].Defs != 1 || f.Values[v].Def < 0 {
		return nil
	}
	return &f.Nodes[f.Values[v].Def]
}

// NewValue adds a virtual register of w words in a register file.
func (f *Func) NewValue(w uint8, fl vreg.File) vreg.Value {
	f.Values = append(f.Values, vreg.Info{Words: w, File: fl, Def: -1})
	return vreg.Value(len(f.Values) - 1)
}

// Clone returns a copy to select instructions for. Rematerialisation in the copy rewrites operands
// that it shares with copies made before: these must have been selected by then.
func (f *Func) Clone() *Func {
	g := *f
	g.Values, g.Nodes, g.Blocks = slices.Clone(f.Values), slices.Clone(f.Nodes), slices.Clone(f.Blocks)
	g.Sign = maps.Clone(f.Sign)
	return &g
}

// WideAccess is a PTX load or store whose machine instruction moves the bytes of several: Bytes a
// lane.
type WideAccess struct {
	PC    int32
	Bytes uint8
}
