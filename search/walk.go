package search

import (
	"iter"
	"math/rand/v2"
)

// All yields every valid configuration with its index, in order. The Config's
// Values are reused: Clone what is to be kept.
func (s *Space) All() iter.Seq2[int64, Config] {
	return func(yield func(int64, Config) bool) {
		c := Config{Names: s.names, Values: make([]Value, len(s.params))}
		var i int64
		s.walk(nil, func(p int, digit int32) { c.Values[p] = s.params[p].Values[digit] }, func(int64) bool {
			i++
			return yield(i-1, c)
		})
	}
}

// AllDigits yields the index and digits of every valid configuration, in
// order. The slice is reused.
func (s *Space) AllDigits() iter.Seq2[int64, []int] {
	return func(yield func(int64, []int) bool) {
		digits := make([]int, len(s.params))
		var i int64
		s.walk(nil, func(p int, digit int32) { digits[p] = int(digit) }, func(int64) bool {
			i++
			return yield(i-1, digits)
		})
	}
}

// walk visits in order the configurations whose digits allow admits (nil: all
// of them), and gives visit their indices; visit returns false to stop. set is
// told every digit that changes on the way.
func (s *Space) walk(allow func(p int, digit int32) bool, set func(p int, digit int32), visit func(i int64) bool) {
	if s.size == 0 {
		return
	}
	c := s.start()
	w := walker{s: s, cursor: c, allow: allow, set: set, visit: visit}
	w.descend(0, 0)
}

type walker struct {
	s *Space
	cursor
	allow func(p int, digit int32) bool
	set   func(p int, digit int32)
	visit func(i int64) bool
}

// descend visits what is below parameter p; the first configuration there that
// is valid at all has index i. It returns false to stop.
func (w *walker) descend(p int, i int64) bool {
	if p == len(w.s.params) {
		return w.visit(i)
	}
	k := w.s.component[p]
	d := w.s.components[k]
	node, rest := w.node[k], w.rest
	for _, e := range d.of(node) {
		if w.allow != nil && !w.allow(p, e.digit) {
			continue
		}
		w.node[k], w.rest = node, rest
		before := w.take(k, d, e)
		w.set(p, e.digit)
		if !w.descend(p+1, i+before) {
			return false
		}
	}
	w.node[k], w.rest = node, rest
	return true
}

// Sample returns n distinct indices (all of them when n >= Size) drawn
// uniformly from the valid configurations, in random order. It takes time and
// memory for n, not for Size.
func (s *Space) Sample(rng *rand.Rand, n int) []int64 {
	if int64(n) >= s.size {
		n = int(s.size)
	}
	// Floyd's algorithm: every n-subset is equally likely (Bentley and Floyd,
	// "A sample of brilliance", CACM 30(9), 1987).
	picked := make(map[int64]bool, n)
	out := make([]int64, 0, n)
	for j := s.size - int64(n); j < s.size; j++ {
		i := rng.Int64N(j + 1)
		if picked[i] {
			i = j
		}
		picked[i] = true
		out = append(out, i)
	}
	rng.Shuffle(n, func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out
}
