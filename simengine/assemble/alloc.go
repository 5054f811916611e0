package assemble

import "slices"

// bank is one register file under allocation.
type bank struct {
	taken [][]span // by register, ascending
	most  int      // highest register used plus one
}

// free says whether register r is free over spans.
func (k *bank) free(r int, spans []span) bool {
	if r >= len(k.taken) || len(spans) == 0 {
		return true
	}
	t := k.taken[r]
	if len(t) == 0 || t[len(t)-1].to <= spans[0].from {
		return true
	}
	i, _ := slices.BinarySearchFunc(t, spans[0].from, func(s span, from int32) int {
		if s.to <= from {
			return -1
		}
		return 1
	})
	for _, s := range spans {
		for i < len(t) && t[i].to <= s.from {
			i++
		}
		if i < len(t) && t[i].from < s.to {
			return false
		}
	}
	return true
}

// take marks register r used over spans.
func (k *bank) take(r int, spans []span) {
	if len(spans) == 0 {
		return
	}
	for r >= len(k.taken) {
		k.taken = append(k.taken, nil)
	}
	t := k.taken[r]
	if len(t) == 0 || t[len(t)-1].to <= spans[0].from {
		k.taken[r] = append(t, spans...)
	} else {
		t = append(t, spans...)
		slices.SortFunc(t, func(a, b span) int { return int(a.from - b.from) })
		k.taken[r] = t
	}
	k.most = max(k.most, r+1)
}

// place gives a value live over the spans of its words the lowest aligned free registers, skipping
// the reserved one (R1, the stack pointer), and among those under limit one
// whose bank the instructions that read it together with others accept.
func (k *bank) place(words [][]span, reserved, limit int, clash func(r int) bool) int {
	w := len(words)
	align := 1
	for align < w {
		align *= 2
	}
	align = min(align, 4)
	lowest := -1
search:
	for r := 0; ; r += align {
		if lowest >= 0 && r+w > limit {
			break
		}
		for i := 0; i < w; i++ {
			if r+i == reserved || !k.free(r+i, words[i]) {
				continue search
			}
		}
		if lowest < 0 {
			lowest = r
		}
		if clash == nil || !clash(r) {
			lowest = r
			break
		}
	}
	for i := 0; i < w; i++ {
		k.take(lowest+i, words[i])
	}
	return lowest
}

// stackPointer is the register the ABI reserves.
const stackPointer = 1

// allocate assigns registers to values and returns, for each, its first one,
// and the highest general register used plus one.
//
// Wide values go first and banks are respected; when that takes more than
// limit registers, other orders are tried, without regard to banks.
func (f *fn) allocate(limit int) (assigned []int16, general int) {
	ranges := f.liveRanges(lingerCycles)
	for o := spread; o <= inOrder; o++ {
		if o == wideFirst {
			ranges = f.liveRanges(0)
		}
		a, g := f.color(ranges, limit, o)
		if assigned == nil || g < general {
			assigned, general = a, g
		}
		if general <= limit {
			break
		}
	}
	return assigned, general
}

// colorOrder is an order in which values are given registers.
type colorOrder uint8

const (
	spread    colorOrder = iota // as wideFirst, and what in-flight instructions still read is not reused
	wideFirst                   // wide values, then as they come to life; banks respected
	longFirst                   // those that live across blocks, then as they come to life
	inOrder                     // as they come to life
)

// color is one attempt of allocate.
func (f *fn) color(ranges []liveRange, limit int, order colorOrder) (assigned []int16, general int) {
	assigned = make([]int16, len(f.vals))
	list := make([]value, 0, len(f.vals))
	for v := range ranges {
		assigned[v] = -1
		if len(ranges[v].all) > 0 {
			list = append(list, value(v))
		}
	}
	rank := make([]int8, len(f.vals))
	for _, v := range list {
		if order <= wideFirst || order == longFirst && len(f.order) > 0 && f.livesAcross(v) {
			rank[v] = -int8(f.vals[v].words)
		}
	}
	slices.SortStableFunc(list, func(a, b value) int {
		if d := int(rank[a]) - int(rank[b]); d != 0 {
			return d
		}
		if d := int(ranges[a].all[0].from - ranges[b].all[0].from); d != 0 {
			return d
		}
		return int(a - b)
	})
	var readers [][]*inst
	var heir []value
	if order <= wideFirst {
		readers, heir = f.readersOf(), f.affinities(ranges)
	}
	var banks [fileUniformPred + 1]bank
	for _, v := range list {
		vi := &f.vals[v]
		if vi.file == fileNone || assigned[v] >= 0 {
			continue
		}
		if vi.file != fileGeneral {
			assigned[v] = int16(banks[vi.file].place(ranges[v].word, -1, 0, nil))
			continue
		}
		var clash func(r int) bool
		if vi.words == 1 && order <= wideFirst {
			clash = func(r int) bool { return f.bankClash(v, r, readers, assigned) }
		}
		general := &banks[fileGeneral]
		assigned[v] = int16(general.place(ranges[v].word, stackPointer, limit, clash))
		if heir != nil {
			f.inherit(v, heir, ranges, assigned, general)
		}
	}
	return assigned, max(banks[fileGeneral].most, stackPointer+1)
}

// readersOf lists, for every one-word general value, the instructions that
// read it together with other general registers.
func (f *fn) readersOf() [][]*inst {
	out := make([][]*inst, len(f.vals))
	for _, b := range f.order {
		for i := range f.mblocks[b].insts {
			in := &f.mblocks[b].insts[i]
			n := 0
			for j := range in.src[:in.nsrc] {
				if a := &in.src[j]; a.kind == argValue && f.vals[a.v].file == fileGeneral {
					n++
				}
			}
			if n < 2 {
				continue
			}
			for j := range in.src[:in.nsrc] {
				if a := &in.src[j]; a.kind == argValue && f.vals[a.v].file == fileGeneral && f.vals[a.v].words == 1 {
					out[a.v] = append(out[a.v], in)
				}
			}
		}
	}
	return out
}

// bankClash says whether register r for value v would make an instruction read
// all its operands from one of the two register banks (even and odd numbers),
// which costs a cycle. That there are two banks, and that the assembler avoids
// them even for two operands, is read off its register choices on sm_90.
func (f *fn) bankClash(v value, r int, readers [][]*inst, assigned []int16) bool {
	for _, in := range readers[v] {
		clash := true
		for j := range in.src[:in.nsrc] {
			a := &in.src[j]
			if a.kind != argValue || a.v == v || f.vals[a.v].file != fileGeneral {
				continue
			}
			if assigned[a.v] < 0 || (int(assigned[a.v])+int(a.w))%2 != r%2 {
				clash = false
				break
			}
		}
		if clash {
			return true
		}
	}
	return false
}

// livesAcross says whether a value is live at the entry of some block.
func (f *fn) livesAcross(v value) bool {
	for _, b := range f.order {
		if f.live.in[b][v] != 0 {
			return true
		}
	}
	return false
}

// inherit gives the register of a value to the chain of values that take it
// over, as far as it is free.
func (f *fn) inherit(v value, heir []value, ranges []liveRange, assigned []int16, k *bank) {
	r := int(assigned[v])
	for h := heir[v]; h != noValue && assigned[h] < 0; h = heir[h] {
		for i := range int(f.vals[h].words) {
			if !k.free(r+i, ranges[h].word[i]) {
				return
			}
		}
		for i := range int(f.vals[h].words) {
			k.take(r+i, ranges[h].word[i])
		}
		assigned[h] = int16(r)
	}
}
