package coalesce

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/trace"
)

// Rows that are no multiple of a line apart are where the steps of those recorded lead: to
// a sector, and another in four rows, as two steps tell what is between to half a sector.
func TestRowsAhead(t *testing.T) {
	const pitch, width, out = 4110 * 4, 64 * 4, 12
	row := func(i int64) (from, to int64) { return i * pitch / 32, (i*pitch + width + 31) / 32 }
	w := trace.Warp{Steps: []trace.Step{{Block: 1}, {Block: 1, Access: 1}, {Block: 1, Access: 2}, {Block: 1, Access: 3, Repeat: out}}}
	for i := range int64(3) {
		from, to := row(i)
		first := int32(len(w.Lines))
		for s := from; s < to; s = s/4*4 + 4 {
			end := min(to, s/4*4+4)
			w.Lines = append(w.Lines, trace.Line{Addr: uint64(s / 4), Sectors: uint8(1)<<(end-s/4*4) - uint8(1)<<(s%4)})
		}
		w.Accesses = append(w.Accesses, trace.Access{PC: 7, First: first, NLines: uint16(int32(len(w.Lines)) - first)})
	}
	var got []int64
	Ahead(&w, func(_ *trace.Access, line uint64, sectors uint8) {
		for s := range int64(4) {
			if sectors>>s&1 != 0 {
				got = append(got, int64(line)*4+s)
			}
		}
	})
	for i := int64(3); i < 3+out; i++ {
		from, to := row(i)
		off := 1 + (i-2)/4
		for s := from + off; s < to-off; s++ {
			if !slices.Contains(got, s) {
				t.Errorf("row %d: sector %d of %d to %d is missing", i, s, from, to)
			}
		}
	}
	if most := out * (width/32 + 2); len(got) > most {
		t.Errorf("%d sectors of %d rows, want %d at most", len(got), out, most)
	}
}

// What has no lines, and says something else where they would begin, goes nowhere.
func TestNoRunOfSharedMemory(t *testing.T) {
	w := trace.Warp{
		Steps:    []trace.Step{{Block: 1}, {Block: 1, Access: 1}, {Block: 1, Access: 2, Repeat: 9}},
		Accesses: []trace.Access{{PC: 7, First: 128}, {PC: 7, First: 160}},
	}
	Ahead(&w, func(_ *trace.Access, line uint64, _ uint8) { t.Errorf("line %d", line) })
}

// A thread's own memory begins at 0: what goes down to it ends there.
func TestRowsDownToTheFirstSector(t *testing.T) {
	w := trace.Warp{
		Steps:    []trace.Step{{Block: 1}, {Block: 1, Access: 1}, {Block: 1, Access: 2, Repeat: 9}},
		Accesses: []trace.Access{{PC: 7, NLines: 1}, {PC: 7, First: 1, NLines: 1}},
		Lines:    []trace.Line{{Addr: 1, Sectors: 0x4}, {Addr: 0, Sectors: 0x8}}, // sectors 6 and 3
	}
	var got []uint64
	Ahead(&w, func(_ *trace.Access, line uint64, sectors uint8) { got = append(got, line<<8|uint64(sectors)) })
	if want := []uint64{0x1}; !slices.Equal(got, want) {
		t.Errorf("lines and sectors %x, want %x", got, want)
	}
}
