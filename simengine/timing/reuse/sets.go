package reuse

// sets are disjoint sets of small numbers, by union and find (Tarjan, JACM 22, 1975): an element's
// parent, itself that of the one that stands for a set, its least.
type sets []int32

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

func (s sets) find(i int32) int32 {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) union(a, b int32) {
	if a == b {
		return
	}
	if a, b = s.find(a), s.find(b); a != b {
		s[max(a, b)] = min(a, b)
	}
}
