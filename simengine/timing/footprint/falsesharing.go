package footprint

// falseSharing counts reads of lines of which other requests read, and store, other parts:
// rows that are updated in place and do not begin with a line, each part by a warp of its
// own. Where warps read on after they have stored, one comes to its part while another
// stores to the other.
type falseSharing struct {
	stored  [256]bool // warps of the CTA that have stored, by index, modulo
	reads   []int64   // first reads, by pc
	shared  []int64   // of them, those after the warp has stored, of lines that others read of
	inPlace []bool    // by pc: what it reads is stored, too
}

func newFalseSharing(pcs int) falseSharing {
	return falseSharing{reads: make([]int64, pcs), shared: make([]int64, pcs), inPlace: make([]bool, pcs)}
}

// read counts a first read, shared one of a part of a line of which another part was read
// before: it counts for both. Only CTAs beside each other tell.
func (f *falseSharing) read(s *Survey, id int32, shared bool) {
	if s.dir > X {
		return
	}
	f.reads[id] += s.now.stands
	if shared {
		f.shared[id] += 2 * s.now.stands
	}
}

// store records that what was read of a granule is stored in place.
func (f *falseSharing) store(e *entry) {
	if e.read != 0 {
		f.inPlace[e.reader] = true
	}
}

// share is the part of an instruction's first reads that are of lines others update.
func (f *falseSharing) share(pc int) float64 {
	if !f.inPlace[pc] || f.reads[pc] == 0 {
		return 0
	}
	return min(float64(f.shared[pc])/float64(f.reads[pc]), 1)
}
