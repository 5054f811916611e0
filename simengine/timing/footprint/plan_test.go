package footprint

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/warptune/warptune/simengine/timing"
)

// visit surveys CTAs of a kernel whose footprint f gives (lines and sectors of
// one load), as package timing picks them: a base CTA, neighbours, far corners.
func visit(grid [3]int, f func(x, y int, touch func(line uint64, sectors uint8))) *Survey {
	return visitBy(1, grid, func(x, y int, touch func(pc int32, line uint64, sectors uint8)) {
		f(x, y, func(line uint64, sectors uint8) { touch(0, line, sectors) })
	})
}

// visitBy is visit with several instructions.
func visitBy(pcs int, grid [3]int, f func(x, y int, touch func(pc int32, line uint64, sectors uint8))) *Survey {
	s := New(pcs, 64, 512)
	cta := func(d Direction, x, y int) {
		s.Begin(d)
		f(x, y, func(pc int32, line uint64, sectors uint8) { s.Touch(pc, line, sectors, false) })
	}
	x, y := grid[0]/2&^3, grid[1]/2&^3
	cta(Base, x, y)
	for k := 1; k <= 4; k++ {
		if x+k < grid[0] {
			cta(X, x+k, y)
		}
	}
	for k := 1; k < 3; k++ {
		if y+k < grid[1] {
			cta(Y, x, y+k)
		}
	}
	cta(Far, 0, 0)
	cta(Far, grid[0]-1, grid[1]-1)
	return s
}

const mega = 1 << 20

func device(grid [3]int) Device {
	return Device{Grid: grid, L2Bytes: 60 * mega, EffectiveBytes: 30 * mega, Kept: 0.54, KeptUntil: 0.89, Cold: true}
}

func TestStreamIsAllNew(t *testing.T) {
	grid := [3]int{4096, 1, 1}
	p := visit(grid, func(x, _ int, touch func(uint64, uint8)) {
		for k := range uint64(16) {
			touch(uint64(x)*16+k, 0xf)
		}
	}).Plan(device(grid))
	want := 4096 * 16 * 128.0
	if p.Read[0] != 1 || p.Footprint != want || p.ReadBytes != want || p.RowSegmentShare < 0.9 || p.Random[0] || p.Broadcast[0] {
		t.Errorf("plan %+v, want every byte of %.0f", p, want)
	}
}

// A matrix product's tiles: all CTAs of a row read the same rows.
func TestRowIsSharedByItsCTAs(t *testing.T) {
	grid := [3]int{16, 32, 1}
	p := visit(grid, func(_, y int, touch func(uint64, uint8)) {
		for k := range uint64(64) {
			touch(uint64(y)*64+k, 0xf)
		}
	}).Plan(device(grid))
	if want := 1.0 / 16; math.Abs(p.Read[0]-want) > 1e-9 {
		t.Errorf("share from DRAM %v, want %v", p.Read[0], want)
	}
	if want := 32 * 64 * 128.0; p.ReadBytes != want {
		t.Errorf("read %v bytes, want %v", p.ReadBytes, want)
	}
}

// What differs along an axis, and what does not: rows, columns, both, and neither.
func TestAlong(t *testing.T) {
	grid := [3]int{16, 32, 1}
	for want, f := range map[Axes]func(x, y int) int{
		0: func(int, int) int { return 0 }, 1: func(x, _ int) int { return x }, 2: func(_, y int) int { return y }, 3: func(x, y int) int { return y*16 + x },
	} {
		p := visit(grid, func(x, y int, touch func(uint64, uint8)) {
			for k := range uint64(64) {
				touch(uint64(f(x, y))*64+k, 0xf)
			}
		}).Plan(device(grid))
		all := want == 0
		if want == 3 {
			want = 0 // each CTA its own
		}
		if p.DistinctAlong[0] != want || p.Broadcast[0] != all {
			t.Errorf("differs along %03b, broadcast %v; want %03b, %v", p.DistinctAlong[0], p.Broadcast[0], want, all)
		}
	}
}

