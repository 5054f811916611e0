package footprint

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

// together is the logarithm of how many neighbouring granules have slots beside each
// other: a CTA's footprint is mostly runs, which so share cache lines of the table. More,
// and runs that meet in the table would be passed over from end to end.
const together = 3

// home is the slot of a key where no other is in the way, and step how far on the next
// that it may be in is: in a neighbouring run, at another place of it.
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
