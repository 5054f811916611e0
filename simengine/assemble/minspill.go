package assemble

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// spiller moves words of values to local memory and back so that no more than k
// are in registers at any point. When one must leave it is the one used again
// last (Belady's rule), also across blocks (Braun and Hack, "Register Spilling
// and Live-Range Splitting for SSA-Form Programs", CC 2009). The real
// assembler's code shows the same: words of one vector load leave and come back
// on their own, and loops start and end with the words that stay in registers.
type spiller struct {
	f     *fn
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
	w     wordSet // in registers
	saved []bool  // by unit: memory holds it
	out   []inst
	piece map[value]unitRef // pieces that turned out to be the value itself
}

// unitRef names a word of a value.
type unitRef struct {
	v value
	w uint8
}

// regState is what a block boundary finds in registers and in memory.
type regState struct {
	in    []int  // units in registers
	saved []bool // nil: block not done
	has   map[int]bool
}

// wordSet is a set of units that can be listed.
type wordSet struct {
	list []int
	at   []int32 // by unit: place in list plus one
}

func (s *wordSet) has(u int) bool { return s.at[u] > 0 }

func (s *wordSet) add(u int) {
	if s.at[u] == 0 {
		s.list = append(s.list, u)
		s.at[u] = int32(len(s.list))
	}
}

func (s *wordSet) remove(u int) {
	if k := s.at[u]; k > 0 {
		last := s.list[len(s.list)-1]
		s.list[k-1], s.at[last] = last, k
		s.list, s.at[u] = s.list[:len(s.list)-1], 0
	}
}

func (s *wordSet) clear() {
	for _, u := range s.list {
		s.at[u] = 0
	}
	s.list = s.list[:0]
}

// spillTo rewrites the program so that at most k general registers are live.
func (f *fn) spillTo(k int) {
	n := 4 * len(f.vals)
	s := &spiller{f: f, k: k, nu: f.findNextUses(), slot: map[int]int16{}, entry: make([]regState, len(f.mblocks)), exit: make([]regState, len(f.mblocks)),
		home: make([]value, n), next: make([]int32, n), since: make([]int32, n), w: wordSet{at: make([]int32, n)}, saved: make([]bool, n)}
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
}