func TestHaloIsSharedWithNeighbours(t *testing.T) {
	const width, height = 8, 8 // lines by rows of a CTA's tile, and a halo row above and below
	grid := [3]int{64, 64, 1}
	pitch := uint64(64 * width)
	p := visit(grid, func(x, y int, touch func(uint64, uint8)) {
		for r := range height + 2 {
			for k := range width {
				touch(uint64(y*height+r)*pitch+uint64(x*width+k), 0xf)
			}
		}
	}).Plan(device(grid))
	want := float64(64*height+2) * float64(pitch) * 128
	if math.Abs(p.ReadBytes/want-1) > 0.01 {
		t.Errorf("read %.0f bytes, the image has %.0f", p.ReadBytes, want)
	}
}

// What lies between a CTA and its neighbour in the next row is what a row touches, each line once. The columns of a
// product that all rows of CTAs read are still there, though what the CTAs of a row read one by one is more than
// L2.
func TestRowsShareColumns(t *testing.T) {
	const rows, columns = 64, 128 // lines of a CTA's part of A, and of B
	grid := [3]int{2048, 16, 1}
	p := visitBy(2, grid, func(x, y int, touch func(int32, uint64, uint8)) {
		for k := range uint64(rows) {
			touch(0, uint64(x)*rows+k, 0xf)
		}
		for k := range uint64(columns) {
			touch(1, 1<<24+uint64(y)*columns+k, 0xf)
		}
	}).Plan(device(grid))
	want := float64(2048*rows+16*columns) * 128
	if math.Abs(p.ReadBytes/want-1) > 0.01 {
		t.Errorf("read %.0f bytes, A and B have %.0f", p.ReadBytes, want)
	}
}

// Half a granule each: neighbours share it.
func TestSharedSectors(t *testing.T) {
	grid := [3]int{4096, 1, 1}
	p := visit(grid, func(x, _ int, touch func(uint64, uint8)) {
		touch(uint64(x/4), 1<<(x%4))
	}).Plan(device(grid))
	if want := 4096 / 4 * 128.0; math.Abs(p.ReadBytes/want-1) > 0.01 {
		t.Errorf("read %.0f bytes, want %.0f", p.ReadBytes, want)
	}
}

func TestScatteredAccesses(t *testing.T) {
	for _, c := range []struct {
		name      string
		lines     uint64 // of the range
		low, high float64
	}{
		{"fits L2", 4 * mega / 128, 0, 0.3},
		{"four times L2", 256 * mega / 128, 0.85, 0.95},
	} {
		grid := [3]int{65536, 1, 1}
		seed := uint64(1)
		p := visit(grid, func(_, _ int, touch func(uint64, uint8)) {
			for range 256 {
				seed = seed*6364136223846793005 + 1442695040888963407
				touch(seed>>20%c.lines, 1)
			}
		}).Plan(device(grid))
		if !p.Random[0] || p.Read[0] < c.low || p.Read[0] > c.high {
			t.Errorf("%s: random %v, share from DRAM %.3f, want %.2f to %.2f", c.name, p.Random[0], p.Read[0], c.low, c.high)
		}
		if p.RowSegmentShare > 0.2 {
			t.Errorf("%s: %.2f of each piece used", c.name, p.RowSegmentShare)
		}
	}
}

// Where data shifts by rows what CTAs read and columns move on evenly, the product of what
// neighbours along either axis have of their own is many times the buffer. A CTA finds what its
// neighbour in the row read all the same.
func TestShiftedRowsAreFoundInRows(t *testing.T) {
	const channels, samples = 64, 1 << 16 // sectors a channel: 128 MB, twice L2
	grid := [3]int{samples / 2, 64, 1}
	p := visit(grid, func(x, y int, touch func(uint64, uint8)) {
		for c := range channels {
			for k := range 16 { // 2 of 16 are new, and y moves them on by whole CTAs
				at := uint64(c*samples + 2*x + c*y + k)
				touch(at/4, 1<<(at%4))
			}
		}
	}).Plan(device(grid))
	if p.Read[0] > 2.0/16 || p.Read[0] < 0.5*2/16 {
		t.Errorf("%.3f of what a CTA reads comes from DRAM, 2 of 16 are new", p.Read[0])
	}
}

