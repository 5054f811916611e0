package regalloc

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Spilling whole values (Chaitin, "Register Allocation and Spilling via Graph Coloring", 1982): a
// store after every write, a load before every read. It is the fallback where word-by-word spilling
// leaves holes that vectors do not fit (see belady.go).

// SpillAt spills values until none of the points is short of registers, as far as there are values
// to spill. At each step it takes the one that frees most register points for its cost. It reports
// whether it spilled any.
func SpillAt(f *mir.Func, points []PressurePoint) bool {
	if len(points) == 0 {
		return false
	}
	cost := spillCosts(f)
	cover := make([]int, len(f.Values))
	at := pointsOf(f, points, cover)
	var candidates []vreg.Value
	for v := range cover {
		if cover[v] > 0 && !f.Spills.Pinned[vreg.Value(v)] {
			candidates = append(candidates, vreg.Value(v))
		}
	}
	victims := make([]bool, len(f.Values))
	found := false
	for {
		best, bestScore := vreg.None, 0.0
		for _, v := range candidates {
			if cover[v] == 0 || victims[v] {
				continue
			}
			if s := float64(cover[v]*f.GeneralWords(v)) / cost[v]; s > bestScore {
				best, bestScore = v, s
			}
		}
		if best == vreg.None {
			break
		}
		victims[best], found = true, true
		w := f.GeneralWords(best)
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
		spill(f, victims)
	}
	return found
}

// spillCosts estimates the accesses that spilling each value adds: its reads and writes, ten times
// as many for each loop around them.
func spillCosts(f *mir.Func) []float64 {
	cost := make([]float64, len(f.Values))
	for _, b := range f.Order {
		w := 1.0
		for range f.Blocks[b].LoopDepth {
			w *= 10
		}
		for i := range f.Blocks[b].Insts {
			in := &f.Blocks[b].Insts[i]
			in.EachRead(func(v vreg.Value, _ uint8) { cost[v] += w })
			for j := range in.Dst {
				if a := &in.Dst[j]; a.Kind == mir.ArgValue && !f.Values[a.Value].Remat {
					cost[a.Value] += w
				}
			}
		}
	}
	for v := range cost {
		cost[v] += 0.5
	}
	for _, g := range f.Groups { // they would have to move together
		for _, v := range g {
			cost[v] = math.Inf(1)
		}
	}
	return cost
}

// spill moves the victims to local memory. Victims that one instruction without operands defines
// are defined again before each use instead.
func spill(f *mir.Func, victims []bool) {
	if f.Spills.Pinned == nil {
		f.Spills.Pinned = map[vreg.Value]bool{}
	}
	slot := make(map[vreg.Value]int16)
	defs := rematDefs(f, victims)
	n := vreg.Value(len(victims))
	for _, b := range f.Order {
		insts := f.Blocks[b].Insts
		out := make([]mir.Inst, 0, len(insts)+16)
		for i := range insts {
			in := insts[i]
			local := map[vreg.Value]vreg.Value{}
			in.EachRead(func(v vreg.Value, _ uint8) {
				if v >= n || !victims[v] || f.Values[v].File != vreg.General {
					return
				}
				if _, ok := local[v]; ok {
					return
				}
				t := newPinned(f, v)
				local[v] = t
				if d, ok := defs[v]; ok {
					d.Dst[0].Value = t
					out = append(out, d)
					return
				}
				f.Spills.Loads++
				out = append(out, spillAccess(f, mir.OpLDL, t, slotOf(f, slot, v), &in))
			})
			var stores []mir.Inst
			for k := range in.Dst {
				a := &in.Dst[k]
				if a.Kind != mir.ArgValue || a.Value >= n || !victims[a.Value] || f.Values[a.Value].File != vreg.General {
					continue
				}
				v := a.Value
				if _, ok := defs[v]; ok {
					in.Op = mir.OpInvalid // defined again at each use
					continue
				}
				t, ok := local[v]
				if !ok {
					t = newPinned(f, v)
					local[v] = t
				}
				f.Spills.Stores++
				stores = append(stores, spillAccess(f, mir.OpSTL, t, slotOf(f, slot, v), &in))
			}
			if in.Op == mir.OpInvalid {
				continue
			}
			in.Rename(local)
			out = append(out, in)
			out = append(out, stores...)
		}
		f.Blocks[b].Insts = out
	}
}

// newPinned returns a new value that stands for v around one instruction.
func newPinned(f *mir.Func, v vreg.Value) vreg.Value {
	t := f.NewValue(f.Values[v].Words, vreg.General)
	f.Spills.Pinned[t] = true
	return t
}

// slotOf returns the place of a value in the spill area, in words, aligned to its size.
func slotOf(f *mir.Func, slot map[vreg.Value]int16, v vreg.Value) int16 {
	s, ok := slot[v]
	if !ok {
		w := int(f.Values[v].Words)
		for f.Spills.Bytes/4%w != 0 {
			f.Spills.Bytes += 4
		}
		s = int16(f.Spills.Bytes / 4)
		slot[v] = s
		f.Spills.Bytes += 4 * w
	}
	return s
}

// spillAccess is a load or store of a spill slot. A store has the guard of the instruction it
// follows.
func spillAccess(f *mir.Func, op mir.Op, t vreg.Value, slot int16, user *mir.Inst) mir.Inst {
	in := mir.Inst{Op: op, PC: -1, Carried: user.Carried, Guard: vreg.None, Space: ir.Local, Width: 4 * f.Values[t].Words, SpillSlot: slot, MemVar: -1, MemBase: vreg.None, MemOffset: int64(slot) * 4}
	a := mir.ValueWords(t, 0, f.Values[t].Words)
	if op == mir.OpLDL {
		in.Dst[0] = a
	} else {
		in.Src[0], in.NSrc = a, 1
		in.Guard, in.GuardNot = user.Guard, user.GuardNot
	}
	return in
}

// rematDefs returns the definition of each victim that one unguarded instruction without register
// operands defines.
func rematDefs(f *mir.Func, victims []bool) map[vreg.Value]mir.Inst {
	out := map[vreg.Value]mir.Inst{}
	count := map[vreg.Value]int{}
	for _, b := range f.Order {
		for i := range f.Blocks[b].Insts {
			in := &f.Blocks[b].Insts[i]
			for k := range in.Acc {
				count[in.Acc[k].Value] += 2
			}
			for k := range in.Dst {
				a := &in.Dst[k]
				if a.Kind != mir.ArgValue || !victims[a.Value] {
					continue
				}
				count[a.Value]++
				regs := 0
				in.EachRead(func(vreg.Value, uint8) { regs++ })
				if regs == 0 && in.Guard == vreg.None && a.N == f.Values[a.Value].Words && (in.Op == mir.OpMOV || in.Op == mir.OpS2R || in.Op == mir.OpLDC && !in.IsMem() && in.Space == 0) {
					d := *in
					d.Carried = -1 // it may be repeated in another block
					out[a.Value] = d
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
