package assemble

import (
	"fmt"
	"maps"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// hblock is a basic block of nodes.
type hblock struct {
	nodes  []int32 // indices in fn.nodes, in order
	succs  []int   // fall-through first
	preds  []int
	idom   int
	ipdom  int
	merged int // block it was if-converted into, -1 none
	holds  int // block whose first nodes were moved here, 0 none; see sinkArm
	depth  int
	div    bool // its branch is taken by some lanes of a warp only
	split  bool // only part of a warp may be in it
}

// hfn is a kernel as a control-flow graph of PTX instructions being rewritten.
type hfn struct {
	k      *ir.Kernel
	t      *target
	check  bool
	yields []bool // ir.Kernel.Yields
	vals   []valueInfo
	nodes  []node
	blocks []hblock
	order  []int           // reachable, unmerged blocks in reverse post-order
	sign   map[value]value // the upper word of each sign-extended value
	joined []int32         // PTX loads that became part of another
	wide   []WideAccess
	// unwritten are the PTX registers that a path from the entry reads before it writes them.
	unwritten []value
}

// newFunc copies a kernel into nodes.
func newFunc(k *ir.Kernel, t *target) (*hfn, error) {
	f := &hfn{k: k, yields: k.Yields(), t: t, vals: make([]valueInfo, len(k.Regs)), nodes: make([]node, len(k.Instrs)), blocks: make([]hblock, len(k.Blocks))}
	nsrc, ndst := 0, 0
	for i := range k.Instrs {
		nsrc, ndst = nsrc+len(k.Instrs[i].Src), ndst+len(k.Instrs[i].Dst)
	}
	srcs, dsts := make([]ir.Operand, 0, nsrc), make([]value, 0, ndst)
	for i, r := range k.Regs {
		f.vals[i] = valueInfo{words: words(r.Type), file: fileGeneral, def: -1}
		if r.Type == ir.Pred {
			f.vals[i].file = filePred
		}
	}
	for b := range k.Blocks {
		kb := &k.Blocks[b]
		hb := &f.blocks[b]
		*hb = hblock{succs: append([]int(nil), kb.Succs...), ipdom: kb.IPDom, merged: -1, depth: kb.LoopDepth, idom: -1}
		hb.nodes = make([]int32, 0, max(kb.End-kb.Start, 0))
		for pc := kb.Start; pc < kb.End; pc++ {
			in := &k.Instrs[pc]
			if int(in.Op) >= int(ir.NumOps) || in.Op == ir.OpInvalid {
				return nil, fmt.Errorf("assemble %s: instruction %d at %v is not valid", k.Name, pc, in.Pos)
			}
			n := node{op: in.Op, typ: in.Type, styp: in.SrcType, mod: in.Mod, cmp: in.Cmp, boolOp: in.Bool, atom: in.Atom,
				space: in.Space, vec: max(in.Vec, 1), pc: int32(pc), block: int32(b), guard: value(in.Guard), gnot: in.GuardNot, matrix: in.Matrix}
			s, d := len(srcs), len(dsts)
			srcs = append(srcs, in.Src...)
			for _, r := range in.Dst {
				dsts = append(dsts, value(r))
			}
			n.src, n.dst = srcs[s:len(srcs):len(srcs)], dsts[d:len(dsts):len(dsts)]
			f.nodes[pc] = n
			hb.nodes = append(hb.nodes, int32(pc))
		}
	}
	f.link()
	f.findUnwritten()
	f.countDefs()
	return f, nil
}

// findUnwritten fills unwritten.
func (f *hfn) findUnwritten() {
	if len(f.order) == 0 {
		return
	}
	entry := f.k.Liveness().In[f.order[0]]
	for r := range f.k.Regs {
		if entry.Has(ir.Reg(r)) {
			f.unwritten = append(f.unwritten, value(r))
		}
	}
}

// countDefs recomputes how often each value is defined, and by what: what may be read
// unwritten is once more, at the start, so that nothing takes the one definition for what is read.
func (f *hfn) countDefs() {
	for v := range f.vals {
		f.vals[v].defs, f.vals[v].def = 0, -1
	}
	for _, v := range f.unwritten {
		f.vals[v].defs = 1
	}
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			for _, d := range f.nodes[ni].dst {
				if d >= 0 {
					f.vals[d].defs++
					f.vals[d].def = ni
				}
			}
		}
	}
}

// defOf returns the only node that defines v, nil when there are none or several.
func (f *hfn) defOf(v value) *node {
	if v < 0 || int(v) >= len(f.vals) || f.vals[v].defs != 1 || f.vals[v].def < 0 {
		return nil
	}
	return &f.nodes[f.vals[v].def]
}

// newValue adds a virtual register.
func (f *hfn) newValue(w uint8, fl file) value {
	f.vals = append(f.vals, valueInfo{words: w, file: fl, def: -1})
	return value(len(f.vals) - 1)
}

// clone is a copy of a function to select instructions for. A copy whose values are
// rematerialised rewrites operands that it shares with copies made before, which must
// have been selected by then.
func (f *hfn) clone() *hfn {
	g := *f
	g.vals, g.nodes, g.blocks = slices.Clone(f.vals), slices.Clone(f.nodes), slices.Clone(f.blocks)
	g.sign = maps.Clone(f.sign)
	return &g
}

// WideAccess is a PTX load or store whose machine instruction does the work of several.
type WideAccess struct {
	PC    int32
	Bytes uint8
}
