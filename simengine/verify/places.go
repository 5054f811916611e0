package verify

import "math/bits"

// Corners returns the CTAs at the corners of a grid, each once, ascending: at most 8, as linear
// indices with x fastest. There grids run past the ends of buffers.
func Corners(grid [3]int) []int64 {
	var ids []int64
	for corner := range 8 {
		id, step, twice := int64(0), int64(1), false
		for axis, n := range grid {
			if corner>>axis&1 == 1 {
				twice = twice || n == 1
				id += int64(n-1) * step
			}
			step *= int64(n)
		}
		if !twice {
			ids = append(ids, id)
		}
	}
	return ids
}

// Place returns the CTA of a grid at the k-th of a sequence of random positions, which the seed
// gives. A position is a fraction of each axis, the same for every grid: in grids of other shapes
// over the same data it is at the same data.
func Place(seed uint64, k int, grid [3]int) int64 {
	id, step := int64(0), int64(1)
	for axis, n := range grid {
		at, _ := bits.Mul64(mix(seed, uint64(3*k+axis)), uint64(n)) // floor(n times a share below 1)
		id += int64(at) * step
		step *= int64(n)
	}
	return id
}

// mix is splitmix64's output for counter i of a stream (Steele, Lea and Flood, OOPSLA 2014).
func mix(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
