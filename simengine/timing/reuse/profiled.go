package reuse

import "math"

// profilerBytes is what a profiler that takes several passes has of its own in L2,
// not written back, when it starts the kernel: DRAM takes 2.2 to 2.4 MB of kernels
// that read 268 MB and store 16 to 65 KB (deploy/calibrate counted.once.dram_written).
const profilerBytes = 2.2e6

// profiled is what DRAM takes of a launch under a profiler, which restores what the
// kernel writes before each of its passes: reads it from a copy and writes it. L2
// replaces what was used least recently. Taken is the room that the launch's reads
// take there, both halves counted; what is stored takes room in both of them half
// of the time. What the kernel does not store again in time, and what it stores
// itself, is written back as far as what comes after pushes it out; more than
// dirtyWhole of L2 never waits.
func (d *Device) profiled(taken, written, ctas float64, inOrder bool) float64 {
	size, room := float64(d.L2Bytes), 1.0
	if d.halves() {
		room = 1.5
	}
	restore := 2 * room * written
	traffic := taken + room*written
	most := dirtyWhole * size
	ahead := math.Min(d.Resident/math.Max(ctas, 1), 1) // a CTA stores when as many after it have read
	dirty := math.Min(most/math.Max(written, 1), 1)
	pushed := 0.0 // of what is restored, the share that is not stored again in time
	const steps = 64
	for k := range steps {
		x := 1 - dirty*(float64(k)+0.5)/steps // restored from 0 to 1
		left := size - (1-x)*restore          // what may come until it is stored again
		if !inOrder {
			pushed += math.Min(math.Max(1-left/math.Max(traffic, 1), 0), 1) / steps
		} else if math.Min(x+ahead, 1)*traffic > left {
			pushed += 1.0 / steps
		}
	}
	evicted := math.Max(1-size/math.Max(traffic, 1)-ahead, 0) // of what is stored, by what follows
	after := math.Min(written*(1-evicted), most)
	own := math.Min(math.Max(restore+traffic-size, 0), profilerBytes)
	return own + written*dirty*pushed + written - after
}

// storesInOrder says that CTAs one after the other store one after the other: the
// neighbour along x nearer to the first CTA than that along y.
func (s *Survey) storesInOrder() bool {
	base := s.stored[Base]
	apart := func(d Direction) uint64 {
		if s.stored[d] == ^uint64(0) {
			return ^uint64(0)
		}
		return max(s.stored[d], base) - min(s.stored[d], base)
	}
	return apart(X) <= apart(Y)
}
