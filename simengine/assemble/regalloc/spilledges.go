package regalloc

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Block boundaries in word-by-word spilling.
//
// A block starts with the units that all blocks before it leave in registers. The head of a loop is reached before
// the blocks that go back to it are done. It starts with what the loop uses, nearest first. Of what only passes
// through it takes as much as the loop's highest pressure leaves room for. Afterwards accesses are added on edges
// where the end of one block and the start of the next differ.

// regState is what a block boundary finds in registers and in memory.
type regState struct {
	in    []int  // units in registers
	saved []bool // by unit: memory holds it; nil: the block is not done
	has   []bool // by unit: it is one of in
}

// enterBlock sets what is in registers and in memory at the start of block b.
func (s *spiller) enterBlock(b int) {
	f := s.f
	in := s.nu.in[b]
	known, loop := 0, false
	var first *regState
	for _, p := range f.Blocks[b].Preds {
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
			for _, p := range f.Blocks[b].Preds {
				ok = ok && (s.exit[p].saved == nil || s.exit[p].has[u])
			}
			if ok {
				stay = append(stay, u)
			}
		}
	}
	if b == f.Order[0] {
		stay = s.undefined(in)
	}
	if loop {
		stay = s.loopEntry(b, stay)
	}
	nearest(stay, in)
	if len(stay) > s.k {
		stay = stay[:s.k]
	}
	st := regState{in: stay, saved: make([]bool, len(s.saved)), has: make([]bool, len(s.saved))}
	for _, u := range stay {
		st.has[u] = true
	}
	written := s.writtenIn(b, loop)
	for u := range st.saved {
		if in[u] >= neverUsed {
			continue
		}
		if !st.has[u] {
			st.saved[u] = true // connect adds the store
			continue
		}
		ok := (known > 0 || b == f.Order[0]) && !written[u]
		for _, p := range f.Blocks[b].Preds {
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

// undefined are the units that the program may read before it writes them, by their next use in the first block. They are
// whatever a register holds. Accumulators are such where the first product of a loop does not add to them.
func (s *spiller) undefined(in []int32) (units []int) {
	for u, next := range in {
		if next < neverUsed {
			units = append(units, u)
		}
	}
	return units
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

// loopEntry chooses what the loop with head b starts with in registers. have is what could stay.
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
	cur := make([]uint8, len(f.Values))
	for x, inside := range s.loop(b) {
		if inside {
			most = max(most, f.BlockPressure(x, cur, f.Blocks[x].Insts))
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

// loop marks the blocks of the loop with head b: those that reach a block before b that is not
// done, without passing b.
func (s *spiller) loop(b int) []bool {
	f := s.f
	in := make([]bool, len(f.Blocks))
	in[b] = true
	var work []int
	for _, p := range f.Blocks[b].Preds {
		if s.exit[p].saved == nil {
			work = append(work, p)
		}
	}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if !in[x] {
			in[x] = true
			work = append(work, f.Blocks[x].Preds...)
		}
	}
	return in
}

// writtenIn marks the units that the loop with head b writes, of those that were there before
// spilling. Where a loop has a second entry, blocks that are done count as inside.
func (s *spiller) writtenIn(b int, loop bool) []bool {
	out := make([]bool, len(s.saved))
	if !loop {
		return out
	}
	for x, inside := range s.loop(b) {
		if !inside {
			continue
		}
		for i := range s.f.Blocks[x].Insts {
			in := &s.f.Blocks[x].Insts[i]
			in.EachWrite(func(a *mir.Arg) {
				eachUnit(s.f, a.Value, a.WordMask(), func(u int) {
					if u < len(out) {
						out[u] = true
					}
				})
			})
		}
	}
	return out
}

// matchLoopHead makes a block that goes back to a loop's head leave what the loop starts with.
func (s *spiller) matchLoopHead(b int) {
	for _, t := range s.f.Blocks[b].Succs {
		if t != b && s.exit[t].saved == nil {
			continue
		}
		at := len(s.out)
		for at > 0 && mir.IsBranch(s.out[at-1].Op) {
			at--
		}
		branch := slices.Clone(s.out[at:])
		s.out = s.out[:at]
		for _, u := range slices.Clone(s.w.list) {
			if !s.entry[t].has[u] {
				s.store(u)
				s.w.remove(u)
			}
		}
		for _, u := range s.entry[t].in {
			if !s.w.has(u) {
				s.load(u)
			}
		}
		s.out = append(s.out, branch...)
		return
	}
}

// exitBlock ends block b: units that live on go by their own names again.
func (s *spiller) exitBlock(b int) {
	s.matchLoopHead(b)
	st := regState{saved: slices.Clone(s.saved), has: make([]bool, len(s.saved))}
	for _, u := range s.w.list {
		if s.nu.out[b][u] < neverUsed {
			s.unifyCopy(u)
			st.in = append(st.in, u)
			st.has[u] = true
		}
	}
	for i := range s.out {
		in := &s.out[i]
		for k := range in.Dst {
			s.resolve(&in.Dst[k])
		}
		for k := range in.Src[:in.NSrc] {
			s.resolve(&in.Src[k])
		}
	}
	s.f.Blocks[b].Insts = s.out
	s.exit[b] = st
}

// connect adds, before the branch of block p, the accesses that make what p leaves what t expects.
func (s *spiller) connect(p, t int) {
	from, to := &s.exit[p], &s.entry[t]
	var stores, loads []mir.Inst
	s.out = nil
	for u, d := range s.nu.in[t] {
		if d >= neverUsed {
			continue
		}
		own := mir.ValueWords(vreg.Value(u/4), uint8(u%4), 1)
		switch {
		case to.has[u] && !from.has[u]:
			if r, ok := s.remat[own.Value]; ok {
				r.Dst[0] = own
				loads = append(loads, r)
			} else {
				s.f.Spills.Loads++
				loads = append(loads, s.access(mir.OpLDL, own, u))
			}
		case !to.has[u] && from.has[u] && !from.saved[u]:
			from.saved[u] = true
			if _, ok := s.remat[own.Value]; !ok {
				s.f.Spills.Stores++
				stores = append(stores, s.access(mir.OpSTL, own, u))
			}
		}
	}
	mb := &s.f.Blocks[p]
	at := len(mb.Insts)
	for at > 0 && mir.IsBranch(mb.Insts[at-1].Op) {
		at--
	}
	mb.Insts = slices.Insert(mb.Insts, at, append(stores, loads...)...)
}
