package footprint

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/timing"
)

// readTogether surveys CTAs of deploy/calibrate counted.cu: shared of them, distance
// apart, read the same lines, all of each or the sector that is theirs. As a grid of
// rows of distance CTAs those that share stand above each other.
func readTogether(t *testing.T, sectors, shared, distance int) *Plan {
	d := h200(t)
	const regions, lines = 16384, 32
	grid := [3]int{distance, regions * shared / distance, 1}
	step := [2]int{0, 1} // to a CTA that shares
	if distance == 1 {
		grid, step = [3]int{regions * shared, 1, 1}, [2]int{1, 0}
	}
	s := New(1, d.DRAMGranule, d.DRAMPieceBytes)
	cta := func(dir Direction, x, y int) {
		s.Begin(dir)
		part := (x*step[0] + y*step[1]) % shared
		region := (x*step[0]+y*step[1])/shared*distance + x*step[1]
		mask := uint8(0xf)
		if sectors == 1 {
			mask = 1 << part
		}
		for k := range lines {
			s.Request(k/4, 1+k%4)
			s.Touch(0, uint64(region*lines+k), mask, false)
		}
	}
	x, y := grid[0]/2&^3, grid[1]/2&^3
	cta(Base, x, y)
	for k := 1; k <= timing.MostNeighbours && x+k < grid[0]; k++ {
		cta(X, x+k, y)
	}
	for k := 1; k <= timing.MostNeighbours && y+k < grid[1]; k++ {
		cta(Y, x, y+k)
	}
	return s.Plan(Device{
		Grid: grid, L2Bytes: d.L2Bytes, EffectiveBytes: d.L2EffectiveBytes, Kept: d.L2Kept, KeptUntil: d.L2KeptUntil, Cold: true,
	})
}

// What crosses between the halves of L2, and what is found there, comes out as an
// H200 counts it for CTAs that share what they read, next to each other or far apart.
func TestLookupsAgainstH200(t *testing.T) {
	bytes := measured.Of(t, "counted.together.dram_read")
	crossed := measured.Of(t, "counted.together.l2_crossed")
	hits := measured.Of(t, "counted.together.l2_hits")
	checked := 0
	for i, r := range bytes {
		sectors, shared, distance := r.Int("sectors"), r.Int("shared"), r.Int("distance")
		if 8%shared != 0 || shared > timing.MostNeighbours || distance == 16384 {
			continue // the CTAs surveyed show no whole set of sharers; the last reads all again
		}
		checked++
		p := readTogether(t, sectors, shared, distance)
		fetched := p.ColdReadBytes / 32
		asked := float64(16384 * 32 * shared * sectors)
		l := p.Lookups(asked, 0, 0)
		far, found := (l.Reads-asked)/fetched, l.ReadHits/fetched
		// Requests of full lines by CTAs next to each other become one before L2: only
		// what reads parts shows there what is found.
		t.Logf("%d sectors, %d CTAs %4d apart: %.3f crosses, measured %.3f; %.3f found, measured %.3f", sectors, shared, distance,
			far, crossed[i].Value/r.Value*32, found, hits[i].Value/r.Value*32)
		if math.Abs(fetched*32/r.Value-1) > 0.05 {
			t.Errorf("%.0f bytes from DRAM, measured %.0f", fetched*32, r.Value)
		}
		if math.Abs(far-crossed[i].Value/r.Value*32) > 0.06 {
			t.Errorf("%.3f of what is read crosses, measured %.3f", far, crossed[i].Value/r.Value*32)
		}
		if (sectors == 1 || distance == 1024) && math.Abs(found-hits[i].Value/r.Value*32) > 0.05*float64(shared) {
			t.Errorf("%.3f of what is read found again, measured %.3f", found, hits[i].Value/r.Value*32)
		}
	}
	if checked < 12 {
		t.Errorf("%d measurements compared", checked)
	}
}

// What CTAs in a row read crosses as often as an H200 counts it (the comment of sameSideInARow), and all the less the
// fewer of their requests are looked up. What one reads alone does as often as not.
func TestBothSides(t *testing.T) {
	for n, crossed := range map[float64]float64{2: 0.593, 3: 0.664, 4: 0.727, 8: 0.872} {
		row := turns{run: n, gap: 1024, span: 1024}
		if got := (1 + row.bothSides(n, 1)) / 2; math.Abs(got-crossed) > 0.01 {
			t.Errorf("%g CTAs in a row: %.3f crosses, measured %.3f", n, got, crossed)
		}
		apart := turns{run: 1, gap: 16, span: 1024}
		all, some := apart.bothSides(n, 1), apart.bothSides(n, 0.5)
		if want := 1 - math.Pow(0.5, n-1); math.Abs(all-want) > 0.01 || some >= all {
			t.Errorf("%g CTAs 16 apart: both sides read %.3f, want %.3f; with half of the requests %.3f", n, all, want, some)
		}
		if again := row.bothSides(2*n, 1); again <= row.bothSides(n, 1) {
			t.Errorf("two rows of %g CTAs: both sides read %.3f, of one row %.3f", n, again, row.bothSides(n, 1))
		}
	}
	if got := (turns{run: 1, gap: 1024, span: 1024}).bothSides(1, 1); got != 0 {
		t.Errorf("both sides read %.3f of what one CTA reads", got)
	}
}

// Atomics bring lines to L2 and count among no reads there.
func TestAddsAreNoReads(t *testing.T) {
	d := h200(t)
	for _, adds := range []bool{false, true} {
		s := New(1, d.DRAMGranule, d.DRAMPieceBytes)
		for cta, dir := range []Direction{Base, X} {
			s.Begin(dir)
			s.Request(0, 1)
			for line := range 32 {
				s.Touch(0, uint64(cta*32+line), 0xf, false)
			}
		}
		p := s.Plan(Device{Grid: [3]int{1024, 1, 1}, L2Bytes: d.L2Bytes, EffectiveBytes: d.L2EffectiveBytes, Kept: d.L2Kept, KeptUntil: d.L2KeptUntil, Cold: true, Updates: []bool{adds}})
		if crossed := p.Lookups(0, 0, 0).Reads; p.ColdReadBytes != 1024*32*128 || adds != (crossed == 0) {
			t.Errorf("adds %v: %.0f bytes from DRAM, %.0f sectors of reads cross", adds, p.ColdReadBytes, crossed)
		}
	}
}
