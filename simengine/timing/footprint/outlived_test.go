package footprint

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/timing"
)

// strips is a survey of CTAs that walk rows lines of a strip each, and read halo lines of the next one at their end.
func strips(grid [3]int, rows, halo uint64) *Survey {
	return visit(grid, func(x, y int, touch func(uint64, uint8)) {
		for k := range rows + halo {
			touch((uint64(y)*rows+k)*uint64(grid[0])+uint64(x), 0xf)
		}
	})
}

// What a CTA reads at its end and its neighbour reads at its start comes from DRAM twice where both run at the same time
// and L2 has lost it meanwhile.
func TestNeighboursThatMeetAtOtherTimes(t *testing.T) {
	const rows, halo = 32, 4
	grid := [3]int{64, 96, 1}
	data := 64 * 96 * rows * 128.0
	for _, c := range []struct {
		name     string
		l2       int
		resident float64
		again    bool
	}{
		{"all run at a time, L2 smaller", 8 * mega, 64 * 96, true},
		{"all run at a time, all of it in L2", 60 * mega, 64 * 96, false},
		{"a quarter of a row of CTAs at a time", 8 * mega, 16, false},
	} {
		d := device(grid)
		d.L2Bytes, d.Resident, d.CTAsPerSM = c.l2, c.resident, 1
		p := strips(grid, rows, halo).Plan(d)
		want := 1.0
		if c.again {
			want = (rows + halo) / float64(rows)
		}
		if got := p.ReadBytes / data; math.Abs(got-want) > 0.03 {
			t.Errorf("%s: reads %.3f times the data, want %.3f", c.name, got, want)
		}
	}
}

// A table that each row of CTAs reads, and L2 loses from row to row, comes from DRAM for each; it is no gather.
func TestATableThatRowsRead(t *testing.T) {
	grid := [3]int{4096, 3, 1}
	for _, c := range []struct {
		l2    int
		times float64
	}{{200 * mega, 1}, {20 * mega, 3}} {
		d := device(grid)
		d.L2Bytes, d.Resident, d.CTAsPerSM, d.Cold = c.l2, 500, 4, true
		s := visitBy(2, grid, func(x, y int, touch func(int32, uint64, uint8)) {
			for k := range uint64(2) {
				touch(0, uint64(x)*2+k, 0xf)
			}
			for k := range uint64(128) {
				touch(1, 1<<30+(uint64(y)*4096+uint64(x))*128+k, 0xf)
			}
		})
		const table, rest = 4096 * 2, 3 * 4096 * 128
		d.Extents = extentsOf(0, table, 1<<30, rest)
		p := s.Plan(d)
		if want := (c.times*table + rest) * 128; p.Random[0] || math.Abs(p.ReadBytes/want-1) > 1e-3 {
			t.Errorf("L2 of %d: reads %.0f bytes (random: %v), want %.0f", c.l2, p.ReadBytes, p.Random[0], want)
		}
	}
}

// extentsOf are buffers by their first line and number of lines.
func extentsOf(at ...uint64) (out []timing.Extent) {
	for i := 0; i < len(at); i += 2 {
		out = append(out, timing.Extent{First: at[i], Last: at[i] + at[i+1] - 1})
	}
	return out
}
