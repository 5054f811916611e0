package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The cache holds what a plain list of lines by recency holds.
func TestLinesAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 9).Draw(t, "lines")
		c := newLines(most, 1)
		var order []uint64
		for range rapid.IntRange(1, 400).Draw(t, "loads") {
			addr := rapid.Uint64Range(0, 400).Draw(t, "line")
			l := c.load(addr)
			at := slices.Index(order, addr)
			if (l.valid != 0) != (at >= 0) {
				t.Fatalf("line %d: sectors %04b, place in the list %d", addr, l.valid, at)
			}
			l.valid = 0xf
			if at >= 0 {
				order = slices.Delete(order, at, at+1)
			}
			if order = slices.Insert(order, 0, addr); len(order) > most {
				order = order[:most]
			}
		}
	})
}

// Waiting grows with use and with company, and one customer never waits.
func TestWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.Float64Range(0, 1).Draw(t, "use")
		n := float64(rapid.IntRange(1, 64).Draw(t, "customers"))
		w := wait(u, n)
		if w < 0 || w > n-1 {
			t.Fatalf("waits for %v services of %v others", w, n-1)
		}
		if wait(u/2, n) > w || wait(u, n+1) < w {
			t.Fatalf("waits %v; at half the use %v, with one more %v", w, wait(u/2, n), wait(u, n+1))
		}
	})
}
