// Package regalloc gives virtual registers physical ones (color.go) and spills to local memory
// what does not fit (belady.go word by word, spill.go whole values, sharegroups.go accumulators in
// turn). What spilling leaves in pieces gets values of its own (webs.go, splitstored.go).
package regalloc

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Register allocation by colouring live ranges one after the other, each in the lowest free registers that fit. It
// is first fit, as in linear scan (Poletto and Sarkar, TOPLAS 1999), but with holes in live ranges (after Wimmer
// and Mössenböck, VEE 2005).
//
// The order decides how many registers it takes. Vectors of two and four words need aligned groups,
// so they go first. Four orders are tried until one keeps within the limit, and all where a program
// has accumulators of warpgroups (evidence, ptxas corpus, sm_90a: 15 of 15 register counts of gemm_ws
// are within 10 % so, and 12 with the first):
//
//	wideLate    wide values first; registers that an in-flight instruction may still read are spared
//	wideFirst   wide values first
//	longFirst   values that live across blocks first
//	inOrder     values as they come to life

// Allocator allocates registers for a program in the order of a layout.
type Allocator struct {
	f *mir.Func
	*mir.Layout
	readers *readers
	rotate  bool   // values of one word take registers in turn (see Rotated)
	across  []bool // by value: it is live at the start of some block; nil: not computed yet
	s       *Scratch
}

// New returns an allocator for a program in the order of a layout. It uses the storage of s.
func New(f *mir.Func, l *mir.Layout, s *Scratch) *Allocator {
	return &Allocator{f: f, Layout: l, readers: readersOf(f), s: s}
}

// livesAcross reports whether a value is live at the start of some block.
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

// Allocate returns the first register of every value, -1 for values that are never live, and the
// highest general register used plus one. limit is the number of general registers wanted. With
// must, an order that takes more is given up; if all do, assigned is nil and general is more than
// limit.
func (l *Allocator) Allocate(limit int, must bool) (assigned []int16, general int) {
	linger := int32(0)
	if l.f.Target.Uses(rules.LateReads) {
		linger = lateReadInsts
	}
	ranges := l.liveRanges(linger)
	general = math.MaxInt
	if must {
		general = limit + 1
	}
	byStart := l.byStart(ranges)
	list := make([]vreg.Value, len(byStart))
	for o := wideLate; o <= inOrder; o++ {
		if o == wideFirst {
			ranges = l.liveRanges(0) // they begin at the same positions
		} else {
			l.sortValues(list, byStart, o)
		}
		if a, g := l.color(list, ranges, limit, general, o); a != nil {
			assigned, general = a, g
		}
		if general <= limit && len(l.f.Groups) == 0 {
			break
		}
	}
	return assigned, general
}

// Rotated is Allocate with values of one word in registers taken in turn: the next free one above that
// of the value before, from the lowest again at the limit. Instructions then can move more freely in
// the order for latency that follows. assigned is nil if it takes more than limit registers.
func (l *Allocator) Rotated(limit int) (assigned []int16) {
	l.rotate = true
	defer func() { l.rotate = false }()
	ranges := l.liveRanges(0)
	byStart := l.byStart(ranges)
	list := make([]vreg.Value, len(byStart))
	l.sortValues(list, byStart, wideFirst)
	assigned, _ = l.color(list, ranges, limit, limit+1, wideFirst)
	return assigned
}

// byStart lists the values that live, by the position where they come to life, then by number.
func (l *Allocator) byStart(ranges []liveRange) []vreg.Value {
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
	wideLate  colorOrder = iota // as wideFirst, with sources of late readers kept longer
	wideFirst                   // wide values, then by start; bank conflicts are avoided
	longFirst                   // values that live across blocks, then by start
	inOrder                     // by start
)

// color allocates in one order; nil where it takes best registers or more. list holds the values
// that live, in that order.
func (l *Allocator) color(list []vreg.Value, ranges []liveRange, limit, best int, order colorOrder) (assigned []int16, general int) {
	f := l.f
	assigned = make([]int16, len(f.Values))
	for v := range assigned {
		assigned[v] = -1
	}
	var successor []vreg.Value
	if order <= wideFirst && f.Target.Uses(rules.CoalesceHints) {
		successor = coalesceHints(f, ranges)
	}
	banks := &l.s.files
	for i := range banks {
		banks[i].reset(l.Positions())
	}
	for _, g := range f.Groups {
		l.placeGroup(g, ranges, assigned)
	}
	turn := 0
	avoidClash := order <= wideFirst && f.Target.Uses(rules.BankConflicts)
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
		if vi.Words == 1 && avoidClash && len(l.readers.of(v)) > 0 {
			clash = func(r int) bool { return bankClash(f, v, r, l.readers, assigned) }
		}
		general := &banks[vreg.General]
		if l.rotate && vi.Words == 1 {
			if r := general.placeAbove(turn, ranges[v].words(), stackPointer, limit); r >= 0 {
				assigned[v], turn = int16(r), r+1
				if successor != nil {
					passOn(f, v, successor, ranges, assigned, general)
				}
				continue
			}
		}
		assigned[v] = int16(general.place(ranges[v].words(), stackPointer, limit, clash))
		if successor != nil {
			passOn(f, v, successor, ranges, assigned, general)
		}
		if general.most >= best {
			return nil, best
		}
	}
	return assigned, max(banks[vreg.General].most, stackPointer+1)
}

// sortValues fills list with the values of byStart in an order: by size, greatest first, where it
// says so.
func (l *Allocator) sortValues(list, byStart []vreg.Value, order colorOrder) {
	rank := func(v vreg.Value) int {
		if order <= wideFirst || order == longFirst && l.livesAcross(v) {
			return vreg.MaxWords - int(l.f.Values[v].Words)
		}
		return vreg.MaxWords
	}
	var end [vreg.MaxWords + 2]int // of the values of lower rank
	for _, v := range byStart {
		end[rank(v)+1]++
	}
	for i := 1; i < len(end); i++ {
		end[i] += end[i-1]
	}
	for _, v := range byStart {
		r := rank(v)
		list[end[r]] = v
		end[r]++
	}
}

// passOn gives the register of v to its chain of successors, as far as it is free.
func passOn(f *mir.Func, v vreg.Value, successor []vreg.Value, ranges []liveRange, assigned []int16, k *registerFile) {
	r := int(assigned[v])
	for h := successor[v]; h != vreg.None && assigned[h] < 0; h = successor[h] {
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
