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
		e := enumerator{s: s, node: s.start().node}
		e.set = func(p int, digit int32) { c.Values[p] = s.params[p].Values[digit] }
		e.visit = func(i int64) bool { return yield(i, c) }
		e.run()
	}
}

// AllDigits yields the index of every valid configuration with, for each
// parameter, the index of its value, in order. The slice is reused.
func (s *Space) AllDigits() iter.Seq2[int64, []int32] {
	return func(yield func(int64, []int32) bool) {
		digits := make([]int32, len(s.params))
		e := enumerator{s: s, node: s.start().node}
		e.set = func(p int, digit int32) { digits[p] = digit }
		e.visit = func(i int64) bool { return yield(i, digits) }
		e.run()
	}
}

// enumerator visits all configurations in order.
type enumerator struct {
	s     *Space
	node  []int32                  // by component
	set   func(p int, digit int32) // told every digit that changes
	visit func(i int64) bool       // false: stop
	next  int64
}

func (e *enumerator) run() {
	if e.s.size > 0 {
		e.descend(0)
	}
}

// descend visits what is below parameter p; false: stop.
func (e *enumerator) descend(p int) bool {
	if p == len(e.s.component) {
		e.next++
		return e.visit(e.next - 1)
	}
	k := e.s.component[p]
	node := e.node[k]
	for _, edge := range e.s.components[k].of(node) {
		e.node[k] = edge.to
		e.set(p, edge.digit)
		if !e.descend(p + 1) {
			return false
		}
	}
	e.node[k] = node
	return true
}

// within visits in order the configurations whose digits allow admits, and
// gives visit their indices; visit returns false to stop.
func (s *Space) within(allow func(p int, digit int32) bool, visit func(i int64) bool) {
	if s.size > 0 {
		w := walker{s: s, cursor: s.start(), allow: allow, visit: visit}
		w.descend(0, 0)
	}
}

type walker struct {
	s *Space
	cursor
	allow func(p int, digit int32) bool
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
		if !w.allow(p, e.digit) {
			continue
		}
		w.node[k], w.rest = node, rest
		if before := w.take(k, d, e); !w.descend(p+1, i+before) {
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
	n = max(n, 0)
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
