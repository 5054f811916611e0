package footprint

import (
	"math"
	"math/bits"
	"testing"
)

// stored surveys the stores of CTAs next to each other in a row and a column, after what they read.
func stored(grid [3]int, reads, writes func(x, y int, touch func(pc int32, line uint64, sectors uint8))) WriteBack {
	s := New(8, 64, 512)
	cta := func(d Direction, x, y int) {
		s.Begin(d)
		if reads != nil {
			reads(x, y, func(pc int32, line uint64, sectors uint8) { s.Touch(pc, line, sectors, false) })
		}
		writes(x, y, func(pc int32, line uint64, sectors uint8) {
			s.Locate(pc, line, sectors)
			s.Touch(pc, line, sectors, true)
			s.Store(pc, int64(4*bits.OnesCount8(sectors))) // a word of each
		})
	}
	cta(Base, 8, 8)
	for k := 1; k <= 4; k++ {
		cta(X, 8+k, 8)
	}
	for k := 1; k <= 2; k++ {
		cta(Y, 8, 8+k)
	}
	return s.Plan(device(grid)).WriteBack
}

func near(a, b float64) bool { return math.Abs(a-b) < 0.01*b+1e-9 }

// TestScatteredStores: sectors by themselves take DRAM as long as measured, and are read before
// if they were stored to in part and nobody has read them.
func TestScatteredStores(t *testing.T) {
	const share = 2.0 / 16
	alone := (1 - share) * (1 - share)
	grid := [3]int{64, 4096, 1}
	scattered := func(x, y int, touch func(int32, uint64, uint8)) {
		for i := range uint64(256) { // one sector of every 256 bytes
			touch(0, uint64(y*64+x)*512+i*2, 1)
		}
	}
	b := stored(grid, nil, scattered)
	if want := (1 + openLine*alone + 1 + openFill*alone) / 2; !near(b.Time, want) || b.Written != 0.5 || b.Read != 0.5 || b.Apart != 0.25 {
		t.Errorf("a word of every 256 bytes takes %+v, time %.3f of a granule was to be expected", b, want)
	}
	b = stored(grid, scattered, scattered)
	if want := (1 + openLine*alone) / 2; !near(b.Time, want) || b.Read != 0 || b.Apart != 0 {
		t.Errorf("what was read before is read again: %+v, time %.3f was to be expected", b, want)
	}
}

// TestStoresApart: sectors that two CTAs store half each are written back whole, but come to L2 in parts.
func TestStoresApart(t *testing.T) {
	s := New(8, 64, 512)
	for k, dir := range []Direction{Base, X, X, X, X} {
		s.Begin(dir)
		for row := range uint64(16) {
			line, sectors := row*32+uint64(k)/8, uint8(1)<<(k/2%4)
			s.Locate(0, line, sectors)
			s.Touch(0, line, sectors, true)
			s.Store(0, 16)
		}
	}
	if b := s.Plan(device([3]int{256, 64, 1})).WriteBack; b.Apart != 1 {
		t.Errorf("halves of sectors: %+v, all of it is apart", b)
	}
}

// TestWholeStores: what CTAs or instructions store next to each other is written back as a stream.
func TestWholeStores(t *testing.T) {
	grid := [3]int{64, 4096, 1}
	for _, c := range []struct {
		name   string
		writes func(x, y int, touch func(pc int32, line uint64, sectors uint8))
	}{
		{"rows of a line each", func(x, y int, touch func(int32, uint64, uint8)) {
			for r := range uint64(8) {
				touch(0, (uint64(y)*8+r)*64+uint64(x), 0xf)
			}
		}},
		{"a transposition, whose column of CTAs goes on", func(x, y int, touch func(int32, uint64, uint8)) {
			for r := range uint64(8) {
				touch(0, (uint64(x)*8+r)*4096+uint64(y), 0xf)
			}
		}},
		{"a word of each sector, whose column of CTAs has the others", func(x, y int, touch func(int32, uint64, uint8)) {
			for r := range uint64(64) {
				touch(0, (uint64(x)*64+r)*4096+uint64(y)/32, 1<<(y/8%4))
			}
		}},
		{"four instructions, a line of each piece by each", func(x, y int, touch func(int32, uint64, uint8)) {
			for i := range uint64(64) {
				for pc := range uint64(4) {
					touch(int32(pc), uint64(y*64+x)*256+i*4+pc, 0xf)
				}
			}
		}},
	} {
		full := func(x, y int, touch func(int32, uint64, uint8)) {
			c.writes(x, y, func(pc int32, line uint64, sectors uint8) {
				for range 8 { // all words of the sectors
					touch(pc, line, sectors)
				}
			})
		}
		if b := stored(grid, nil, full); b != (WriteBack{Time: 1, Written: 1}) {
			t.Errorf("%s: %+v", c.name, b)
		}
	}
}
