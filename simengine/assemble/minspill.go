package assemble

import "github.com/warptune/warptune/simengine/ir"

// spiller moves words of values to local memory and back so that no more than k
// are in registers at any point. When one must leave it is the one that the
// block uses again last (Belady's rule), of those it does not use again the one
// that came first; blocks begin with what those before leave (after Braun and
// Hack, "Register Spilling and Live-Range Splitting for SSA-Form Programs", CC
// 2009). The real assembler's code shows the same: words of one vector load
// leave and come back on their own, what a loop has updated leaves first, and
// its last results stay in registers for the next turn.
type spiller struct {
	f     *mfn
	k     int
	nu    *nextUses
	slot  map[int]int16  // by unit: its place in the spill area, in words
	remat map[value]inst // values defined again rather than loaded
	entry []regState     // by block
	exit  []regState
	home  []value // by unit: the value that holds it now, its own or a piece
	next  []int32 // by unit: its next use
	since []int32 // by unit: when it came into a register
	now   int32
	w     sparse[int] // units in registers
	saved []bool      // by unit: memory holds it
	out   []inst
	piece map[value]unitRef // pieces that turned out to be the value itself
}

// unitRef names a word of a value.
type unitRef struct {
	v value
	w uint8
}

// spillTo rewrites the program so that at most k general registers are live.
func (f *mfn) spillTo(k int) {
	n := 4 * len(f.vals)
	s := &spiller{f: f, k: k, nu: f.findNextUses(), slot: map[int]int16{}, entry: make([]regState, len(f.blocks)), exit: make([]regState, len(f.blocks)),
		home: make([]value, n), next: make([]int32, n), since: make([]int32, n), w: newSparse[int](n), saved: make([]bool, n)}
	all := make([]bool, len(f.vals))
	for v := range all {
		all[v] = f.vals[v].file == fileGeneral && f.vals[v].words == 1
	}
	s.remat = f.rematDefs(all)
	for _, b := range f.order {
		s.block(b)
	}
	for _, b := range f.order {
		for _, t := range f.blocks[b].succs {
			s.couple(b, t)
		}
	}
	s.storeOnce()
}

// block rewrites one block.
func (s *spiller) block(b int) {
	f := s.f
	insts := f.blocks[b].insts
	s.enter(b)
	uses := &blockUses{reads: make([][]unitUse, len(insts)), writes: make([][]unitUse, len(insts))}
	for u, d := range s.nu.out[b] {
		s.next[u] = neverUsed
		if d < neverUsed {
			s.next[u] = afterBlock
		}
	}
	f.backUses(b, s.next, uses)
	s.out = make([]inst, 0, len(insts)+16)
	s.piece = map[value]unitRef{}
	for u := range s.home {
		s.home[u] = value(u / 4)
	}
	for i := range insts {
		in := insts[i]
		s.bring(&in, uses.reads[i])
		for _, r := range uses.reads[i] {
			s.next[r.unit] = r.next
		}
		s.rename(&in)
		for u := len(s.w.list) - 1; u >= 0; u-- {
			if x := s.w.list[u]; s.next[x] >= neverUsed {
				s.w.remove(x)
			}
		}
		s.put(&in, uses.writes[i])
		s.out = append(s.out, in)
	}
	s.leave(b)
}

// bring loads what an instruction reads and is not in registers.
func (s *spiller) bring(in *inst, reads []unitUse) {
	keep := map[int]bool{}
	var absent []int
	for _, r := range reads {
		keep[r.unit] = true
		if !s.w.has(r.unit) {
			absent = append(absent, r.unit)
		}
	}
	s.shrink(s.k-len(absent), keep)
	for _, u := range absent {
		s.load(u)
	}
	// Operands of several words are read where they belong together.
	for i := range in.src[:in.nsrc] {
		if a := &in.src[i]; a.kind == argValue && a.n > 1 {
			s.f.eachUnit(a.v, a.wordMask(), s.settle)
		}
	}
	if in.keeps {
		for i := range in.dst {
			if a := &in.dst[i]; a.kind == argValue {
				s.f.eachUnit(a.v, a.wordMask(), s.settle)
			}
		}
	}
}

