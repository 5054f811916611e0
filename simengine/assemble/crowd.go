package assemble

// crowd is a program point where more registers are live than there are.
type crowd struct {
	over int
	live []value
}

// pointsOf counts into cover at how many points each value is live, and
// returns a function that lists them.
func (f *mfn) pointsOf(points []crowd, cover []int) func(v value) []int32 {
	total := 0
	for i := range points {
		for _, v := range points[i].live {
			cover[v]++
			total++
		}
	}
	end := make([]int, len(cover))
	sum := 0
	for v, n := range cover {
		end[v] = sum
		sum += n
	}
	list := make([]int32, total)
	for i := range points {
		for _, v := range points[i].live {
			list[end[v]] = int32(i)
			end[v]++
		}
	}
	return func(v value) []int32 {
		if v == 0 {
			return list[:end[0]]
		}
		return list[end[v-1]:end[v]]
	}
}

// unplaced lists, as crowded points, where the values come to life that the
// allocation could only place at registers from limit on, each of them more
// registers short.
func (f *mfn) unplaced(limit, more int, s *allocScratch) []crowd {
	ranges := newAllocator(f, f.layout(nil), s).liveRanges(0)
	var out []crowd
	for v := range ranges {
		if f.vals[v].file != fileGeneral || len(ranges[v].all) == 0 || int(f.regs[v])+int(f.vals[v].words) <= limit {
			continue
		}
		at := ranges[v].all[0].from
		c := crowd{over: max(f.generalWords(value(v)), more)}
		for x := range ranges {
			if f.vals[x].file != fileGeneral {
				continue
			}
			for _, s := range ranges[x].all {
				if s.from <= at && at < s.to {
					c.live = append(c.live, value(x))
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// crowds lists the points where too many registers are live, with the values
// that live across the instruction there.
func (f *mfn) crowds(registers int) []crowd {
	var out []crowd
	var slab []value
	cur := make([]uint8, len(f.vals))
	live := newSparse[value](len(f.vals))
	for _, b := range f.order {
		insts := f.blocks[b].insts
		copy(cur, f.live.out[b])
		n := 0
		live.clear()
		for v, m := range cur {
			if m != 0 && f.vals[v].file == fileGeneral {
				n += int(wordCount[m&f.generalMask(value(v))])
				live.add(value(v))
			}
		}
		for j := len(insts) - 1; j >= 0; j-- {
			in := &insts[j]
			at := n
			for i := range in.dst {
				if a := &in.dst[i]; a.kind == argValue {
					at += int(wordCount[a.wordMask()&^cur[a.v]&f.generalMask(a.v)])
				}
			}
			n += f.stepCount(in, cur)
			at = max(at, n)
			f.follow(&live, in, cur)
			if at <= registers {
				continue
			}
			from := len(slab)
			for _, v := range live.list {
				if !in.mentions(v) {
					slab = append(slab, v)
				}
			}
			out = append(out, crowd{over: at - registers, live: slab[from:len(slab):len(slab)]})
		}
	}
	return out
}

// follow brings a set of live general values up to date with the words live
// before an instruction.
func (f *mfn) follow(s *sparse[value], in *inst, live []uint8) {
	for i := range in.dst {
		if a := &in.dst[i]; a.kind == argValue && live[a.v] == 0 {
			s.remove(a.v)
		}
	}
	in.reads(func(v value, _ uint8) {
		if f.vals[v].file == fileGeneral {
			s.add(v)
		}
	})
}