// block rewrites one block.
func (s *spiller) block(b int) {
	f := s.f
	insts := f.mblocks[b].insts
	s.enter(b)
	uses := &blockUses{reads: make([][]unitUse, len(insts)), writes: make([][]unitUse, len(insts))}
	for u, d := range s.nu.out[b] {
		s.next[u] = min(d, outOfLoop)
		if d >= neverUsed {
			s.next[u] = neverUsed
		}
	}
	for u := range s.next {
		if s.next[u] < neverUsed {
			s.next[u] = outOfLoop
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

// enter sets what is in registers and in memory at the start of a block.
func (s *spiller) enter(b int) {
	f := s.f
	in := s.nu.in[b]
	known, loop := 0, false
	var first *regState
	for _, p := range f.blocks[b].preds {
		if s.exit[p].saved == nil {
			loop = true
			continue
		}
		known++
		if first == nil {
			first = &s.exit[p]
		}
	}
	var stay []int
	if first != nil {
		for _, u := range first.in {
			ok := in[u] < neverUsed
			for _, p := range f.blocks[b].preds {
				ok = ok && (s.exit[p].saved == nil || s.exit[p].has[u])
			}
			if ok {
				stay = append(stay, u)
			}
		}
	}
	if loop {
		stay = s.loopEntry(b, stay)
	}
	nearest(stay, in)
	if len(stay) > s.k {
		stay = stay[:s.k]
	}
	st := regState{in: stay, saved: make([]bool, len(s.saved)), has: map[int]bool{}}
	for _, u := range stay {
		st.has[u] = true
	}
	written := s.writtenIn(b, loop)
	for u := range st.saved {
		if in[u] >= neverUsed {
			continue
		}
		if !st.has[u] {
			st.saved[u] = true // couple sees to it
			continue
		}
		ok := known > 0 && !written[u]
		for _, p := range f.blocks[b].preds {
			ok = ok && (s.exit[p].saved == nil || s.exit[p].saved[u])
		}
		st.saved[u] = ok
	}
	s.entry[b] = st
	s.w.clear()
	for _, u := range stay {
		s.w.add(u)
	}
	copy(s.saved, st.saved)
}

// nearest sorts units by their next use.
func nearest(units []int, next []int32) {
	slices.SortFunc(units, func(a, b int) int {
		if c := cmp.Compare(next[a], next[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
}

// loopEntry chooses what a loop starts with in registers: what it uses, nearest
// first, and as much of what only passes through as its busiest point leaves
// room for.
func (s *spiller) loopEntry(b int, have []int) []int {
	f := s.f
	in := s.nu.in[b]
	var used, through []int
	for _, u := range have {
		if in[u] < outOfLoop {
			used = append(used, u)
		} else {
			through = append(through, u)
		}
	}
	nearest(used, in)
	if len(used) >= s.k {
		return used[:s.k]
	}
	most := 0
	cur := make([]uint8, len(f.vals))
	for x, inside := range s.loop(b) {
		if inside {
			most = max(most, f.blockPressure(x, cur, f.mblocks[x].insts))
		}
	}
	passing := 0
	for _, d := range in {
		if d >= outOfLoop && d < neverUsed {
			passing++
		}
	}
	room := s.k - (most - passing)
	nearest(through, in)
	return append(used, through[:max(0, min(room, len(through), s.k-len(used)))]...)
}

// loop marks the blocks of the loop headed by b: those that reach a block not
// yet done before it without passing b.
func (s *spiller) loop(b int) []bool {
	f := s.f
	in := make([]bool, len(f.blocks))
	in[b] = true
	var work []int
	for _, p := range f.blocks[b].preds {
		if s.exit[p].saved == nil {
			work = append(work, p)
		}
	}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if !in[x] {
			in[x] = true
			work = append(work, f.blocks[x].preds...)
		}
	}
	return in
}

// writtenIn marks the units that the loop headed by b writes.
func (s *spiller) writtenIn(b int, loop bool) []bool {
	out := make([]bool, len(s.saved))
	if !loop {
		return out
	}
	for x, inside := range s.loop(b) {
		if !inside {
			continue
		}
		for i := range s.f.mblocks[x].insts {
			in := &s.f.mblocks[x].insts[i]
			for k := range in.dst {
				if a := &in.dst[k]; a.kind == argValue {
					s.f.eachUnit(a.v, a.wordMask(), func(u int) { out[u] = true })
				}
			}
		}
	}
	return out
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
			if p := s.home[unit(a.v, a.w)]; p != a.v {
				a.v, a.w = p, 0
			}
		}
	}
}

// leave ends a block: what lives on goes by its own name again.
func (s *spiller) leave(b int) {
	st := regState{saved: slices.Clone(s.saved), has: map[int]bool{}}
	for _, u := range s.w.list {
		if s.nu.out[b][u] < neverUsed {
			s.settle(u)
			st.in = append(st.in, u)
			st.has[u] = true
		}
	}
	for i := range s.out {
		in := &s.out[i]
		for k := range in.dst {
			s.resolve(&in.dst[k])
		}
		for k := range in.src[:in.nsrc] {
			s.resolve(&in.src[k])
		}
	}
	s.f.mblocks[b].insts = s.out
	s.exit[b] = st
}

func (s *spiller) resolve(a *arg) {
	if a.kind != argValue {
		return
	}
	if r, ok := s.piece[a.v]; ok {
		a.v, a.w = r.v, r.w
	}
}

// couple adds, before the branch of block p, the accesses that make what p
// leaves what t expects.
func (s *spiller) couple(p, t int) {
	from, to := &s.exit[p], &s.entry[t]
	var add []inst
	s.out = nil
	for u, d := range s.nu.in[t] {
		if d >= neverUsed {
			continue
		}
		own := valueArg(value(u/4), uint8(u%4), 1)
		switch {
		case to.has[u] && !from.has[u]:
			if r, ok := s.remat[own.v]; ok {
				r.dst[0] = own
				add = append(add, r)
			} else {
				s.f.spills.loads++
				add = append(add, s.access(opLDL, own, u))
			}
		case !to.has[u] && from.has[u] && !from.saved[u]:
			from.saved[u] = true
			if _, ok := s.remat[own.v]; !ok {
				s.f.spills.stores++
				add = append(add, s.access(opSTL, own, u))
			}
		}
	}
	mb := &s.f.mblocks[p]
	at := len(mb.insts)
	for at > 0 && isBranch(mb.insts[at-1].op) {
		at--
	}
	mb.insts = slices.Insert(mb.insts, at, add...)
}
