package regalloc

// Sparse sets (Briggs and Torczon, "An Efficient Representation for Sparse Sets", LOPLAS 1993).

// sparseSet is a set of numbers below a bound: constant time for every operation, and its members
// are listed.
type sparseSet[T ~int | ~int32] struct {
	list []T
	at   []int32 // by number: index in list plus one, 0 absent
}

func newSparseSet[T ~int | ~int32](bound int) sparseSet[T] {
	return sparseSet[T]{at: make([]int32, bound)}
}

func (s *sparseSet[T]) has(x T) bool { return s.at[x] > 0 }

func (s *sparseSet[T]) add(x T) {
	if s.at[x] == 0 {
		s.list = append(s.list, x)
		s.at[x] = int32(len(s.list))
	}
}

func (s *sparseSet[T]) remove(x T) {
	if k := s.at[x]; k > 0 {
		last := s.list[len(s.list)-1]
		s.list[k-1], s.at[last] = last, k
		s.list, s.at[x] = s.list[:len(s.list)-1], 0
	}
}

func (s *sparseSet[T]) clear() {
	for _, x := range s.list {
		s.at[x] = 0
	}
	s.list = s.list[:0]
}
