package footprint

// entry is what is known of one granule: the CTA that read and wrote it last (1-based, 0 none),
// the instruction that did so first, and the first request that read it.
type entry struct {
	key           uint64 // granule + 1, 0 empty
	read, written int16
	reader        int32
	writer        int32
	first         request
}

// request is a request that reads a granule: how many its warp made before, twice the sectors
// it reads (a mean, where several may be the first), and its warp, modulo 256.
type request struct {
	order       uint16
	twice, warp uint8
}

// granuleTable is an open-addressing hash table from granule to entry.
type granuleTable struct {
	entries []entry // 1 << bits
	bits    int
	n       int
}

func newGranuleTable() granuleTable { return granuleTable{entries: make([]entry, 1<<8), bits: 8} }

// entry finds or makes the entry of a granule. The pointer is good until the
// next call.
func (t *granuleTable) entry(granule uint64) *entry {
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

// together is the logarithm of how many consecutive granules share neighbouring slots. A CTA's
// footprint is mostly runs, which then share cache lines of the table. With more, runs that
// collide would be passed over from end to end.
const together = 3

// home is the slot of a key that collides with none. step is how far on the next one to try is:
// in a neighbouring run, at another place of it.
func (t *granuleTable) home(key uint64) uint64 {
	hash := (key >> together) * 0x9e3779b97f4a7c15 // 2^64 over the golden ratio (Knuth, TAOCP 3, 6.4)
	// Where in its run a granule is goes by the run, too: of a stride's granules all may
	// be first ones.
	return hash>>(64-t.bits+together)<<together | (key+hash>>32)&(1<<together-1)
}

const step = 1<<together + 1

func (t *granuleTable) slot(key uint64) *entry {
	mask := uint64(len(t.entries) - 1)
	for i := t.home(key); ; i = (i + step) & mask {
		if e := &t.entries[i]; e.key == key || e.key == 0 {
			return e
		}
	}
}

func (t *granuleTable) grow() {
	old := t.entries
	t.bits += 2
	t.entries = make([]entry, 1<<t.bits)
	for i := range old {
		if old[i].key != 0 {
			*t.slot(old[i].key) = old[i]
		}
	}
}