// settle makes the piece that holds a unit the value itself.
func (s *spiller) settle(u int) {
	if p := s.home[u]; p != value(u/4) {
		s.piece[p] = unitRef{value(u / 4), uint8(u % 4)}
		s.home[u] = value(u / 4)
	}
}

// put makes room for what an instruction writes.
func (s *spiller) put(in *inst, writes []unitUse) {
	keep := map[int]bool{}
	added := 0
	for _, d := range writes {
		keep[d.unit] = true
		if !s.w.has(d.unit) {
			added++
		}
	}
	s.shrink(s.k-added, keep)
	for _, d := range writes {
		s.next[d.unit] = d.next
		s.saved[d.unit] = false
		s.home[d.unit] = value(d.unit / 4)
		s.stamp(d.unit)
		if d.next < neverUsed {
			s.w.add(d.unit)
		} else {
			s.w.remove(d.unit)
		}
	}
}

// shrink evicts units, those used again last first, until k are left.
func (s *spiller) shrink(k int, keep map[int]bool) {
	for len(s.w.list) > k {
		worst := -1
		for _, u := range s.w.list {
			if !keep[u] && (worst < 0 || s.next[u] > s.next[worst] || s.next[u] == s.next[worst] && (s.since[u] < s.since[worst] || s.since[u] == s.since[worst] && u < worst)) {
				worst = u
			}
		}
		if worst < 0 {
			return // the instruction alone needs more
		}
		s.store(worst)
		s.w.remove(worst)
	}
}

// store writes a unit to memory unless it is there or can be computed again.
func (s *spiller) store(u int) {
	if s.saved[u] || s.next[u] >= neverUsed {
		return
	}
	s.saved[u] = true
	if _, ok := s.remat[value(u/4)]; ok {
		return
	}
	s.f.spills.stores++
	a := valueArg(s.home[u], uint8(u%4), 1)
	if s.home[u] != value(u/4) {
		a.w = 0
	}
	s.out = append(s.out, s.access(opSTL, a, u))
}

// load brings a unit into a register of its own.
func (s *spiller) load(u int) {
	t := s.f.newValue(1, fileGeneral)
	s.home[u] = t
	s.w.add(u)
	s.stamp(u)
	if d, ok := s.remat[value(u/4)]; ok {
		d.dst[0] = valueArg(t, 0, 1)
		s.out = append(s.out, d)
		return
	}
	s.f.spills.loads++
	s.out = append(s.out, s.access(opLDL, valueArg(t, 0, 1), u))
}

// stamp notes that a unit comes into a register now.
func (s *spiller) stamp(u int) {
	s.now++
	s.since[u] = s.now
}

// access is a load or store of a unit's place in memory.
func (s *spiller) access(op mop, a arg, u int) inst {
	slot, ok := s.slot[u]
	if !ok {
		slot = int16(s.f.spills.bytes / 4)
		s.slot[u] = slot
		s.f.spills.bytes += 4
	}
	in := control(op)
	in.width, in.spill, in.memOff, in.space = 4, slot, int64(slot)*4, ir.Local
	if op == opLDL {
		in.dst[0] = a
	} else {
		in.src[0], in.nsrc = a, 1
	}
	return in
}

// rename points an instruction's operands at the pieces that hold them.
func (s *spiller) rename(in *inst) {
	for i := range in.src[:in.nsrc] {
		a := &in.src[i]
		if a.kind == argValue && a.n == 1 && s.f.vals[a.v].file == fileGeneral {
			if p := s.home[unitOf(a.v, a.w)]; p != a.v {
				a.v, a.w = p, 0
			}
		}
	}
}

func (s *spiller) resolve(a *arg) {
	if a.kind != argValue {
		return
	}
	if r, ok := s.piece[a.v]; ok {
		a.v, a.w = r.v, r.w
	}
}
