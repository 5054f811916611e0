package standby

// writes are the newest writes of a primary, for a standby that goes on from where it
// was. The zero value has none.
type writes struct {
	last  uint64   // the number of the last write
	kept  [][]byte // the last ones, the newest last
	bytes int      // of those
}

// Bounds on the writes that are kept, in bytes: of those that the standby has, should
// it have to ask again; and of all, while it receives a copy of the database, say.
const (
	mostAcknowledged = 16 << 20
	mostKept         = 256 << 20
)

// add notes a write; nil: it is not kept, nor is any before it. The standby has those
// up to a number.
func (w *writes) add(write []byte, acked uint64) {
	w.last++
	if write == nil {
		w.kept, w.bytes = nil, 0
		return
	}
	w.kept = append(w.kept, write)
	w.bytes += len(write)
	w.trim(acked)
}

// trim forgets the oldest writes.
func (w *writes) trim(acked uint64) {
	n, first := 0, w.last-uint64(len(w.kept))+1
	for ; w.bytes > mostKept || w.bytes > mostAcknowledged && first+uint64(n) <= acked; n++ {
		w.bytes -= len(w.kept[n])
		w.kept[n] = nil
	}
	w.kept = w.kept[n:]
}

// after returns the writes after one of a number, at most some bytes of them or one;
// false: it is not known any more what those are.
func (w *writes) after(number uint64, most int) (all [][]byte, ok bool) {
	first := w.last - uint64(len(w.kept)) + 1
	if number > w.last || number+1 < first {
		return nil, false
	}
	all = w.kept[number+1-first:]
	for n := range all {
		if most -= len(all[n]); most < 0 && n > 0 {
			return all[:n:n], true
		}
	}
	return all[:len(all):len(all)], true
}
