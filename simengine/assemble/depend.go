package assemble

import "github.com/warptune/warptune/simengine/ir"

// dag is the dependence graph of one block's instructions.
type dag struct {
	succs  [][]edge
	npreds []int32
	height []int32 // latency-weighted distance to the end of the block
}

// edge says that an instruction may issue no earlier than lat cycles after
// another.
type edge struct {
	to  int32
	lat int32
}

// builder collects the edges of a dag.
type dagBuilder struct {
	g        *dag
	lastDef  []int32   // by register unit: last writer
	readers  [][]int32 // by register unit: readers since its last write
	touched  []int32
	unit     func(v value, w uint8) int32
	fence    bool    // barriers keep everything in place
	memory   []int32 // memory instructions so far
	barriers int32   // last instruction that orders all of memory
	order    int32   // last instruction that must stay in order (shuffles, votes)
}

// newDAG builds the dependence graph of a block.
//
// Registers are tracked by unit: words of values before allocation, physical
// registers after it, when reuse orders instructions too.
func (f *fn) newDAG(insts []inst, s *scratch, allocated bool) *dag {
	n := len(insts)
	g := &dag{succs: make([][]edge, n), npreds: make([]int32, n), height: make([]int32, n)}
	b := &dagBuilder{g: g, lastDef: s.lastDef, readers: s.readers, barriers: -1, order: -1, fence: false}
	b.unit = func(v value, w uint8) int32 { return 4*int32(v) + int32(w) }
	if allocated {
		b.unit = f.physicalUnit
	}
	for i := range insts {
		b.add(insts, int32(i))
	}
	for _, u := range b.touched {
		b.lastDef[u] = -1
		b.readers[u] = b.readers[u][:0]
	}
	for i := n - 1; i >= 0; i-- {
		h := int32(mops[insts[i].op].latency)
		for _, e := range g.succs[i] {
			h = max(h, e.lat+g.height[e.to])
		}
		g.height[i] = h
	}
	return g
}

// edge adds a dependence.
func (b *dagBuilder) edge(from, to, lat int32) {
	if from < 0 || from == to {
		return
	}
	es := b.g.succs[from]
	for k := len(es) - 1; k >= 0 && k >= len(es)-4; k-- {
		if es[k].to == to {
			es[k].lat = max(es[k].lat, lat)
			return
		}
	}
	b.g.succs[from] = append(es, edge{to, lat})
	b.g.npreds[to]++
}

// dependLatency is the delay between an instruction and one that reads its
// result. Loads from global memory are not held back for short ones: getting
// them out early is worth a stall, as the real assembler's order shows.
func dependLatency(def, use *inst) int32 {
	lat := int32(mops[def.op].latency)
	if use.op == opLDG && lat < 10 {
		return 1
	}
	return lat
}

// add adds the dependences of instruction i on those before it.
func (b *dagBuilder) add(insts []inst, i int32) {
	in := &insts[i]
	in.reads(func(v value, mask uint8) {
		for w := uint8(0); w < 4; w++ {
			if mask&(1<<w) == 0 {
				continue
			}
			u := b.unit(v, w)
			b.touched = append(b.touched, u)
			if d := b.lastDef[u]; d >= 0 {
				b.edge(d, i, dependLatency(&insts[d], in))
			}
			b.readers[u] = append(b.readers[u], i)
		}
	})
	for k := range in.dst {
		a := &in.dst[k]
		if a.kind != argValue {
			continue
		}
		for w := a.w; w < a.w+a.n; w++ {
			u := b.unit(a.v, w)
			b.touched = append(b.touched, u)
			for _, r := range b.readers[u] {
				b.edge(r, i, 0)
			}
			if d := b.lastDef[u]; d >= 0 {
				b.edge(d, i, 1)
			}
			b.lastDef[u] = i
			b.readers[u] = b.readers[u][:0]
		}
	}
	b.memoryOrder(insts, i)
	if c := mops[in.op].class; c == Branch || c == Exit || in.op == opTRAP {
		for j := int32(0); j < i; j++ {
			b.edge(j, i, 0)
		}
		b.barriers, b.order = i, i
	} else if c == Barrier && b.fence {
		for j := int32(0); j < i; j++ {
			b.edge(j, i, 0)
		}
		b.barriers, b.order = i, i
	} else if b.barriers >= 0 && (isBranch(insts[b.barriers].op) || b.fence && mops[insts[b.barriers].op].class == Barrier) {
		b.edge(b.barriers, i, 0)
	}
}

func isBranch(op mop) bool {
	c := mops[op].class
	return c == Branch || c == Exit || op == opTRAP
}

// memoryOrder keeps accesses that may touch the same bytes, barriers and
// warp-wide operations in order.
func (b *dagBuilder) memoryOrder(insts []inst, i int32) {
	in := &insts[i]
	switch mops[in.op].class {
	case Barrier, Fence, Control:
		for _, m := range b.memory {
			b.edge(m, i, 0)
		}
		b.edge(b.barriers, i, 0)
		b.edge(b.order, i, 0)
		b.barriers, b.order = i, i
		b.memory = b.memory[:0]
		return
	case Shuffle, Vote:
		b.edge(b.order, i, 1)
		b.order = i
		return
	}
	if !in.isMem() {
		return
	}
	b.edge(b.barriers, i, 0)
	for _, m := range b.memory {
		if conflict(&insts[m], in) {
			b.edge(m, i, 1)
		}
	}
	b.memory = append(b.memory, i)
}

// conflict says whether two accesses must stay in order.
func conflict(a, b *inst) bool {
	if a.vol || b.vol {
		return true
	}
	load := func(x *inst) bool { return mops[x.op].class == Load }
	if load(a) && load(b) || a.nc || b.nc {
		return false
	}
	if a.space != b.space && a.space != ir.Generic && b.space != ir.Generic {
		return false
	}
	if a.memVar >= 0 && b.memVar >= 0 && a.memVar != b.memVar {
		return false
	}
	if a.memVal == b.memVal && (a.memVal != noValue || a.memVar == b.memVar) {
		return a.memOff < b.memOff+int64(b.width) && b.memOff < a.memOff+int64(a.width)
	}
	return true
}

// physicalUnit numbers the register that holds word w of an allocated value.
func (f *fn) physicalUnit(v value, w uint8) int32 {
	if f.regs[v] < 0 {
		return 4*int32(v) + int32(w)
	}
	base := 4 * int32(len(f.vals))
	return base + int32(f.vals[v].file)*1024 + int32(f.regs[v]) + int32(w)
}
