package reuse

// entry is one granule: the last CTA that read and wrote it (1-based, 0 none),
// the first instruction that did, and the first request that read it.
type entry struct {
	key           uint64 // granule + 1, 0 empty
	read, written int16
	reader        int32
	writer        int32
	first         request
}

// request is twice the sectors of a granule that a request reads, the mean over
// those that may be the first, its warp in the CTA, modulo, and how many requests
// the warp made before.
type request struct {
	order       uint16
	twice, warp uint8
}

// table is an open-addressing hash table from granule to entry.
type table struct {
	entries []entry
	n       int
}

func newTable() table { return table{entries: make([]entry, 1<<8)} }

// entry finds or makes the entry of a granule. The pointer is good until the
// next call.
func (t *table) entry(granule uint64) *entry {
	if 2*t.n >= len(t.entries) {
		t.grow()
	}
	e := t.slot(granule + 1)
	if e.key == 0 {
		e.key = granule + 1
		t.n++
	}
	return e
}

func (t *table) slot(key uint64) *entry {
	mask := uint64(len(t.entries) - 1)
	// Neighbouring granules go to neighbouring slots: a CTA's footprint is
	// mostly runs, and runs then share cache lines of the table.
	i := (key + (key>>14)*0x9e3779b97f4a7c15>>20) & mask
	for {
		e := &t.entries[i]
		if e.key == key || e.key == 0 {
			return e
		}
		i = (i + 1) & mask
	}
}

func (t *table) grow() {
	old := t.entries
	t.entries = make([]entry, 4*len(old))
	for i := range old {
		if old[i].key != 0 {
			*t.slot(old[i].key) = old[i]
		}
	}
}
