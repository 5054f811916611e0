package footprint

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// tiled surveys a launch whose CTAs read tiles of two buffers, which ones by their number, as ProbeAll does.
func tiled(ctas int64, tiles func(id int64) [2]int64) *Survey {
	const lines, apart = 8, 1 << 20
	s := New(2, 32, 512)
	read := func(id int64, f func(pc int32, line uint64)) {
		for pc, tile := range tiles(id) {
			for k := range uint64(lines) {
				f(int32(pc), uint64(pc)*apart+uint64(tile)*lines+k)
			}
		}
	}
	base := ctas / 2
	survey := func(id int64, d Direction) {
		s.Begin(d)
		read(id, func(pc int32, line uint64) { s.Touch(pc, line, 0xf, false) })
	}
	probe := func(id int64, n int) {
		read(id, func(pc int32, line uint64) {
			s.probe(&trace.Access{PC: pc}, []trace.Line{{Addr: line, Sectors: 0xf}}, n)
		})
	}
	survey(base, Base)
	s.probed = make([]timing.Probed, 2)
	s.probeMore = func(distance int64) bool {
		for pc := range s.probed {
			s.probed[pc].Read[oneMore], s.probed[pc].Found[oneMore] = 0, 0
		}
		probe(base+distance, oneMore)
		return true
	}
	for n := range probeFar {
		if id := base + 2<<n; id < ctas {
			probe(id, n)
		}
	}
	for n := range int64(2) {
		probe((base+(n+1)*ctas/3+5)%ctas, probeFar+int(n))
	}
	survey(base+1, X)
	return s
}

// Tiles of a product of 32 by 32 are read from DRAM again where the CTAs in between touch more than L2 holds: the
// columns once for each group of rows, and once for each wave where waves lose them. What no CTA comes back to is read
// once, and so is all in one wave.
func TestTilesReadAgain(t *testing.T) {
	const n, tile = 32, 1024.0
	grouped := func(rows int64) func(int64) [2]int64 {
		return func(id int64) [2]int64 {
			g := id / (rows * n)
			return [2]int64{g*rows + id%rows, id % (rows * n) / rows}
		}
	}
	for _, c := range []struct {
		name           string
		resident, room float64 // CTAs, tiles of L2
		tiles          func(int64) [2]int64
		want           float64 // tiles
	}{
		{"groups of 8 rows", 64, 30, grouped(8), n + 4*n},
		{"they fit", 64, 60, grouped(8), n + n},
		{"row by row", 64, 50, grouped(1), n + n},
		{"row by row, too much in a wave", 64, 26, grouped(1), n + 16*n},
		{"one wave", n * n, 8, grouped(8), n + n},
		{"rows of 32 CTAs", 64, 30, func(id int64) [2]int64 { return [2]int64{id / n, id / n} }, n + n},
		{"rows of 40 CTAs, begun before", 64, 26, func(id int64) [2]int64 { return [2]int64{id / 40, id / 40} }, n + n},
	} {
		s := tiled(n*n, c.tiles)
		buffer := func(pc uint64) timing.Extent { return timing.Extent{First: pc << 20, Last: pc<<20 + 8*n - 1} }
		p := s.Plan(Device{
			Grid: [3]int{n * n, 1, 1}, L2Bytes: int(2 * c.room * tile), EffectiveBytes: int(c.room * tile), Kept: 0.54, KeptUntil: 0.89, Cold: true,
			Extents: []timing.Extent{buffer(0), buffer(1)}, Copies: []bool{true, true}, Resident: c.resident, CTAsPerSM: 1, L1Lines: 1,
		})
		if got := p.ReadBytes / tile; math.Abs(got/c.want-1) > 0.02 {
			t.Errorf("%s: %.1f tiles from DRAM, want %.1f", c.name, got, c.want)
		}
	}
}

// CTAs of a run share a tile next to each other, others with gaps between them; each has its own where nobody else reads
// it, and where those of a run read it one after the other.
func TestSharersByTurn(t *testing.T) {
	const wave, ctas = 132.0, 1024.0
	d := Device{Resident: wave, CTAsPerSM: 1}
	for _, c := range []struct {
		name        string
		turns       turns
		readers     float64
		ctas, apart float64
	}{
		{"each its own", turns{run: 1, gap: ctas, span: ctas}, 1, 1, 1},
		{"runs of 8", turns{run: 8, gap: ctas, span: ctas, inStep: true}, 64, 8, 1},
		{"runs longer than a wave", turns{run: 256, gap: ctas, span: ctas, inStep: true}, 256, wave, 1},
		{"runs out of step", turns{run: 8, gap: ctas, span: ctas}, 64, 1, 1},
		{"gaps of 4", turns{run: 1, gap: 4, span: wave, inStep: true}, 64, 33, 4},
		{"gaps of 4, few readers", turns{run: 1, gap: 4, span: wave, inStep: true}, 8, 8, 4},
		{"gaps wider than a wave", turns{run: 1, gap: 256, span: ctas, inStep: true}, 4, 1, 256},
	} {
		s := c.turns.sharers(&d, wave, c.readers, ctas)
		if s.CTAs != c.ctas || s.Apart != c.apart || s.Waves != ctas/wave || s.PerSM != 1 || !s.Copied {
			t.Errorf("%s: %+v, want %g CTAs %g apart", c.name, s, c.ctas, c.apart)
		}
	}
}

// A sixteenth of the CTAs, in a row, take as much of L2 as the tiles that they read: 8 rows and 8 columns of 32.
func TestTakenByTurns(t *testing.T) {
	const n = 32
	s := tiled(n*n, func(id int64) [2]int64 { return [2]int64{id/256*8 + id%8, id % 256 / 8} })
	buffer := func(pc uint64) timing.Extent { return timing.Extent{First: pc << 20, Last: pc<<20 + 8*n - 1} }
	d := Device{Grid: [3]int{n * n, 1, 1}, L2Bytes: mega, EffectiveBytes: mega / 2, Extents: []timing.Extent{buffer(0), buffer(1)}, Resident: 64, CTAsPerSM: 1}
	groups := s.groups()
	reach := s.reach(groups, d)
	for i := range groups[:2] {
		s.estimate(&groups[i], d, n*n, reach)
	}
	s.spreadOut(groups, d, n*n)
	for i := range groups[:2] {
		s.confine(&groups[i], d, n*n)
	}
	s.inTurns(groups, 0, &d, n*n)
	taken := s.taken(groups, d, reach)
	if got := taken(1.0/16) / taken(1); math.Abs(got-0.25) > 0.01 {
		t.Errorf("a sixteenth of the CTAs take %.3f of what all do, want a quarter", got)
	}
}
