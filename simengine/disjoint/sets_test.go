package disjoint

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// After any joins two elements have one representative exactly if a chain of joins connects them, and it is
// the least of its set.
func TestSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "elements")
		s, joined := New(n), make([]int, n)
		for i := range joined {
			joined[i] = i
		}
		for range rapid.IntRange(0, 40).Draw(t, "joins") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
			if two := s.Join(int32(a), int32(b)); two != (joined[a] != joined[b]) {
				t.Fatalf("join of %d and %d: %v, joined %v", a, b, two, joined)
			}
			for i, from := 0, joined[b]; i < n; i++ {
				if joined[i] == from {
					joined[i] = joined[a]
				}
			}
		}
		for i := range n {
			if least := slices.Index(joined, joined[i]); int(s.Find(int32(i))) != least {
				t.Fatalf("%d: %d stands for it, the least is %d", i, s.Find(int32(i)), least)
			}
			for k := range n {
				if (s.Find(int32(i)) == s.Find(int32(k))) != (joined[i] == joined[k]) {
					t.Fatalf("%d and %d: %v, joined %v", i, k, s, joined)
				}
			}
		}
	})
}
