package assemble

import "github.com/warptune/warptune/simengine/ir"

// spillAt moves values to local memory until none of the points is crowded any
// more, and says whether it moved any.
func (f *mfn) spillAt(points []crowd) bool {
	if len(points) == 0 {
		return false
	}
	cost := f.spillCosts()
	cover := make([]int, len(f.vals))
	at := f.pointsOf(points, cover)
	var candidates []value
	for v := range cover {
		if cover[v] > 0 && !f.spills.pinned[value(v)] {
			candidates = append(candidates, value(v))
		}
	}
	victims := make([]bool, len(f.vals))
	found := false
	for {
		best, bestScore := noValue, 0.0
		for _, v := range candidates {
			if cover[v] == 0 || victims[v] {
				continue
			}
			if s := float64(cover[v]*f.generalWords(v)) / cost[v]; s > bestScore {
				best, bestScore = v, s
			}
		}
		if best == noValue {
			break
		}
		victims[best], found = true, true
		w := f.generalWords(best)
		for _, i := range at(best) {
			p := &points[i]
			if p.over <= 0 {
				continue
			}
			if p.over -= w; p.over <= 0 {
				for _, v := range p.live {
					cover[v]--
				}
			}
		}
		cover[best] = 0
	}
	if found {
		f.spill(victims)
	}
	return found
}

// spillCosts estimates the accesses that spilling each value would add: its
// reads and writes, ten times as many for each loop around them.
func (f *mfn) spillCosts() []float64 {
	cost := make([]float64, len(f.vals))
	for _, b := range f.order {
		w := 1.0
		for range f.blocks[b].depth {
			w *= 10
		}
		for i := range f.blocks[b].insts {
			in := &f.blocks[b].insts[i]
			in.reads(func(v value, _ uint8) { cost[v] += w })
			for j := range in.dst {
				if a := &in.dst[j]; a.kind == argValue && !f.vals[a.v].remat {
					cost[a.v] += w
				}
			}
		}
	}
	for v := range cost {
		cost[v] += 0.5
	}
	return cost
}

// spill rewrites the program so that the victims live in local memory: a store
// after every write, a load before every read. Victims that an instruction
// without operands defines are defined again instead.
func (f *mfn) spill(victims []bool) {
	if f.spills.pinned == nil {
		f.spills.pinned = map[value]bool{}
	}
	slot := make(map[value]int16)
	defs := f.rematDefs(victims)
	n := value(len(victims))
	for _, b := range f.order {
		insts := f.blocks[b].insts
		out := make([]inst, 0, len(insts)+16)
		for i := range insts {
			in := insts[i]
			local := map[value]value{}
			in.reads(func(v value, _ uint8) {
				if v >= n || !victims[v] || f.vals[v].file != fileGeneral {
					return
				}
				if _, ok := local[v]; ok {
					return
				}
				t := f.pinned(v)
				local[v] = t
				if d, ok := defs[v]; ok {
					d.dst[0].v = t
					out = append(out, d)
					return
				}
				f.spills.loads++
				out = append(out, f.spillAccess(opLDL, t, f.slotOf(slot, v), &in))
			})
			var stores []inst
			for k := range in.dst {
				a := &in.dst[k]
				if a.kind != argValue || a.v >= n || !victims[a.v] || f.vals[a.v].file != fileGeneral {
					continue
				}
				v := a.v
				if _, ok := defs[v]; ok {
					in.op = opInvalid // defined again at each use
					continue
				}
				t, ok := local[v]
				if !ok {
					t = f.pinned(v)
					local[v] = t
				}
				f.spills.stores++
				stores = append(stores, f.spillAccess(opSTL, t, f.slotOf(slot, v), &in))
			}
			if in.op == opInvalid {
				continue
			}
			in.rename(local)
			out = append(out, in)
			out = append(out, stores...)
		}
		f.blocks[b].insts = out
	}
}

// pinned returns a new value that stands for v around one instruction.
func (f *mfn) pinned(v value) value {
	t := f.newValue(f.vals[v].words, fileGeneral)
	f.spills.pinned[t] = true
	return t
}

// slotOf returns the word offset of a value's place in the spill area.
func (f *mfn) slotOf(slot map[value]int16, v value) int16 {
	s, ok := slot[v]
	if !ok {
		w := int(f.vals[v].words)
		for f.spills.bytes/4%w != 0 {
			f.spills.bytes += 4
		}
		s = int16(f.spills.bytes / 4)
		slot[v] = s
		f.spills.bytes += 4 * w
	}
	return s
}

// spillAccess is a load or store of a spill slot, guarded like the instruction
// it serves.
func (f *mfn) spillAccess(op mop, t value, slot int16, user *inst) inst {
	in := inst{op: op, pc: -1, carried: user.carried, guard: noValue, space: ir.Local, width: 4 * f.vals[t].words, spill: slot, memVar: -1, memVal: noValue, memOff: int64(slot) * 4}
	a := valueArg(t, 0, f.vals[t].words)
	if op == opLDL {
		in.dst[0] = a
	} else {
		in.src[0], in.nsrc = a, 1
		in.guard, in.gnot = user.guard, user.gnot
	}
	return in
}

// rematDefs returns the defining instruction of each victim that one
// unguarded instruction without register operands defines.
func (f *mfn) rematDefs(victims []bool) map[value]inst {
	out := map[value]inst{}
	count := map[value]int{}
	for _, b := range f.order {
		for i := range f.blocks[b].insts {
			in := &f.blocks[b].insts[i]
			for k := range in.dst {
				a := &in.dst[k]
				if a.kind != argValue || !victims[a.v] {
					continue
				}
				count[a.v]++
				regs := 0
				in.reads(func(value, uint8) { regs++ })
				if regs == 0 && in.guard == noValue && a.n == f.vals[a.v].words && (in.op == opMOV || in.op == opS2R || in.op == opLDC && !in.isMem() && in.space == 0) {
					d := *in
					d.carried = -1 // it may be done again in another block
					out[a.v] = d
				}
			}
		}
	}
	for v, n := range count {
		if n > 1 {
			delete(out, v)
		}
	}
	return out
}
