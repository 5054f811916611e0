package disjoint

// Sets is by element its parent, itself that of the one that stands for a set, the least of it.
type Sets []int32

// New returns n sets of one element each.
func New(n int) Sets {
	s := make(Sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// Add adds an element in a set of its own and returns it.
func (s *Sets) Add() int32 {
	*s = append(*s, int32(len(*s)))
	return int32(len(*s) - 1)
}

// Find returns what stands for the set of an element.
func (s Sets) Find(x int32) int32 {
	for s[x] != x {
		s[x] = s[s[x]]
		x = s[x]
	}
	return x
}

// Join makes one set of those of two elements and reports whether they were two.
func (s Sets) Join(a, b int32) bool {
	if a == b {
		return false
	}
	a, b = s.Find(a), s.Find(b)
	s[max(a, b)] = min(a, b)
	return a != b
}
