package assemble

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

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

// fn is one kernel on its way through the pipeline.
type fn struct {
	k      *ir.Kernel
	yields []bool // ir.Kernel.Yields
	t      *target
	cap    int // registers a thread may use, 0 no cap
	check  bool
	budget int // registers a thread may be charged: the cap or an occupancy step
	reduce int // instructions to repeat at most rather than keep a value, 0 none
	vals   []valueInfo
	nodes  []node
	blocks []hblock
	order  []int // reachable, unmerged blocks in reverse post-order

	mblocks []mblock
	sub     map[value]subst
	sign    map[value]value // the upper word of each sign-extended value
	live    liveness
	peak    int       // general registers live at most, in the order that the blocks have
	own     *ordering // of the instructions as selected
	regs    []int16   // first register of each value, -1 none
	general int       // highest general register used plus one
	spills  spillState
	spared  int            // registers that hoisting parameters out of outer loops would take
	joined  []int32        // PTX loads that became part of another
	inPlace []int32        // loads from constant memory that instructions read in place
	numbers map[value]bool // pairs of uniform registers to which selection brings a number
	elected []int32        // PTX reductions that one lane does for its warp
	counted []int32        // PTX atomics that count in shared memory
	swapped []int32        // PTX atomics that are loops over a swap in it
	wide    []WideAccess
	program *Program
	tracked []map[int32]string // see trackOrder
	scratch *scratch           // shared by variants
	// unwritten are the PTX registers that a path from the entry reads before it writes them.
	unwritten []value
}

// words is the number of 32-bit words a register of a type takes.
func words(t ir.Type) uint8 {
	switch t {
	case ir.B64, ir.U64, ir.S64, ir.F64:
		return 2
	case ir.B128:
		return 4
	}
	return 1
}

// newFunc copies a kernel into nodes.
func newFunc(k *ir.Kernel, t *target) (*fn, error) {
	f := &fn{k: k, yields: k.Yields(), t: t, vals: make([]valueInfo, len(k.Regs)), nodes: make([]node, len(k.Instrs)), blocks: make([]hblock, len(k.Blocks)), sub: map[value]subst{}, scratch: &scratch{}}
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
			if n.op == ir.Ld && n.space == ir.ParamSpace && in.Src[0].Reg != ir.NoReg {
				n.space = ir.Const // a parameter that is indexed: they lie in constant memory
			}
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
func (f *fn) findUnwritten() {
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

// oneWay says that a block is reached from one other only; the first is from outside as well.
func (f *fn) oneWay(b int) bool { return b != 0 && len(f.blocks[b].preds) == 1 }

// link recomputes predecessors and the reverse post-order from successors.
func (f *fn) link() {
	for b := range f.blocks {
		f.blocks[b].preds = f.blocks[b].preds[:0]
	}
	seen := make([]bool, len(f.blocks))
	post := make([]int, 0, len(f.blocks))
	var walk func(b int)
	walk = func(b int) {
		seen[b] = true
		// Fall-through last, so that it follows directly in reverse post-order.
		for i := len(f.blocks[b].succs) - 1; i >= 0; i-- {
			if s := f.blocks[b].succs[i]; !seen[s] {
				walk(s)
			}
		}
		post = append(post, b)
	}
	if len(f.blocks) > 0 {
		walk(0)
	}
	f.order = f.order[:0]
	for i := len(post) - 1; i >= 0; i-- {
		f.order = append(f.order, post[i])
	}
	for _, b := range f.order {
		for _, s := range f.blocks[b].succs {
			f.blocks[s].preds = append(f.blocks[s].preds, b)
		}
	}
	f.dominators()
}

// dominators fills idom (Cooper, Harvey and Kennedy's iteration).
func (f *fn) dominators() {
	pos := make([]int, len(f.blocks))
	for i, b := range f.order {
		pos[b] = i
		f.blocks[b].idom = -1
	}
	if len(f.order) == 0 {
		return
	}
	f.blocks[f.order[0]].idom = f.order[0]
	for changed := true; changed; {
		changed = false
		for _, b := range f.order[1:] {
			d := -1
			for _, p := range f.blocks[b].preds {
				if f.blocks[p].idom < 0 {
					continue
				}
				for q := p; d >= 0 && q != d; {
					if pos[q] > pos[d] {
						q = f.blocks[q].idom
					} else {
						d = f.blocks[d].idom
					}
				}
				if d < 0 {
					d = p
				}
			}
			if d != f.blocks[b].idom {
				f.blocks[b].idom, changed = d, true
			}
		}
	}
}

// dominates says whether block a dominates block b.
func (f *fn) dominates(a, b int) bool {
	for {
		if a == b {
			return true
		}
		d := f.blocks[b].idom
		if d == b || d < 0 {
			return false
		}
		b = d
	}
}

// countDefs recomputes how often each value is defined, and by what: what may be read
// unwritten is once more, at the start, so that nothing takes the one definition for what is read.
func (f *fn) countDefs() {
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
func (f *fn) defOf(v value) *node {
	if v < 0 || int(v) >= len(f.vals) || f.vals[v].defs != 1 || f.vals[v].def < 0 {
		return nil
	}
	return &f.nodes[f.vals[v].def]
}

// newValue adds a virtual register.
func (f *fn) newValue(w uint8, fl file) value {
	f.vals = append(f.vals, valueInfo{words: w, file: fl, def: -1})
	return value(len(f.vals) - 1)
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
