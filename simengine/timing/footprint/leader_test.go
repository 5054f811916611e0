package footprint

import (
	"math"
	"testing"
)

// walked surveys a CTA and its neighbours along x and y, each of which reads lines, one by
// each of its requests.
func walked(grid [3]int, lines func(x, y int) []uint64) *Survey {
	s := New(1, 64, 512)
	for _, at := range []struct {
		dir  Direction
		x, y int
	}{{Base, 0, 0}, {X, 1, 0}, {Y, 0, 1}} {
		s.Begin(at.dir)
		for order, line := range lines(at.x, at.y) {
			s.Request(0, order)
			s.Touch(0, line, 0xf, false)
		}
	}
	return s
}

// Of 64 rows of 16 CTAs that read the same each 8 run at a time: every line comes from DRAM once,
// one CTA in 16 asks for it, and all wait, unless they come to it at other times.
func TestFront(t *testing.T) {
	const n = 32
	grid := [3]int{16, 64, 1}
	row := func(turn int) func(x, y int) []uint64 {
		return func(x, y int) (lines []uint64) {
			for k := range n {
				lines = append(lines, uint64(y*n+(k+turn*x)%n))
			}
			return lines
		}
	}
	column := func(x, _ int) (lines []uint64) {
		for k := range n {
			lines = append(lines, uint64(x*n+k))
		}
		return lines
	}
	for _, c := range []struct {
		name           string
		lines          func(x, y int) []uint64
		front, readers float64
		inStep         bool
	}{
		{"rows", row(0), 1, 16, true},
		{"rows, each from another line on", row(1), 1.0 / 16, 1, false},
		{"columns", column, 8.0 / 64, 8, true},
	} {
		d := device(grid)
		d.Resident = 8 * 16
		p := walked(grid, c.lines).Plan(d)
		want := 1.0 // where it is not known who reads the same
		if c.inStep {
			want = math.Min(c.front, (1+7*p.Read[0])/8) // an eighth of all CTAs start together
		}
		if math.Abs(p.ColdCopies[0]-want) > 1e-9 {
			t.Errorf("%s: %v of the copies wait, want %v", c.name, p.ColdCopies[0], want)
		}
		if math.Abs(p.LeaderReads[0]-c.front) > 1e-9 || p.LockstepSharers[0] != c.readers || p.WaitsInLockstep() != c.inStep {
			t.Errorf("%s: %v wait with %v, in step %v; want %v, %v, %v", c.name, p.LeaderReads[0], p.LockstepSharers[0], p.WaitsInLockstep(), c.front, c.readers, c.inStep)
		}
	}
}
