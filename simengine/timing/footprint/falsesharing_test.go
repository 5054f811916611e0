package footprint

import (
	"math"
	"testing"
)

// Of rows that warps update in place, one after another, the lines that two of them share are contended for, from
// the second row on. They are not where rows begin with a line, where all is read before anything is stored, or
// where it is stored elsewhere.
func TestFalseSharing(t *testing.T) {
	const warps, rows = 8, 4
	for _, c := range []struct {
		name  string
		pitch uint64 // bytes
		place uint64 // of what is stored, lines on
		ahead bool   // all rows are read first
		first uint64 // byte of a row that is the first to be updated
		want  float64
	}{
		{"rows of whole lines", 24576, 0, false, 0, 0},
		{"every other row begins in the middle of a line", 24000, 0, false, 0, 4.0 / 6},
		{"all begin within a sector", 24576, 0, false, 8, 0.75},
		{"all is read before it is stored", 24000, 0, true, 0, 0},
		{"stored elsewhere", 24000, 1 << 30, false, 0, 0},
	} {
		s := New(1, 64, 512)
		for cta := range uint64(3) {
			s.Begin([]Direction{Base, X, X}[cta])
			row := func(w, r uint64, place uint64, store bool) {
				s.Request(int(w), int(r))
				at := r*c.pitch + (cta*warps+w)*128 + c.first
				for line := at / 128; line*128 < at+128; line++ {
					var sectors uint8
					for k := range uint64(4) {
						if b := line*128 + k*32; b+32 > at && b < at+128 {
							sectors |= 1 << k
						}
					}
					s.Touch(0, line+place, sectors, store)
				}
			}
			for r := range uint64(rows) {
				for w := range uint64(warps) {
					row(w, r, 0, false)
				}
				for w := uint64(0); w < warps && !c.ahead; w++ {
					row(w, r, c.place, true)
				}
			}
			for r := uint64(0); r < rows && c.ahead; r++ {
				for w := range uint64(warps) {
					row(w, r, c.place, true)
				}
			}
		}
		p := s.Plan(device([3]int{64, 1024, 1}))
		if got := p.Contended[0]; math.Abs(got-c.want) > 0.06 {
			t.Errorf("%s: %.3f of the reads are contended for, want %.3f", c.name, got, c.want)
		}
	}
}
