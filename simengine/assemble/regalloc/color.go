package regalloc

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Allocator gives the values of a program, laid out in an order, registers.
type Allocator struct {
	f *mir.Func
	*mir.Layout
	readers *readers
	across  []bool // by value: it is live at the entry of some block; nil: not asked for
	s       *Scratch
}

// New returns an allocator for a program as it is laid out.
func New(f *mir.Func, l *mir.Layout, s *Scratch) *Allocator {
	return &Allocator{f: f, Layout: l, readers: readersOf(f), s: s}
}

// livesAcross says whether a value is live at the entry of some block.
func (l *Allocator) livesAcross(v vreg.Value) bool {
	if l.across == nil {
		l.across = make([]bool, len(l.f.Values))
		for _, b := range l.f.Order {
			for v, m := range l.f.Live.In[b] {
				if m != 0 {
					l.across[v] = true
				}
			}
		}
	}
	return l.across[v]
}

// Allocate assigns registers to values and returns, for each, its first one,
// and the highest general register used plus one.
//
// Wide values go first and banks are respected; when that takes more than
// limit registers, other orders are tried, without regard to banks. With must,
// orders that take more are given up, and the count says only that all did.
func (l *Allocator) Allocate(limit int, must bool) (assigned []int16, general int) {
	ranges := l.liveRanges(lateReadInsts)
	general = math.MaxInt
	if must {
		general = limit + 1
	}
	born := l.born(ranges)
	list := make([]vreg.Value, len(born))
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
func (l *Allocator) born(ranges []liveRange) []vreg.Value {
	end := make([]int32, l.Positions()+2) // of the values that begin before each position
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
	out := make([]vreg.Value, n)
	for v := range ranges {
		if all := ranges[v].all; len(all) > 0 {
			out[end[all[0].from]] = vreg.Value(v)
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
func (l *Allocator) color(list []vreg.Value, ranges []liveRange, limit, best int, order colorOrder) (assigned []int16, general int) {
	f := l.f
	assigned = make([]int16, len(f.Values))
	for v := range assigned {
		assigned[v] = -1
	}
	var heir []vreg.Value
	if order <= wideFirst {
		heir = coalesceHints(f, ranges)
	}
	banks := &l.s.files
	for i := range banks {
		banks[i].reset(l.Positions())
	}
	for _, v := range list {
		vi := &f.Values[v]
		if vi.File == vreg.NoFile || assigned[v] >= 0 {
			continue
		}
		if vi.File != vreg.General {
			assigned[v] = int16(banks[vi.File].place(ranges[v].words(), -1, 0, nil))
			continue
		}
		var clash func(r int) bool
		if vi.Words == 1 && order <= wideFirst && len(l.readers.of(v)) > 0 {
			clash = func(r int) bool { return bankClash(f, v, r, l.readers, assigned) }
		}
		general := &banks[vreg.General]
		assigned[v] = int16(general.place(ranges[v].words(), stackPointer, limit, clash))
		if heir != nil {
			inherit(f, v, heir, ranges, assigned, general)
		}
		if general.most >= best {
			return nil, best
		}
	}
	return assigned, max(banks[vreg.General].most, stackPointer+1)
}

// sortValues puts values, listed as they come to life, in the order in which they
// are given registers: those of most words first where the order says so.
func (l *Allocator) sortValues(list, born []vreg.Value, order colorOrder) {
	rank := func(v vreg.Value) int {
		if order <= wideFirst || order == longFirst && l.livesAcross(v) {
			return vreg.MaxWords - int(l.f.Values[v].Words)
		}
		return vreg.MaxWords
	}
	var end [vreg.MaxWords + 2]int // of the values of lower rank
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
func inherit(f *mir.Func, v vreg.Value, heir []vreg.Value, ranges []liveRange, assigned []int16, k *registerFile) {
	r := int(assigned[v])
	for h := heir[v]; h != vreg.None && assigned[h] < 0; h = heir[h] {
		for i := range int(f.Values[h].Words) {
			if !k.free(r+i, ranges[h].word[i]) {
				return
			}
		}
		for i := range int(f.Values[h].Words) {
			k.take(r+i, ranges[h].word[i])
		}
		assigned[h] = int16(r)
	}
}
