package assemble

// sparse is a set of numbers below a bound, with all of its operations at once and
// its members listed (Briggs and Torczon, 1993).
type sparse[T ~int | ~int32] struct {
	list []T
	at   []int32 // by number: place in list plus one
}

func newSparse[T ~int | ~int32](bound int) sparse[T] { return sparse[T]{at: make([]int32, bound)} }

func (s *sparse[T]) has(x T) bool { return s.at[x] > 0 }

func (s *sparse[T]) add(x T) {
	if s.at[x] == 0 {
		s.list = append(s.list, x)
		s.at[x] = int32(len(s.list))
	}
}

func (s *sparse[T]) remove(x T) {
	if k := s.at[x]; k > 0 {
		last := s.list[len(s.list)-1]
		s.list[k-1], s.at[last] = last, k
		s.list, s.at[x] = s.list[:len(s.list)-1], 0
	}
}

func (s *sparse[T]) clear() {
	for _, x := range s.list {
		s.at[x] = 0
	}
	s.list = s.list[:0]
}
