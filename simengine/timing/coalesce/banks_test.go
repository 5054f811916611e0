package coalesce

import "testing"

// Lanes that do not share words take turns by bank: all at one word or at words of one bank 32, and
// two of which share a word no longer than two at words of one bank.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		name  string
		at    func(l uint64) uint64
		width int
		want  int
	}{
		{"consecutive words", func(l uint64) uint64 { return 4 * l }, 4, 1},
		{"one word", func(uint64) uint64 { return 64 }, 4, 32},
		{"words of one bank", func(l uint64) uint64 { return 128 * l }, 4, 32},
		{"pairs that share words", func(l uint64) uint64 { return 4 * (l / 2) }, 4, 2},
		{"pairs that share words of one bank", func(l uint64) uint64 { return 128 * (l / 2) }, 4, 32},
		{"two that share a word, others in two banks each", func(l uint64) uint64 { return []uint64{0, 0, 4 * l, 4*l + 124}[min(l, 2+l%2)] }, 4, 2},
		{"words of 64 bits", func(l uint64) uint64 { return 8 * l }, 8, 2},
	} {
		var addr Lanes
		for l := range addr {
			addr[l] = c.at(uint64(l))
		}
		if got := Turns(&addr, ^uint32(0), c.width, 4); got != c.want {
			t.Errorf("%s: %d turns, want %d", c.name, got, c.want)
		}
	}
}
