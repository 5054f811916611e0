package footprint

import "github.com/warptune/warptune/simengine/timing"

// Pick is a CTA to trace, by its linear index, x fastest.
type Pick struct {
	ID  int64
	Dir Direction
}

// Picks chooses the CTAs to trace: one in the middle of the grid and up to steps of its
// neighbours along each axis. Grids of at most steps+1 CTAs are traced whole.
func Picks(grid [3]int, steps int64) []Pick {
	nx, ny, nz := int64(grid[0]), int64(grid[1]), int64(grid[2])
	if total := nx * ny * nz; total <= steps+1 {
		var p []Pick
		for id := range total {
			dir := Base
			switch {
			case id == 0:
			case id < nx:
				dir = X
			case id < nx*ny:
				dir = Y
			default:
				dir = Z
			}
			p = append(p, Pick{id, dir})
		}
		return p
	}
	x, y, z := timing.MiddleAlong(nx), timing.MiddleAlong(ny), timing.MiddleAlong(nz)
	at := func(x, y, z int64) int64 { return (z*ny+y)*nx + x }
	p := []Pick{{at(x, y, z), Base}}
	for k := int64(1); k <= steps && x+k < nx; k++ {
		p = append(p, Pick{at(x+k, y, z), X})
	}
	for k := int64(1); k <= (steps+1)/2 && y+k < ny; k++ {
		p = append(p, Pick{at(x, y+k, z), Y})
	}
	if z+1 < nz {
		p = append(p, Pick{at(x, y, z+1), Z})
	}
	return p
}

// FirstAxis is the first axis along which a grid has CTAs.
func FirstAxis(grid [3]int) int {
	for k, n := range grid {
		if n > 1 {
			return k
		}
	}
	return 0
}

// Ambiguous reports whether CTAs surveyed in a direction touched granules of earlier CTAs and
// may have done so because several CTAs share a granule, each using a part: then more CTAs must
// be surveyed to tell how many. It is so where CTAs write the same granules, since each writes
// bytes of its own, and where they read nothing new by an instruction that reads parts of
// granules (partial, by instruction).
func (s *Survey) Ambiguous(d Direction, partial []bool) bool {
	pcs := len(s.parent) / 2
	for pc := range pcs {
		store := pcs + pc
		if s.fresh[store][d] < s.distinct[store][d] {
			return true
		}
		if partial[pc] && s.fresh[pc][d] == 0 && s.distinct[pc][d] > 0 {
			return true
		}
	}
	return false
}
