package search

import (
	"iter"
	"math/bits"
)

// Neighbourhood says which configurations are near one another. The zero value
// is invalid.
type Neighbourhood uint8

// Neighbourhoods, as Kernel Tuner's search space defines them.
const (
	NeighbourhoodInvalid Neighbourhood = iota
	Hamming                            // exactly one parameter differs, by any value
	Adjacent                           // every parameter is at most one step away among the values that occur in the space
	StrictlyAdjacent                   // every parameter is at most one step away among its values
)

// String returns the neighbourhood as Kernel Tuner spells it.
func (n Neighbourhood) String() string {
	switch n {
	case Hamming:
		return "Hamming"
	case Adjacent:
		return "adjacent"
	case StrictlyAdjacent:
		return "strictly-adjacent"
	}
	return "invalid"
}

// Neighbours yields the indices of the configurations near configuration i,
// without i itself, each once. Hamming gives them by parameter, the others in
// order of index; there may be 3^parameters of those.
func (s *Space) Neighbours(i int64, n Neighbourhood) iter.Seq[int64] {
	digits := s.Digits(i, nil)
	return func(yield func(int64) bool) {
		switch n {
		case Hamming:
			s.hamming(digits, yield)
		case Adjacent:
			s.box(i, s.steps(digits), yield)
		case StrictlyAdjacent:
			around := make([][2]int32, len(digits))
			for p, d := range digits {
				around[p] = [2]int32{int32(d - 1), int32(d + 1)}
			}
			s.box(i, around, yield)
		}
	}
}

func (s *Space) hamming(digits []int, yield func(int64) bool) {
	digits = append([]int(nil), digits...)
	for p, own := range digits {
		for d := range s.params[p].Values {
			if d == own {
				continue
			}
			digits[p] = d
			if i, ok := s.IndexOfDigits(digits); ok && !yield(i) {
				return
			}
		}
		digits[p] = own
	}
}

// box yields the configurations other than own with all digits within bounds.
func (s *Space) box(own int64, around [][2]int32, yield func(int64) bool) {
	allow := func(p int, d int32) bool { return around[p][0] <= d && d <= around[p][1] }
	s.within(allow, func(i int64) bool { return i == own || yield(i) })
}

// steps returns, by parameter, the nearest digits below and above that occur
// in some valid configuration.
func (s *Space) steps(digits []int) [][2]int32 {
	around := make([][2]int32, len(digits))
	for p, d := range digits {
		lo, hi := d, d
		for k := d - 1; k >= 0 && lo == d; k-- {
			if s.occurs(p, k) {
				lo = k
			}
		}
		for k := d + 1; k < len(s.params[p].Values) && hi == d; k++ {
			if s.occurs(p, k) {
				hi = k
			}
		}
		around[p] = [2]int32{int32(lo), int32(hi)}
	}
	return around
}

// occurs reports whether some valid configuration has the digit.
func (s *Space) occurs(p, digit int) bool {
	return s.alive[p][digit/64]>>(digit%64)&1 == 1
}

// Occurring returns how many values of parameter p occur in valid
// configurations.
func (s *Space) Occurring(p int) int {
	n := 0
	for _, word := range s.alive[p] {
		n += bits.OnesCount64(word)
	}
	return n
}

// findAlive marks the digits on the edges of every component. All edges lie on
// valid paths, so a scan of each level's nodes is enough.
func (s *Space) findAlive() {
	s.alive = make([][]uint64, len(s.params))
	for p := range s.params {
		s.alive[p] = make([]uint64, (len(s.params[p].Values)+63)/64)
	}
	if s.size == 0 {
		return
	}
	for _, d := range s.components {
		level := make([]int32, len(d.count)) // from the end; node numbers grow towards the root
		for node := 1; node < len(d.count); node++ {
			es := d.of(int32(node))
			level[node] = level[es[0].to] + 1
			p := d.params[len(d.params)-int(level[node])]
			for _, e := range es {
				s.alive[p][e.digit/64] |= 1 << (e.digit % 64)
			}
		}
	}
}