// What is gathered by several loads comes from DRAM as if one load gathered all.
func TestGathersFromOneBufferCountTogether(t *testing.T) {
	const lines = 64 * mega / 128
	grid := [3]int{65536, 1, 1}
	d := device(grid)
	d.Cold = false
	d.Extents = []timing.Extent{{Last: lines - 1}}
	gather := func(loads int) *Plan {
		s := New(loads, 64, 512)
		seed := uint64(1)
		for k := range 5 {
			s.Begin([]Direction{Base, X}[min(k, 1)])
			for i := range 256 {
				seed = seed*6364136223846793005 + 1442695040888963407
				s.Touch(int32(i%loads), seed>>20%lines, 1, false)
			}
		}
		return s.Plan(d)
	}
	one, four := gather(1), gather(4)
	for pc := range four.Read {
		if !four.Random[pc] || math.Abs(four.Read[pc]-one.Read[0]) > 0.01 || four.Over[pc] != d.Extents[0] {
			t.Errorf("load %d of four: random %v, share from DRAM %.3f; one load: %.3f", pc, four.Random[pc], four.Read[pc], one.Read[0])
		}
	}
	if math.Abs(four.RowSegmentShare-one.RowSegmentShare) > 0.01 {
		t.Errorf("%.3f of each piece used by four loads, %.3f by one", four.RowSegmentShare, one.RowSegmentShare)
	}
}

// Whole rows that several loads gather, each a part, come from DRAM as rows that one load
// gathers: a line is there as a whole or not at all, and its pieces are opened once.
func TestRowsGatheredInParts(t *testing.T) {
	const lines, rows = 64 * mega / 128, 32
	grid := [3]int{65536, 1, 1}
	d := device(grid)
	d.Cold = false
	d.Extents = []timing.Extent{{Last: lines - 1}}
	gather := func(masks ...uint8) *Plan { // of rows of two lines
		s := New(len(masks), 64, 512)
		seed := uint64(1)
		for k := range 5 {
			s.Begin([]Direction{Base, X}[min(k, 1)])
			for range rows {
				seed = seed*6364136223846793005 + 1442695040888963407
				for pc, m := range masks {
					for l := range uint64(2) {
						s.Touch(int32(pc), seed>>20%(lines/2)*2+l, m, false)
					}
				}
			}
		}
		return s.Plan(d)
	}
	whole, parts, half := gather(0xf), gather(0x3, 0xc), gather(0x3)
	for pc := range parts.Read {
		if !parts.Random[pc] || math.Abs(parts.Read[pc]-whole.Read[0]) > 0.01 {
			t.Errorf("part %d: random %v, share from DRAM %.3f; of whole rows %.3f", pc, parts.Random[pc], parts.Read[pc], whole.Read[0])
		}
	}
	if math.Abs(parts.RowSegmentShare-whole.RowSegmentShare) > 0.01 || whole.RowSegmentShare < 1.9*half.RowSegmentShare {
		t.Errorf("of each piece opened %.3f is used in parts, %.3f whole, %.3f of half rows", parts.RowSegmentShare, whole.RowSegmentShare, half.RowSegmentShare)
	}
}

// Of a buffer of which data points into a part, that part is what L2 is asked to hold,
// and lines that other CTAs' iterations only may touch are no place it points to.
func TestGathersFromPartOfABuffer(t *testing.T) {
	const lines, used = 256 * mega / 128, 16 * mega / 128
	d := device([3]int{65536, 1, 1})
	d.Cold = false
	d.Extents = []timing.Extent{{Last: lines - 1}}
	s := New(1, 64, 512)
	seed := uint64(1)
	for _, dir := range []Direction{Base, X, X, Spread, Spread} {
		s.Begin(dir)
		for range 256 {
			seed = seed*6364136223846793005 + 1442695040888963407
			s.Touch(0, seed>>20%used, 1, false)
		}
		s.StandFor(0, 0)
		s.Touch(0, lines+99, 1, false)
	}
	p := s.Plan(d)
	if o := p.Over[0]; !p.Random[0] || o.Last >= used || o.Last < used*9/10 || o.First > used/10 {
		t.Errorf("random %v, over lines %d to %d, want all but a few of %d", p.Random[0], o.First, o.Last, used)
	}
	if p.Read[0] > 0.05 {
		t.Errorf("%.2f of the gathers from 16 MB come from DRAM", p.Read[0])
	}
}

