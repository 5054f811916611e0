package halving

import (
	"cmp"
	"slices"
)

// Ledger keeps how far the best known is from the fastest configuration, as
// evaluations arrive in any order. Its zero value has no candidates.
type Ledger struct {
	floors   []Candidate // by floor, then index
	place    map[int64]int
	answered []bool // by place
	all      int    // answered in all
	below    int    // answered, of the first reach
	reach    int    // floors that are not above the best
	lowest   int    // the first place that is not answered
	best     float64
	known    bool
}

// NewLedger returns the ledger of candidates that are not evaluated yet.
func NewLedger(candidates []Candidate) *Ledger {
	l := &Ledger{floors: slices.Clone(candidates), place: make(map[int64]int, len(candidates)), answered: make([]bool, len(candidates)), reach: len(candidates)}
	slices.SortFunc(l.floors, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Floor, b.Floor), cmp.Compare(a.Index, b.Index))
	})
	for i, c := range l.floors {
		l.place[c.Index] = i
	}
	return l
}

// Answer notes that a candidate is evaluated.
func (l *Ledger) Answer(index int64) {
	at, ok := l.place[index]
	if !ok || l.answered[at] {
		return
	}
	l.answered[at] = true
	l.all++
	if at < l.reach {
		l.below++
	}
	for l.lowest < len(l.floors) && l.answered[l.lowest] {
		l.lowest++
	}
}

// Best notes the least time evaluated so far; it never grows.
func (l *Ledger) Best(time float64) {
	l.best, l.known = time, true
	for l.reach > 0 && l.floors[l.reach-1].Floor > time {
		l.reach--
		if l.answered[l.reach] {
			l.below--
		}
	}
}

// Standing is what is known of the candidates.
type Standing struct {
	Evaluated int
	Pruned    int // not evaluated, with a floor above the best
	Open      int // not evaluated, and might be faster
	// Gap: the best takes at most 1+Gap times as long as the fastest; -1 when
	// nothing is known.
	Gap float64
}

// Standing returns what is known of the candidates now.
func (l *Ledger) Standing() Standing {
	s := Standing{Evaluated: l.all, Open: l.reach - l.below, Gap: -1}
	s.Pruned = len(l.floors) - l.all - s.Open
	switch {
	case !l.known:
	case s.Open == 0:
		s.Gap = 0
	case l.floors[l.lowest].Floor > 0:
		s.Gap = max(l.best/l.floors[l.lowest].Floor-1, 0)
	}
	return s
}
