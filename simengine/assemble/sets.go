package assemble

// sets are disjoint sets of small numbers, by union and find (Tarjan, JACM 22, 1975): an element's
// parent, itself that of the one that stands for a set.
type sets []int32

// add adds an element of its own.
func (s *sets) add() int32 {
	*s = append(*s, int32(len(*s)))
	return int32(len(*s) - 1)
}

// find returns what stands for the set of an element.
func (s sets) find(x int32) int32 {
	for s[x] != x {
		s[x] = s[s[x]]
		x = s[x]
	}
	return x
}

// join makes one set of two, for which what stood for the second stands, and says whether they were two.
func (s sets) join(a, b int32) bool {
	a, b = s.find(a), s.find(b)
	s[a] = b
	return a != b
}
