package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// The dependence graph of a basic block.
//
// An edge says that an instruction issues no earlier than so many cycles after another one. There are edges from the
// definition of an operand (its latency), from a reader of a register that it overwrites (0), from an access to the
// same bytes of memory, and from barriers. The height of an instruction is the longest path to the end of the block,
// in cycles: the priority of list scheduling.

// dag is the dependence graph of one block's instructions.
type dag struct {
	insts  []mir.Inst
	ops    mir.Operands
	ints   []int32 // backing store of head, npreds and height
	head   []int32 // by instruction: its last edge in edges, -1 none
	edges  []edge
	npreds []int32   // by instruction: predecessors
	height []int32   // by instruction: longest path to the end of the block, cycles
	ranked *ranking  // nil: not computed yet
	words  *wordUses // nil: not computed yet

	// Of the block in its own order.
	bounds         bounds
	pressure       int    // general registers live at most
	memos          []memo // runs of the list scheduler
	lookaheadMemos []memo // runs of the look-ahead scheduler

	// By instruction: it is a load or shuffle, or one depends on it. nil where arithmetic may go as far ahead as loads (see
	// loadsahead.go).
	leads []bool
}

// bounds are the general registers live at the start and at the end of a block.
type bounds struct{ in, out int }

// boundsOf counts the general registers live at the start and at the end of block b.
func boundsOf(f *mir.Func, b int, s *Scratch) bounds {
	count := func(live []uint8) (n int) {
		mir.EachLive(live, func(v int, m uint8) { n += int(mir.WordCount[m&s.general[v]]) })
		return n
	}
	return bounds{count(f.Live.In[b]), count(f.Live.Out[b])}
}

// edge says that instruction to issues no earlier than lat cycles after another one. next is the
// index of another edge of the same instruction, -1 none.
type edge struct {
	to, lat, next int32
}

// dagBuilder collects the edges of a dag.
type dagBuilder struct {
	g        *dag
	s        *Scratch
	f        *mir.Func
	physical bool    // registers are allocated: units are physical registers
	loads    []int32 // loads so far, which only stores conflict with
	memory   []int32 // stores, atomics and volatile accesses so far
	barriers int32   // last instruction that orders all of memory, -1 none
	order    int32   // last instruction that keeps its order among shuffles and votes, -1 none
	async    asyncOrder
}

// newDAG builds the dependence graph of insts. Before allocation a unit of dependence is a word of
// a value; after it, a physical register, so that reuse of a register orders instructions too. The
// graph takes over the storage of g.
func newDAG(f *mir.Func, insts []mir.Inst, s *Scratch, allocated bool, g *dag) *dag {
	g.ops = g.ops.Fill(insts)
	return findEdges(f, insts, s, allocated, g)
}

// findEdges is newDAG for a graph whose operands are packed already.
func findEdges(f *mir.Func, insts []mir.Inst, s *Scratch, allocated bool, g *dag) *dag {
	n := len(insts)
	ints := slices.Grow(g.ints[:0], 3*n)[:3*n]
	clear(ints)
	*g = dag{insts: insts, ops: g.ops, ints: ints, head: ints[:n:n], npreds: ints[n : 2*n : 2*n], height: ints[2*n:], edges: slices.Grow(g.edges[:0], 5*n)}
	for i := range g.head {
		g.head[i] = -1
	}
	b := &dagBuilder{g: g, s: s, f: f, physical: allocated, barriers: -1, order: -1, async: asyncOrder{last: -1, group: -1}}
	s.readerPool, s.touched = s.readerPool[:0], s.touched[:0]
	for i := range insts {
		b.add(insts, int32(i))
	}
	for _, u := range s.touched {
		s.lastDef[u], s.readers[u] = -1, -1
	}
	for i := n - 1; i >= 0; i-- {
		m := insts[i].Op.Info()
		h := int32(m.Latency)
		early := !allocated && m.Latency < earlyBelow && m.Class != mir.FP64
		for e := g.head[i]; e >= 0; e = g.edges[e].next {
			x := &g.edges[e]
			step := x.lat
			if early {
				x.lat, step = min(x.lat, earlyCycles), min(x.lat, earlyHeight)
			}
			h = max(h, step+g.height[x.to])
		}
		g.height[i] = h
	}
	return g
}

// Before allocation, an operation with a latency under earlyBelow cycles counts as if its result could be read after
// earlyCycles, and as earlyHeight in the height. ptxas orders for long latencies before allocation. It leaves short
// ones to its scheduling after allocation, which changes no register count. With the full latencies, chains of
// arithmetic are interleaved and hold more registers than ptxas takes. Double precision keeps its latency.
//
// Evidence, ptxas corpus: of clang's kernels for sm_90, 57 % of register counts are exact with this
// rule and 39 % without.
const (
	earlyBelow  = 10
	earlyCycles = 2
	earlyHeight = 1
)