// The larger the buffer the less of it is found, between all and nothing; two
// halves with copies hold less than one cache of the same size.
func TestMissingGrowsWithTheBuffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Device{L2Bytes: 60 * mega, EffectiveBytes: rapid.SampledFrom([]int{30 * mega, 60 * mega}).Draw(t, "effective")}
		s := New(1, rapid.SampledFrom([]int{32, 64}).Draw(t, "granule"), 512)
		granules := float64(mega / s.granule)
		last := 0.0
		for _, mb := range []float64{1, 8, 30, 59, 61, 100, 500, 1e4, 1e6} {
			m := s.absent(mb*granules, 0, 1, d).missing()
			if m < last-1e-9 || m > 1 {
				t.Fatalf("%v MB: %.3f of accesses miss, after %.3f", mb, m, last)
			}
			whole := d
			whole.EffectiveBytes = d.L2Bytes
			if w := s.absent(mb*granules, 0, 1, whole).missing(); w > m+1e-9 {
				t.Fatalf("%v MB: %.3f miss in one piece, %.3f in halves", mb, w, m)
			}
			last = m
		}
		if last < 0.99 {
			t.Fatalf("%.3f of accesses to a terabyte miss", last)
		}
	})
}

func TestBroadcast(t *testing.T) {
	grid := [3]int{1000, 1, 1}
	p := visit(grid, func(_, _ int, touch func(uint64, uint8)) { touch(5, 0xf) }).Plan(device(grid))
	if !p.Broadcast[0] || p.Footprint != 128 {
		t.Errorf("plan %+v", p)
	}
}

// The previous launch's data is there as far as the cache reaches, and more
// data never makes more of it stay.
func TestKeptFallsWithFootprint(t *testing.T) {
	last := 1.0
	for n := 1; n <= 80; n++ {
		grid := [3]int{n * 64, 1, 1}
		d := device(grid)
		d.Cold = false
		p := visit(grid, func(x, _ int, touch func(uint64, uint8)) {
			for k := range uint64(128) {
				touch(uint64(x)*128+k, 0xf)
			}
		}).Plan(d)
		if p.Kept > last {
			t.Fatalf("%d MB: kept %.2f after %.2f", n, p.Kept, last)
		}
		last = p.Kept
		if n <= 30 && p.Kept != 1 || n >= 55 && p.Kept != 0 {
			t.Errorf("%d MB: kept %.2f", n, p.Kept)
		}
	}
}

func TestReadAndWriteInPlaceIsOneFootprint(t *testing.T) {
	s := New(2, 64, 512)
	for k, d := range []Direction{Base, X, X} {
		s.Begin(d)
		for i := range uint64(8) {
			s.Touch(0, uint64(k)*8+i, 0xf, false)
			s.Touch(1, uint64(k)*8+i, 0xf, true)
		}
	}
	for _, ctas := range []int{100, 1 << 20} {
		p := s.Plan(device([3]int{ctas, 1, 1}))
		want := float64(ctas) * 8 * 128
		if math.Abs(p.Footprint-want) > 1 || p.ReadBytes != want {
			t.Errorf("%d CTAs: footprint %.0f read %.0f, want %.0f each", ctas, p.Footprint, p.ReadBytes, want)
		}
		if ctas == 100 && p.WriteBytes != 0 {
			t.Errorf("%.0f bytes written back of %.0f", p.WriteBytes, want)
		}
		if ctas > 100 && math.Abs(p.WriteBytes/want-1) > 0.03 {
			t.Errorf("%.0f bytes written back of %.0f", p.WriteBytes, want)
		}
	}
}

