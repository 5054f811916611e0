package assemble

import (
	"cmp"
	"slices"
)

// regState is what a block boundary finds in registers and in memory.
type regState struct {
	in    []int  // units in registers
	saved []bool // nil: block not done
	has   map[int]bool
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

// loopEntry chooses what a loop starts with in registers: what is there and
// used in it, nearest first, and as much of what only passes through as its busiest point leaves
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
			most = max(most, f.blockPressure(x, cur, f.blocks[x].insts))
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

// writtenIn marks the units that the loop headed by b writes, of those there were before
// anything was spilled (where a loop has a second entry, blocks that are done seem inside).
func (s *spiller) writtenIn(b int, loop bool) []bool {
	out := make([]bool, len(s.saved))
	if !loop {
		return out
	}
	for x, inside := range s.loop(b) {
		if !inside {
			continue
		}
		for i := range s.f.blocks[x].insts {
			in := &s.f.blocks[x].insts[i]
			for k := range in.dst {
				if a := &in.dst[k]; a.kind == argValue {
					s.f.eachUnit(a.v, a.wordMask(), func(u int) {
						if u < len(out) {
							out[u] = true
						}
					})
				}
			}
		}
	}
	return out
}

// conform makes the end of a block that goes back to a loop's head leave what
// the loop starts with.
func (s *spiller) conform(b int) {
	for _, t := range s.f.blocks[b].succs {
		if t != b && s.exit[t].saved == nil {
			continue
		}
		at := len(s.out)
		for at > 0 && isBranch(s.out[at-1].op) {
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

// leave ends a block: what lives on goes by its own name again.
func (s *spiller) leave(b int) {
	s.conform(b)
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
	s.f.blocks[b].insts = s.out
	s.exit[b] = st
}

// couple adds, before the branch of block p, the accesses that make what p
// leaves what t expects.
func (s *spiller) couple(p, t int) {
	from, to := &s.exit[p], &s.entry[t]
	var stores, loads []inst
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
				loads = append(loads, r)
			} else {
				s.f.spills.loads++
				loads = append(loads, s.access(opLDL, own, u))
			}
		case !to.has[u] && from.has[u] && !from.saved[u]:
			from.saved[u] = true
			if _, ok := s.remat[own.v]; !ok {
				s.f.spills.stores++
				stores = append(stores, s.access(opSTL, own, u))
			}
		}
	}
	mb := &s.f.blocks[p]
	at := len(mb.insts)
	for at > 0 && isBranch(mb.insts[at-1].op) {
		at--
	}
	mb.insts = slices.Insert(mb.insts, at, append(stores, loads...)...)
}
