package sampling

import (
	"testing"
)

// Of 8, 16, 32, 64 and 128 CTAs drawn as many lie in each 8th, 16th and so on of each
// axis of a grid, and none outside: rows at an edge come in as often as they are.
func TestDrawnEvenly(t *testing.T) {
	for _, grid := range [][3]int{{128, 1, 1}, {128, 128, 1}, {128, 128, 128}, {256, 128, 384}, {1, 3200, 640}} {
		for _, count := range []int{8, 16, 32, 64, Points} {
			for axis := range 3 {
				if grid[axis] == 1 {
					continue
				}
				var seen [Points]int
				for k := range count {
					at, id := [3]int{}, CTA(k, grid)
					for i, n := range grid {
						at[i], id = int(id%int64(n)), id/int64(n)
					}
					if id != 0 {
						t.Fatalf("grid %v: the CTA drawn %dth is outside", grid, k)
					}
					seen[at[axis]*count/grid[axis]]++
				}
				for part, n := range seen[:count] {
					if n != 1 {
						t.Errorf("grid %v: of %d CTAs %d lie in part %d of axis %d", grid, count, n, part, axis)
					}
				}
			}
		}
	}
}
