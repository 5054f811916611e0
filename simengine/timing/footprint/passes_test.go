package footprint

import (
	"math"
	"testing"
)

// A CTA reads lines of its own twice, the first time by a loop of which most iterations are left out. It finds them in L2
// the second time if all that CTAs read and store meanwhile stays there, and else comes to DRAM for each again.
func TestSecondPassOverWhatWasLeftOut(t *testing.T) {
	const lines, ctas = 512, 700
	grid := [3]int{ctas, 1, 1}
	for _, c := range []struct {
		name  string
		l2    int
		far   uint64 // the second pass reads so many lines further on
		times float64
	}{
		{"L2 holds it", 400 * mega, 0, 1},
		{"L2 loses it", 30 * mega, 0, 2},
		{"other data", 30 * mega, lines * ctas, 2},
		{"other data, L2 holds it", 400 * mega, lines * ctas, 2},
	} {
		s := New(2, 64, 512)
		for k := range 4 {
			d := Base
			if k > 0 {
				d = X
			}
			s.Begin(d)
			at := uint64(ctas/2+k) * lines
			touch := func(pc int32, line, stands int64) {
				s.StandFor(0, stands)
				s.Touch(pc, at+uint64(line), 0xf, false)
			}
			touch(0, 0, 1)
			touch(0, 1, lines-2)
			touch(0, lines-1, 1)
			for l := range int64(lines) {
				s.StandFor(0, 1)
				s.Touch(1, at+c.far+uint64(l), 0xf, false)
			}
		}
		d := device(grid)
		d.L2Bytes, d.Resident, d.CTAsPerSM = c.l2, ctas, 5
		p := s.Plan(d)
		bytes := p.ReadBytes
		again := float64(lines-3) / lines * p.ReadAgain[1] // of the second pass
		if c.far == 0 {
			bytes += again * lines * ctas * 128
		}
		if got := bytes / (lines * ctas * 128); math.Abs(got-c.times) > 0.02 {
			t.Errorf("%s: read %.2f times, want %.0f", c.name, got, c.times)
		}
	}
}
