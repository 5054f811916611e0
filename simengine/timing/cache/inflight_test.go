package cache

import "testing"

// Sectors that were asked for and have not arrived are joined; others, and those of other lines, are asked for anew.
func TestInFlight(t *testing.T) {
	var f InFlight
	for i, c := range []struct {
		line    uint64
		sectors uint8
		at      int64
		joined  uint8
		why     string
	}{
		{7, 0b0011, 0, 0, "nothing is on its way"},
		{7, 0b0110, 50, 0b0010, "a sector is on its way, one is not"},
		{7, 0b1111, 99, 0b0111, "three are"},
		{8, 0b0011, 99, 0, "another line"},
		{7, 0b0011, 100, 0, "they have arrived"},
		{7, 0b0001, 150, 0b0001, "they are on their way again"},
	} {
		if got := f.Ask(c.line, c.sectors, c.at, c.at+100); got != c.joined {
			t.Errorf("request %d, %s: joined %04b, want %04b", i, c.why, got, c.joined)
		}
	}
}
