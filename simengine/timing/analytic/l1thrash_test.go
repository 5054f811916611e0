package analytic

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The cache holds what a plain list of lines by recency holds.
func TestLinesAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 9).Draw(t, "lines")
		c := newL1Lines(most, 1)
		var order []uint64
		for range rapid.IntRange(1, 400).Draw(t, "loads") {
			addr := rapid.Uint64Range(0, 400).Draw(t, "line")
			l := c.load(addr, false)
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

// Of lines that are walked over and over as much is found as was measured by how many
// they are, and of lines that others read nothing beyond what the cache holds.
func TestLinesWalked(t *testing.T) {
	const most, rounds = 1000, 20
	for k, b := range thrash {
		n := uint64(b.of * most)
		for _, own := range []bool{true, false} {
			c, found := newL1Lines(most, most), 0.0
			for i := range rounds * n {
				l := c.load(i%n, own)
				if l.valid != 0 {
					found += 1 / float64((rounds-1)*n)
				}
				l.valid = 0xf
			}
			want := b.found
			if !own && k > 0 {
				want = 0
			}
			if math.Abs(found-want) > 0.02 {
				t.Errorf("%d lines, own %v: %.3f found, want %.2f", n, own, found, want)
			}
		}
	}
	c := newL1Lines(most, most)
	for i := range 10 * uint64(1.61*most) {
		if l := c.load(i%uint64(1.61*most), true); l.valid != 0 {
			t.Fatalf("line %d found among more than are kept", l.addr)
		} else {
			l.valid = 0xf
		}
	}
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
