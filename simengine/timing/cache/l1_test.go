package cache

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// model is the same cache written plainly: a list of lines by recency for each set.
type model struct {
	c     *L1
	lines map[int][]uint64
	valid map[uint64]uint8
}

func (m *model) load(line uint64, mask uint8) (hit uint8) {
	s := m.c.set(line)
	order := m.lines[s]
	for i, l := range order {
		if l == line {
			hit = m.valid[line] & mask
			order = append(order[:i:i], order[i+1:]...)
			break
		}
	}
	order = append([]uint64{line}, order...)
	if len(order) > m.c.ways {
		delete(m.valid, order[m.c.ways])
		order = order[:m.c.ways]
	}
	m.lines[s] = order
	m.valid[line] |= mask
	return hit
}

func TestLoadAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(rapid.IntRange(1, 40).Draw(t, "lines") * LineBytes)
		m := &model{c: c, lines: map[int][]uint64{}, valid: map[uint64]uint8{}}
		for range rapid.IntRange(1, 300).Draw(t, "loads") {
			line := uint64(rapid.IntRange(0, 60).Draw(t, "line"))
			mask := uint8(rapid.IntRange(1, 15).Draw(t, "mask"))
			hit, _, entry := c.Load(line, mask)
			c.Fill(entry, mask&^hit, 0)
			if want := m.load(line, mask); hit != want {
				t.Fatalf("line %d mask %04b: hit %04b, want %04b", line, mask, hit, want)
			}
			if c.Contains(line, mask) != mask {
				t.Fatalf("line %d: not there after it was filled", line)
			}
		}
	})
}

func TestPendingSectorIsAHitThatWaits(t *testing.T) {
	c := New(64 << 10)
	hit, _, entry := c.Load(7, 0b0011)
	if hit != 0 {
		t.Fatalf("hit %04b in an empty cache", hit)
	}
	c.Fill(entry, 0b0011, 900)
	hit, ready, _ := c.Load(7, 0b0111)
	if hit != 0b0011 || ready != 900 {
		t.Errorf("hit %04b ready at %d, want 0011 at 900", hit, ready)
	}
}

func TestNoCapacityMissesAlways(t *testing.T) {
	c := New(0)
	for range 2 {
		hit, _, entry := c.Load(1, 0xf)
		c.Fill(entry, 0xf, 1)
		if hit != 0 || entry != -1 {
			t.Errorf("hit %04b entry %d", hit, entry)
		}
	}
}

// Power of two strides must not fall into few sets.
func TestStridesSpreadOverSets(t *testing.T) {
	c := New(224 << 10)
	for shift := range 16 {
		var seen [maxSets / 64]uint64
		for i := range uint64(maxSets) {
			s := c.set(i << shift)
			seen[s/64] |= 1 << (s % 64)
		}
		n := 0
		for _, w := range seen {
			n += bits.OnesCount64(w)
		}
		if n < maxSets/2 {
			t.Errorf("stride %d lines: %d of %d sets", 1<<shift, n, maxSets)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	c := New(224 << 10)
	line := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		hit, _, entry := c.Load(line, 0xf)
		c.Fill(entry, 0xf&^hit, 0)
		line += 37
	}
}

// A load finds what was stored whole; a store finds any sector of its line that
// was stored or loaded before, and takes a line like a load does.
func TestStoresTakeLines(t *testing.T) {
	c := New(2 * LineBytes)
	if hit := c.Store(1, 0b0011, 0b0001); hit != 0 {
		t.Errorf("an empty cache holds sectors %04b", hit)
	}
	if hit, _, _ := c.Load(1, 0b1111); hit != 0b0001 {
		t.Errorf("a load finds sectors %04b, want the one that was stored whole", hit)
	}
	if hit := c.Store(1, 0b0110, 0); hit != 0b0010 {
		t.Errorf("a store finds sectors %04b, want the one stored to before", hit)
	}
	c.Store(2, 1, 1)
	c.Store(3, 1, 1)
	if hit := c.Contains(1, 0b1111); hit != 0 {
		t.Errorf("sectors %04b of the line used longest ago are still there", hit)
	}
}

// A line that takes room pushes out the oldest, and has nothing itself.
func TestTake(t *testing.T) {
	c := New(8 * LineBytes)
	for line := range uint64(8) {
		_, _, entry := c.Load(line, 0xf)
		c.Fill(entry, 0xf, 0)
	}
	c.Take(8)
	for line, want := range []uint8{0, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0} {
		if got := c.Contains(uint64(line), 0xf); got != want {
			t.Errorf("line %d: sectors %x, want %x", line, got, want)
		}
	}
	(&L1{}).Take(1) // of no capacity
}
