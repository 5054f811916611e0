package footprint

import "math"

// profilerBytes is what a profiler that takes several passes has of its own in L2, not written back, when it starts
// the kernel. DRAM takes 2.2 to 2.4 MB of kernels that read 268 MB and store 16 to 65 KB (deploy/calibrate
// counted.once.dram_written).
const profilerBytes = 2.2e6

// profiledWrites is the bytes that DRAM takes of a launch under a profiler that takes several
// passes. Before each pass it restores what the kernel changes: it reads that from a copy and
// writes it, which leaves it dirty in L2. L2 replaces what was used least recently, and never
// keeps more than dirtyWhole of itself dirty.
//
// The sum is what of the restored data is evicted before the kernel stores it again (pushed),
// what the kernel stores, less what of that is still dirty in L2 at its end, and the profiler's
// own bytes. It goes through the launch in steps. taken(share) is the room in L2, both halves counted, of what CTAs
// that are such a share of the grid read one after another. Stored data takes room in both halves half of the time.
// What a kernel stores although the same value is there already is not restored: restored is the bytes of what is
// written that are. (Of 16.8 MB stored again as they were, with 34, 67, 134 and 268 MB read, DRAM takes 4.5, 9.7,
// 13.4 and 16.2 MB: deploy/calibrate counted.same.dram_written.)
func (d *Device) profiledWrites(taken func(share float64) float64, written, restored, ctas float64, inOrder bool) float64 {
	size, room := float64(d.L2Bytes), 1.0
	if d.partitioned() {
		room = 1.5
	}
	restore := 2 * room * restored
	passing := func(share float64) float64 { return taken(share) + room*written*share }
	most := dirtyWhole * size
	ahead := math.Min(d.Resident/math.Max(ctas, 1), 1) / 2 // a CTA stores when half of those beside it have read
	dirty := math.Min(most/math.Max(restored, 1), 1)
	pushed, evicted := 0.0, 0.0 // of what is restored, before it is stored again; of what is stored, until the end
	const steps = 32
	for k := range steps {
		at := (float64(k) + 0.5) / steps
		waiting := 1 - dirty*at // of the last that was restored
		left := size - (1-waiting)*restore
		if inOrder {
			if passing(math.Min(waiting+ahead, 1)) > left {
				pushed += 1.0 / steps
			}
		} else {
			pushed += math.Min(math.Max(1-left/math.Max(passing(1), 1), 0), 1) / steps
		}
		if passing(math.Max(1-at-ahead, 0)) > size {
			evicted += 1.0 / steps
		}
	}
	after := math.Min(written*(1-evicted), most)
	own := math.Min(profilerBytes, most-restored*dirty)
	own = math.Min(math.Max(restore+passing(1)-size, 0), own)
	return own + restored*dirty*pushed + written - after
}

// Moved is what DRAM reads and writes for a launch, bytes, without what CTAs fetch again and
// local memory: of a launch between others of its kind or, cold, of one by itself under a
// profiler.
func (p *Plan) Moved(cold bool) (read, written float64) {
	read, written = p.ReadBytes, p.WriteBytes
	if cold {
		read, written = p.ColdReadBytes, p.ColdWriteBytes
	}
	return read + written*p.WriteBack.Read, written * p.WriteBack.Written
}

// taken returns the room in L2, bytes, of what CTAs in a row read that are a share of the grid.
func (s *Survey) taken(groups []group, d Device, reach [numDirections]float64) func(share float64) float64 {
	type read struct {
		perCTA, all float64 // bytes of L2
		fresh       [3]float64
		within      func(ctas float64) float64
	}
	var reads []read
	for i := range len(groups) / 2 {
		g := &groups[i]
		if g.low > g.high || g.perCTA == 0 {
			continue
		}
		bytes := g.room(d) * float64(s.granule)
		r := read{perCTA: g.perCTA * bytes, all: g.unique * bytes, within: g.within}
		for k := range r.fresh {
			r.fresh[k] = s.newShare(g, X+Direction(k), reach[X+Direction(k)], d)
		}
		reads = append(reads, r)
	}
	ctas := float64(d.Grid[0]) * float64(d.Grid[1]) * float64(d.Grid[2])
	return func(share float64) (bytes float64) {
		for i := range reads {
			r, n := &reads[i], share*ctas
			if r.within != nil {
				bytes += r.all * r.within(n)
				continue
			}
			part := r.perCTA * math.Min(n, 1)
			for k, size := range d.Grid {
				part *= 1 + math.Max(math.Min(n, float64(size))-1, 0)*r.fresh[k]
				n /= float64(size)
			}
			bytes += math.Min(part, r.all)
		}
		return bytes
	}
}

// room is how many granules of L2 a granule takes that a group reads: one more in the near half
// if it is at home in the far one.
func (g *group) room(d Device) float64 {
	if !d.partitioned() {
		return 1
	}
	return (3 + g.both) / 2
}

// storesInOrder reports whether CTAs that start one after the other store one after the other:
// the neighbour along x is nearer to the first CTA than that along y.
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
