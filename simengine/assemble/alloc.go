package assemble

import "math"

// allocator gives the values of a program, laid out in an order, registers.
type allocator struct {
	f *mfn
	*layout
	readers *readers
	across  []bool // by value: it is live at the entry of some block; nil: not asked for
	s       *allocScratch
}

// newAllocator returns an allocator for a program as it is laid out.
func newAllocator(f *mfn, l *layout, s *allocScratch) *allocator {
	return &allocator{f: f, layout: l, readers: f.readersOf(), s: s}
}

// livesAcross says whether a value is live at the entry of some block.
func (l *allocator) livesAcross(v value) bool {
	if l.across == nil {
		l.across = make([]bool, len(l.f.vals))
		for _, b := range l.f.order {
			for v, m := range l.f.live.in[b] {
				if m != 0 {
					l.across[v] = true
				}
			}
		}
	}
	return l.across[v]
}

// allocate assigns registers to values and returns, for each, its first one,
// and the highest general register used plus one.
//
// Wide values go first and banks are respected; when that takes more than
// limit registers, other orders are tried, without regard to banks. With must,
// orders that take more are given up, and the count says only that all did.
func (l *allocator) allocate(limit int, must bool) (assigned []int16, general int) {
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
func (l *allocator) born(ranges []liveRange) []value {
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
func (l *allocator) color(list []value, ranges []liveRange, limit, best int, order colorOrder) (assigned []int16, general int) {
	f := l.f
	assigned = make([]int16, len(f.vals))
	for v := range assigned {
		assigned[v] = -1
	}
	var heir []value
	if order <= wideFirst {
		heir = f.affinities(ranges)
	}
	banks := &l.s.banks
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
func (l *allocator) sortValues(list, born []value, order colorOrder) {
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

// inherit gives the register of a value to the chain of values that take it
// over, as far as it is free.
func (f *mfn) inherit(v value, heir []value, ranges []liveRange, assigned []int16, k *bank) {
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
