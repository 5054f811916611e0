package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// dag is the dependence graph of one block's instructions.
type dag struct {
	insts  []mir.Inst
	ops    mir.Operands
	ints   []int32 // what the slices below lie in
	head   []int32 // by instruction: its last edge in edges, -1 none
	edges  []edge
	npreds []int32
	height []int32   // latency-weighted distance to the end of the block
	ranked *ranking  // nil: not known
	words  *wordUses // nil: not known

	// Of the block's own order, where scheduleBlock is to find a better one.
	bounds         bounds
	pressure       int
	memos          []memo // what the lister made of it so far
	lookaheadMemos []memo // and listPrudently
}

// bounds are the general registers live where a block begins and ends.
type bounds struct{ in, out int }

// boundsOf counts the registers live at the bounds of a block.
func boundsOf(f *mir.Func, b int, s *Scratch) bounds {
	count := func(live []uint8) (n int) {
		mir.EachLive(live, func(v int, m uint8) { n += int(mir.WordCount[m&s.general[v]]) })
		return n
	}
	return bounds{count(f.Live.In[b]), count(f.Live.Out[b])}
}

// edge says that an instruction may issue no earlier than lat cycles after
// another; next is another edge of the same instruction, -1 the last.
type edge struct {
	to, lat, next int32
}

// dagBuilder collects the edges of a dag.
type dagBuilder struct {
	g        *dag
	s        *Scratch
	f        *mir.Func
	physical bool
	loads    []int32 // loads so far that only stores conflict with
	memory   []int32 // other memory instructions so far
	barriers int32   // last instruction that orders all of memory
	order    int32   // last instruction that must stay in order (shuffles, votes)
}

// newDAG builds the dependence graph of a block.
//
// Registers are tracked by unit: words of values before allocation, physical
// registers after it, when reuse orders instructions too. The graph is built in
// g, whose storage it takes over.
func newDAG(f *mir.Func, insts []mir.Inst, s *Scratch, allocated bool, g *dag) *dag {
	g.ops = g.ops.Fill(insts)
	return findEdges(f, insts, s, allocated, g)
}

// findEdges is newDAG for a graph that has the operands.
func findEdges(f *mir.Func, insts []mir.Inst, s *Scratch, allocated bool, g *dag) *dag {
	n := len(insts)
	ints := slices.Grow(g.ints[:0], 3*n)[:3*n]
	clear(ints)
	*g = dag{insts: insts, ops: g.ops, ints: ints, head: ints[:n:n], npreds: ints[n : 2*n : 2*n], height: ints[2*n:], edges: slices.Grow(g.edges[:0], 5*n)}
	for i := range g.head {
		g.head[i] = -1
	}
	b := &dagBuilder{g: g, s: s, f: f, physical: allocated, barriers: -1, order: -1}
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

// What computes in less than earlyBelow cycles counts, before registers are given,
// as if its result could be read earlyCycles later and as a step of earlyHeight in a
// chain: the real assembler's order at that point is about long waits, and leaves
// short ones to its scheduling after allocation, which no longer changes how many
// registers there are. With the latencies themselves, chains of arithmetic are
// interleaved and hold registers that its code does without (of clang's kernels for
// sm_90 39 % of register counts are exact with them, 57 % with these; double
// precision, which takes as long as it takes to fill, keeps its own).
const (
	earlyBelow  = 10
	earlyCycles = 2
	earlyHeight = 1
)

// edge adds a dependence.
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

// dependLatency is the delay between an instruction and one that reads its
// result. Loads from global memory are not held back for short ones: getting
// them out early is worth a stall, as the real assembler's order shows.
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

// memoryOrder keeps accesses that may touch the same bytes, barriers and
// warp-wide operations in order.
func (b *dagBuilder) memoryOrder(insts []mir.Inst, i int32) {
	in := &insts[i]
	switch in.Op.Class() {
	case mir.Barrier, mir.Fence, mir.Control:
		for _, m := range b.memory {
			b.edge(m, i, 0)
		}
		for _, m := range b.loads {
			b.edge(m, i, 0)
		}
		b.edge(b.barriers, i, 0)
		b.edge(b.order, i, 0)
		b.barriers, b.order = i, i
		b.memory, b.loads = b.memory[:0], b.loads[:0]
		return
	case mir.Shuffle, mir.Vote:
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

// fileUnits is at least as many as registers of a file that values are given, also where they find no place under the
// cap and take as many as they need: a value has up to four words, in registers aligned to as many, and a file has up to 256.
func fileUnits(f *mir.Func) int { return 4*len(f.Values) + 256 + 4 }

// physicalUnit numbers the register that holds word w of an allocated value.
func physicalUnit(f *mir.Func, v vreg.Value, w uint8) int32 {
	if f.Regs[v] < 0 {
		return 4*int32(v) + int32(w)
	}
	base := 4 * int32(len(f.Values))
	return base + int32(f.Values[v].File)*int32(fileUnits(f)) + int32(f.Regs[v]) + int32(w)
}
