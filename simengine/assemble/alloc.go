package assemble

import "math"

// bank is one register file under allocation: for every register, a bit for
// each program position at which it is taken.
type bank struct {
	taken [][]uint64
	size  int // words of a row
	most  int // highest register used plus one
}

// reset frees every register, for a program of so many positions.
func (k *bank) reset(positions int) {
	k.size, k.most = positions/64+1, 0
	for r := range k.taken {
		if cap(k.taken[r]) < k.size {
			k.taken[r] = make([]uint64, k.size+k.size/4)
		}
		k.taken[r] = k.taken[r][:k.size]
		clear(k.taken[r])
	}
}

// bits are the first and last row words of a span, and its bits in them.
func (s span) bits() (from, to int, first, last uint64) {
	from, to = int(s.from>>6), int((s.to-1)>>6)
	return from, to, ^uint64(0) << (s.from & 63), ^uint64(0) >> (63 - (s.to-1)&63)
}

// free says whether register r is free over spans.
func (k *bank) free(r int, spans []span) bool {
	if r >= len(k.taken) {
		return true
	}
	row := k.taken[r]
	for _, s := range spans {
		if s.from >= s.to {
			continue
		}
		from, to, first, last := s.bits()
		if from == to {
			if row[from]&first&last != 0 {
				return false
			}
			continue
		}
		if row[from]&first != 0 || row[to]&last != 0 {
			return false
		}
		for _, w := range row[from+1 : to] {
			if w != 0 {
				return false
			}
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
		k.taken = append(k.taken, make([]uint64, k.size))
	}
	row := k.taken[r]
	for _, s := range spans {
		if s.from >= s.to {
			continue
		}
		from, to, first, last := s.bits()
		if from == to {
			row[from] |= first & last
			continue
		}
		row[from] |= first
		row[to] |= last
		for w := from + 1; w < to; w++ {
			row[w] = ^uint64(0)
		}
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
	for r := 0; ; r += align {
		if r = k.next(r, align, words[0]); lowest >= 0 && r+w > limit {
			break
		}
		if reserved >= r && reserved < r+w || !k.allFree(r+1, words[1:]) {
			continue
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

// next is the first register from r on, in steps, that is free over spans.
func (k *bank) next(r, step int, spans []span) int {
	if len(spans) != 1 || spans[0].from >= spans[0].to {
		for !k.free(r, spans) {
			r += step
		}
		return r
	}
	from, to, first, last := spans[0].bits()
	if from == to {
		for first &= last; r < len(k.taken) && k.taken[r][from]&first != 0; r += step {
		}
		return r
	}
search:
	for ; r < len(k.taken); r += step {
		row := k.taken[r]
		if row[from]&first != 0 || row[to]&last != 0 {
			continue
		}
		for _, w := range row[from+1 : to] {
			if w != 0 {
				continue search
			}
		}
		break
	}
	return r
}

// allFree says whether registers from r on are free over the spans of words.
func (k *bank) allFree(r int, words [][]span) bool {
	for i := range words {
		if !k.free(r+i, words[i]) {
			return false
		}
	}
	return true
}

// stackPointer is the register the ABI reserves.
const stackPointer = 1

// allocate assigns registers to values and returns, for each, its first one,
// and the highest general register used plus one.
//
// Wide values go first and banks are respected; when that takes more than
// limit registers, other orders are tried, without regard to banks. With must,
// orders that take more are given up, and the count says only that all did.
func (l *layout) allocate(limit int, must bool) (assigned []int16, general int) {
	ranges := l.liveRanges(lingerCycles)
	general = math.MaxInt
	if must {
		general = limit + 1
	}
	born := l.born(ranges)
	list := make([]value, len(born))
	for o := spread; o <= inOrder; o++ {
		if o == wideFirst {
			ranges = l.liveRanges(0) // which begin where those before did
		} else {
			l.sortValues(list, born, o)
		}
		if a, g := l.color(list, ranges, limit, general, o); a != nil {
			assigned, general = a, g
		}
		if general <= limit {
			break
		}
	}
	return assigned, general
}

// born lists the values that live as they come to life, then by number.
func (l *layout) born(ranges []liveRange) []value {
	end := make([]int32, l.positions()+2) // of the values that begin before each position
	n := 0
	for v := range ranges {
		if all := ranges[v].all; len(all) > 0 {
			end[all[0].from+1]++
			n++
		}
	}
	for i := 1; i < len(end); i++ {
		end[i] += end[i-1]
	}
	out := make([]value, n)
	for v := range ranges {
		if all := ranges[v].all; len(all) > 0 {
			out[end[all[0].from]] = value(v)
			end[all[0].from]++
		}
	}
	return out
}

// colorOrder is an order in which values are given registers.
type colorOrder uint8

const (
	spread    colorOrder = iota // as wideFirst, and what in-flight instructions still read is not reused
	wideFirst                   // wide values, then as they come to life; banks respected
	longFirst                   // those that live across blocks, then as they come to life
	inOrder                     // as they come to life
)

// color is one attempt of allocate; nil when it takes as many registers as best.
// list are the values that live, in that order.
func (l *layout) color(list []value, ranges []liveRange, limit, best int, order colorOrder) (assigned []int16, general int) {
	f := l.f
	assigned = make([]int16, len(f.vals))
	for v := range assigned {
		assigned[v] = -1
	}
	var heir []value
	if order <= wideFirst {
		heir = f.affinities(ranges)
	}
	banks := &f.scratch.banks
	for i := range banks {
		banks[i].reset(l.positions())
	}
	for _, v := range list {
		vi := &f.vals[v]
		if vi.file == fileNone || assigned[v] >= 0 {
			continue
		}
		if vi.file != fileGeneral {
			assigned[v] = int16(banks[vi.file].place(ranges[v].words(), -1, 0, nil))
			continue
		}
		var clash func(r int) bool
		if vi.words == 1 && order <= wideFirst && len(l.readers.of(v)) > 0 {
			clash = func(r int) bool { return f.bankClash(v, r, l.readers, assigned) }
		}
		general := &banks[fileGeneral]
		assigned[v] = int16(general.place(ranges[v].words(), stackPointer, limit, clash))
		if heir != nil {
			f.inherit(v, heir, ranges, assigned, general)
		}
		if general.most >= best {
			return nil, best
		}
	}
	return assigned, max(banks[fileGeneral].most, stackPointer+1)
}

// sortValues puts values, listed as they come to life, in the order in which they
// are given registers: those of most words first where the order says so.
func (l *layout) sortValues(list, born []value, order colorOrder) {
	rank := func(v value) int {
		if order <= wideFirst || order == longFirst && l.livesAcross(v) {
			return maxWords - int(l.f.vals[v].words)
		}
		return maxWords
	}
	var end [maxWords + 2]int // of the values of lower rank
	for _, v := range born {
		end[rank(v)+1]++
	}
	for i := 1; i < len(end); i++ {
		end[i] += end[i-1]
	}
	for _, v := range born {
		r := rank(v)
		list[end[r]] = v
		end[r]++
	}
}

// maxWords is the largest number of words of a value.
const maxWords = 4

// readers lists, for every one-word general value, the instructions that
// read it together with other general registers.
type readers struct {
	end   []int32 // of each value's part of insts
	insts []*inst
}

// of returns the readers of a value.
func (r *readers) of(v value) []*inst {
	if v == 0 {
		return r.insts[:r.end[0]]
	}
	return r.insts[r.end[v-1]:r.end[v]]
}

// readersOf collects the readers of every value.
func (f *fn) readersOf() *readers {
	r := &readers{end: make([]int32, len(f.vals)+1)}
	f.eachReader(func(v value, _ *inst) { r.end[v]++ })
	sum := int32(0)
	for v := range r.end {
		sum, r.end[v] = sum+r.end[v], sum
	}
	r.insts = make([]*inst, sum)
	f.eachReader(func(v value, in *inst) {
		r.insts[r.end[v]] = in
		r.end[v]++
	})
	return r
}

// eachReader calls visit for every one-word general value that an instruction
// reads together with another general one.
func (f *fn) eachReader(visit func(v value, in *inst)) {
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
					visit(a.v, in)
				}
			}
		}
	}
}

// bankClash says whether register r for value v would make an instruction read
// all its operands from one of the two register banks (even and odd numbers),
// which costs a cycle. That there are two banks, and that the assembler avoids
// them even for two operands, is read off its register choices on sm_90.
func (f *fn) bankClash(v value, r int, readers *readers, assigned []int16) bool {
	for _, in := range readers.of(v) {
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
