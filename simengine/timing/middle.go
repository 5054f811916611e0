package timing

// MostNeighbours is how many neighbours of the first CTA are traced along x at most: four
// consecutive ones show what fraction of a shared sector or line each adds. Along y and z it is
// half of that.
const MostNeighbours = 4

// Middle is the CTA in the middle of a grid, away from edges, that stands for it.
func Middle(grid [3]int) int64 {
	nx, ny, nz := int64(grid[0]), int64(grid[1]), int64(grid[2])
	return (MiddleAlong(nz)*ny+MiddleAlong(ny))*nx + MiddleAlong(nx)
}

// MiddleAlong is the middle one of n CTAs along an axis, at a multiple of four, so that
// neighbours that share a line are seen from its start.
func MiddleAlong(n int64) int64 { return max(min(n/2&^3, n-1-MostNeighbours), 0) }