// What atomics add to is read and written back.
func TestAtomicsReadAndWrite(t *testing.T) {
	const ctas = 1 << 20
	s := New(1, 64, 512)
	for k, d := range []Direction{Base, X, X} {
		s.Begin(d)
		for i := range uint64(8) {
			s.Update(0, uint64(k)*8+i, 0xf)
		}
	}
	p := s.Plan(device([3]int{ctas, 1, 1}))
	want := ctas * 8 * 128.0
	if p.Footprint != want || p.ReadBytes != want || math.Abs(p.WriteBytes/want-1) > 0.03 || p.Write[0] < 0.97 {
		t.Errorf("footprint %.0f read %.0f written %.0f (%.2f a granule), want %.0f each", p.Footprint, p.ReadBytes, p.WriteBytes, p.Write[0], want)
	}
}

// A row that is read twice in two loops displaces itself if all CTAs' rows do not fit L1 and
// not all of it is recorded; one whose parts are read twice, each in an iteration, does not.
func TestDisplacing(t *testing.T) {
	for _, tt := range []struct {
		stands int64
		ctas   float64
		apart  bool
		want   bool
	}{{1, 8, true, false}, {1, 64, true, false}, {20, 8, true, false}, {20, 64, true, true}, {20, 64, false, false}} {
		s := New(1, 64, 512)
		s.Begin(Base)
		for range 2 {
			s.StandFor(0, tt.stands)
			for i := range uint64(4) {
				s.Touch(0, i, 0xf, false)
			}
			if tt.apart {
				s.StandFor(0, 1)
			}
		}
		d := device([3]int{4096, 1, 1})
		d.CTAsPerSM, d.L1Lines = tt.ctas, 2048
		if got := s.Plan(d).Displacing; got != tt.want {
			t.Errorf("%+v: displacing %v", tt, got)
		}
	}
}

// What the warps of a CTA touch twice in an iteration lies as near in all those that it stands
// for: L2 has it, however many these are.
func TestTouchedTwiceInAnIteration(t *testing.T) {
	for _, stands := range []int64{1, 60, 1e6} {
		s := New(1, 64, 512)
		s.Begin(Base)
		for range 2 {
			for warp := range 4 {
				s.StandFor(warp, stands)
				for i := range uint64(32) {
					s.Touch(0, uint64(warp)*32+i, 0xf, false)
				}
			}
		}
		d := device([3]int{4096, 1, 1})
		d.Resident, d.CTAsPerSM, d.L1Lines = 528, 4, 256
		if p := s.Plan(d); p.ReadAgain[0] != 0 {
			t.Errorf("an iteration that stands for %d: %.2f of what is read again is lost", stands, p.ReadAgain[0])
		}
	}
}

func BenchmarkTouch(b *testing.B) {
	s := New(1, 64, 512)
	s.Begin(Base)
	line := uint64(0)
	for b.Loop() {
		s.Touch(0, line&0xffff, 0xf, false)
		line++
	}
}

// CTAs that walk along rows of 3 KB, some bytes of each at a time, take what an H100 takes (deploy/calibrate walks): its
// rate for parts of 64 bytes over that for more, by rows and CTAs.
func TestWalksAlongRows(t *testing.T) {
	gpu := h200(t)
	for _, c := range []struct {
		rows, part int
		resident   float64
		want       float64
	}{
		{256, 64, 264, 0.72}, {256, 64, 528, 0.75}, {256, 64, 132, 0.86}, {128, 64, 264, 0.89}, {64, 64, 528, 0.92},
		{256, 128, 264, 1}, {64, 256, 264, 1},
	} {
		grid := [3]int{1056, 1, 1}
		d := device(grid)
		d.Resident = c.resident
		p := visit(grid, func(x, _ int, touch func(uint64, uint8)) {
			for at := 0; at < 3072; at += c.part {
				for row := range c.rows {
					from := (x*c.rows+row)*3072 + at
					for line := from / 128; line <= (from+c.part-1)/128; line++ {
						touch(uint64(line), uint8(0xf>>(4-min(c.part, 128)/32))<<(from%128/32))
					}
				}
			}
		}).Plan(d)
		// as cost.Machine has it
		got := 1 / (1 + gpu.DRAMOpening*64/float64(gpu.DRAMPieceBytes)*(1/p.RowSegmentShare-1))
		if math.Abs(got-c.want) > 0.04 {
			t.Errorf("%d bytes of each of %d rows, %g CTAs: %.2f of the rate, want %.2f", c.part, c.rows, c.resident, got, c.want)
		}
	}
}
