package coalesce

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/trace"
)

func TestAhead(t *testing.T) {
	for _, c := range []struct {
		name      string
		step, out int64
		sectors   [2]uint8
		want      []uint64
	}{
		{"planes of whole lines", 10, 20, [2]uint8{0xf, 0xf}, []uint64{120, 130, 140, 150, 160, 170, 180, 190}},
		{"as many as were left out", 10, 3, [2]uint8{0xf, 0xf}, []uint64{120, 130, 140}},
		{"of parts of lines only the next is known", 10, 20, [2]uint8{0x3, 0xc}, []uint64{120}},
		{"the same line again", 0, 20, [2]uint8{0xf, 0xf}, nil},
	} {
		w := trace.Warp{
			Steps:    []trace.Step{{Block: 1}, {Block: 1, Access: 1}, {Block: 1, Access: 2, Repeat: c.out}},
			Accesses: []trace.Access{{PC: 7, NLines: 1}, {PC: 7, First: 1, NLines: 1}},
			Lines:    []trace.Line{{Addr: 100, Sectors: c.sectors[0]}, {Addr: 100 + uint64(c.step), Sectors: c.sectors[1]}},
		}
		var got []uint64
		Ahead(&w, func(_ *trace.Access, line uint64, _ uint8) { got = append(got, line) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: lines %v, want %v", c.name, got, c.want)
		}
	}
}
