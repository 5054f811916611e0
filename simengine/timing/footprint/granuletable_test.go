package footprint

import "testing"

// Whatever the stride of rows and however long they are, entries are found near where
// they belong.
func TestTableFindsSoon(t *testing.T) {
	const granules = 1 << 14
	for shift := range 24 {
		for _, row := range []uint64{1, 8, 100, 4096} {
			tab := newGranuleTable()
			for i := range uint64(granules) {
				tab.entry(i/row<<shift + i%row)
			}
			looked, mask := 0, uint64(len(tab.entries)-1)
			for i := range tab.entries {
				if key := tab.entries[i].key; key != 0 {
					for at := tab.home(key); ; at = (at + step) & mask {
						if looked++; at == uint64(i) {
							break
						}
					}
				}
			}
			if mean := float64(looked) / float64(tab.n); mean > 2.5 {
				t.Errorf("rows of %d granules, 2^%d apart: %.1f slots looked at for each of %d", row, shift, mean, tab.n)
			}
		}
	}
}

// Rows of a matrix walked side by side, as threads that each have one walk it.
func BenchmarkTouchRows(b *testing.B) {
	for b.Loop() {
		s := New(1, 32, 512)
		s.Begin(Base)
		for column := range uint64(64) {
			for row := range uint64(512) {
				s.Touch(0, row*512+column, 1, false)
			}
		}
	}
}
