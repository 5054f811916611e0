package footprint

import (
	"testing"

	"pgregory.net/rapid"
)

// A table holds what a map holds, whether its storage is new or used again.
func TestTableIsAMap(t *testing.T) {
	tab := newRunTable[uint64]()
	rapid.Check(t, func(t *rapid.T) {
		tab.reset()
		want := map[uint64]uint64{}
		for range rapid.IntRange(0, 500).Draw(t, "touches") {
			key := rapid.Uint64Range(0, 50).Draw(t, "key")<<rapid.IntRange(0, 57).Draw(t, "shift") - rapid.Uint64Range(0, 1).Draw(t, "less")
			if got := *tab.get(key); got != want[key] {
				t.Fatalf("key %#x has %d, want %d", key, got, want[key])
			}
			want[key]++
			*tab.entry(key)++
		}
		for key, n := range want {
			if got := *tab.get(key); got != n {
				t.Fatalf("in the end key %#x has %d, want %d", key, got, n)
			}
		}
	})
}

// So does one of lines, with granules of either size, also where its storage was used for the other or given up.
func TestLineTableIsAMap(t *testing.T) {
	lines := &lineTable{runs: newRuns()}
	rapid.Check(t, func(t *rapid.T) {
		lines.reset()
		lines.keep(rapid.SampledFrom([]int{0, pageRuns, mostSpareRuns}).Draw(t, "kept"))
		perLine := rapid.SampledFrom([]uint64{2, 4}).Draw(t, "granules")
		lines.begin(perLine)
		want := map[uint64]int32{} // by granule
		for n := range int32(rapid.IntRange(0, 500).Draw(t, "touches")) {
			granule := rapid.Uint64Range(0, 2000).Draw(t, "granule") << rapid.SampledFrom([]int{0, 3, 20}).Draw(t, "shift")
			line := granule / perLine
			if got := lines.walk(line)[granule%perLine].after; got != want[granule] {
				t.Fatalf("granule %#x has %d, want %d", granule, got, want[granule])
			}
			l := lines.entry(line)
			l.granules[granule%perLine].after, l.by[stores] = n, int32(line)
			want[granule] = n
			if got := lines.locatedAt(line); got.by[stores] != int32(line) {
				t.Fatalf("line %#x was touched by %d", line, got.by[stores])
			}
		}
		for granule, n := range want {
			if got := lines.walk(granule / perLine)[granule%perLine].after; got != n {
				t.Fatalf("in the end granule %#x has %d, want %d", granule, got, n)
			}
		}
	})
}

// Whatever the stride of rows and however long they are, entries are found near where
// they belong.
func TestTableFindsSoon(t *testing.T) {
	const lines = 1 << 14
	for shift := range 24 {
		for _, row := range []uint64{1, 8, 100, 4096} {
			tab := newRunTable[int]()
			for i := range uint64(lines) {
				tab.entry(i/row<<shift + i%row)
			}
			looked := 0.0
			for _, run := range tab.keys {
				looked += float64((tab.slot(run)-tab.home(run))&uint64(len(tab.slots)-1)) + 1
			}
			if mean := looked / float64(len(tab.keys)); mean > 2.5 {
				t.Errorf("rows of %d lines, 2^%d apart: %.1f slots looked at for each of %d runs", row, shift, mean, len(tab.keys))
			}
		}
	}
}

// Rows of a matrix walked side by side, as threads that each have one walk it, with granules as of an H100.
func BenchmarkTouchRows(b *testing.B) {
	for b.Loop() {
		s := New(1, 64, 512)
		s.Begin(Base)
		for column := range uint64(64) {
			for row := range uint64(512) {
				s.Touch(0, row*512+column, 1, false)
			}
		}
	}
}