// edge adds a dependence, or raises the latency of one that is there.
func (b *dagBuilder) edge(from, to, lat int32) {
	if from < 0 || from == to {
		return
	}
	g := b.g
	for e, k := g.head[from], 0; e >= 0 && k < 4; e, k = g.edges[e].next, k+1 {
		if x := &g.edges[e]; x.to == to {
			x.lat = max(x.lat, lat)
			return
		}
	}
	g.edges = append(g.edges, edge{to, lat, g.head[from]})
	g.head[from] = int32(len(g.edges) - 1)
	g.npreds[to]++
}

// dependLatency is the cycles between an instruction and one that reads its result. A load from
// global memory waits one cycle only for a short operation: ptxas issues it early at the cost of a
// stall.
func dependLatency(def, use *mir.Inst) int32 {
	lat := int32(def.Op.Latency())
	if use.Op == mir.OpLDG && lat < 10 {
		return 1
	}
	return lat
}

// unit numbers the register that holds word w of a value.
func (b *dagBuilder) unit(v vreg.Value, w uint8) int32 {
	if b.physical {
		return physicalUnit(b.f, v, w)
	}
	return 4*int32(v) + int32(w)
}

// reader is an entry of a unit's list of readers since its last write.
type reader struct{ inst, next int32 }

// add adds the dependences of instruction i on those before it.
func (b *dagBuilder) add(insts []mir.Inst, i int32) {
	in, s := &insts[i], b.s
	for _, r := range b.g.ops.Reads(i) {
		for w := uint8(0); w < 4; w++ {
			if r.Mask&(1<<w) == 0 {
				continue
			}
			u := b.unit(r.Value, w)
			s.touched = append(s.touched, u)
			if d := s.lastDef[u]; d >= 0 {
				b.edge(d, i, dependLatency(&insts[d], in))
			}
			s.readerPool = append(s.readerPool, reader{i, s.readers[u]})
			s.readers[u] = int32(len(s.readerPool) - 1)
		}
	}
	for _, a := range b.g.ops.Writes(i) {
		for w := uint8(0); w < 8; w++ {
			if a.Mask&(1<<w) == 0 {
				continue
			}
			u := b.unit(a.Value, w)
			s.touched = append(s.touched, u)
			for r := s.readers[u]; r >= 0; r = s.readerPool[r].next {
				b.edge(s.readerPool[r].inst, i, 0)
			}
			if d := s.lastDef[u]; d >= 0 {
				b.edge(d, i, 1)
			}
			s.lastDef[u], s.readers[u] = i, -1
		}
	}
	b.asyncOrder(insts, i)
	b.memoryOrder(insts, i)
	if mir.IsBranch(in.Op) {
		for j := int32(0); j < i; j++ {
			b.edge(j, i, 0)
		}
		b.barriers, b.order = i, i
	} else if b.barriers >= 0 && mir.IsBranch(insts[b.barriers].Op) {
		b.edge(b.barriers, i, 0)
	}
}

// memoryOrder keeps barriers, warp-wide operations and accesses that may touch the same bytes in
// order.
func (b *dagBuilder) memoryOrder(insts []mir.Inst, i int32) {
	in := &insts[i]
	switch in.Op.Class() {
	case mir.Barrier, mir.Fence, mir.Control, mir.ClusterBarrier:
		for _, m := range b.memory {
			b.edge(m, i, 0)
		}
		for _, m := range b.loads {
			b.edge(m, i, 0)
		}
		b.edge(b.barriers, i, 0)
		b.edge(b.order, i, 0)
		b.edge(b.async.last, i, 0)
		b.barriers, b.order = i, i
		b.memory, b.loads = b.memory[:0], b.loads[:0]
		return
	case mir.Shuffle, mir.Vote:
		if b.f.Target.Specific && in.Op == mir.OpSHFL && !in.Volatile {
			return
		}
		b.edge(b.order, i, 1)
		b.order = i
		return
	}
	if !in.IsMem() {
		return
	}
	b.edge(b.barriers, i, 0)
	for _, m := range b.memory {
		if mir.Conflict(&insts[m], in) {
			b.edge(m, i, 1)
		}
	}
	if in.Op.Class() == mir.Load && !in.Volatile {
		b.loads = append(b.loads, i)
		return
	}
	for _, m := range b.loads {
		if mir.Conflict(&insts[m], in) {
			b.edge(m, i, 1)
		}
	}
	b.memory = append(b.memory, i)
}

// fileUnits bounds the registers of one file that allocation may hand out, also where a cap is
// missed: a value takes up to four, aligned to four, and a file has up to 256.
func fileUnits(f *mir.Func) int { return 4*len(f.Values) + 256 + 4 }

// physicalUnit numbers the physical register that holds word w of a value.
func physicalUnit(f *mir.Func, v vreg.Value, w uint8) int32 {
	if f.Regs[v] < 0 {
		return 4*int32(v) + int32(w)
	}
	base := 4 * int32(len(f.Values))
	return base + int32(f.Values[v].File)*int32(fileUnits(f)) + int32(f.Regs[v]) + int32(w)
}
