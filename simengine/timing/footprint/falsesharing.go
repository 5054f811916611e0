package footprint

// falseSharing counts reads of lines of which other warps read, and store, other parts: rows
// that are updated in place and do not begin with a line, a part by each warp. Warps read on
// after they have stored, so that one comes to its part while another stores to the other.
type falseSharing struct {
	stored  [256]bool // warps of the CTA that have stored, by index, modulo
	reads   []int64   // first reads, by pc
	shared  []int64   // of them, those after the warp has stored, of lines that others read of
	inPlace []bool    // by pc: what it reads is stored, too
}

func newFalseSharing(pcs int) falseSharing {
	return falseSharing{reads: make([]int64, pcs), shared: make([]int64, pcs), inPlace: make([]bool, pcs)}
}

// read counts a first read. shared reports whether another part of the line was read before:
// then it counts for both warps. Only the first CTA and its neighbours along x are counted.
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

// share is the part of an instruction's first reads that are of lines to which other warps
// store.
func (f *falseSharing) share(pc int) float64 {
	if !f.inPlace[pc] || f.reads[pc] == 0 {
		return 0
	}
	return min(float64(f.shared[pc])/float64(f.reads[pc]), 1)
}
