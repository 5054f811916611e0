package store

import (
	"bytes"
	"encoding/binary"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// filter is a Bloom filter of the keys of a run, with 10 bits and 5 probes for each key. One in a hundred keys that
// are not in the run seems to be (Kirsch and Mitzenmacher, "Less hashing, same performance", 2006).
type filter []byte

const (
	filterBits   = 10
	filterProbes = 5
)

func newFilter(keys int) filter { return make(filter, (keys*filterBits+7)/8+1) }

// probe calls f with the byte and the bit of each probe of a key until it
// answers false. Keys are hashes already.
func (f filter) probe(key indexKey, visit func(at uint64, bit byte) bool) bool {
	h, step := binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:])|1
	for range filterProbes {
		at := h % uint64(len(f)*8)
		if !visit(at/8, 1<<(at%8)) {
			return false
		}
		h += step
	}
	return true
}

func (f filter) add(key indexKey) {
	f.probe(key, func(at uint64, bit byte) bool { f[at] |= bit; return true })
}

// has reports whether the key may have been added.
func (f filter) has(key indexKey) bool {
	return len(f) > 0 && f.probe(key, func(at uint64, bit byte) bool { return f[at]&bit != 0 })
}

// runReader reads the entries of a run in order.
type runReader struct {
	cursor *bolt.Cursor
	run    []byte
	rest   []byte // of the chunk
	head   uint64 // the first bytes of rest, as a number
}

func newRunReader(chunks *bolt.Bucket, run []byte) (*runReader, error) {
	r := &runReader{cursor: chunks.Cursor(), run: run}
	return r, r.chunk(r.cursor.Seek(run))
}

func (r *runReader) chunk(k, v []byte) (err error) {
	r.rest = nil
	if bytes.HasPrefix(k, r.run) {
		r.rest, err = unsealEntries(chunksBucket, k, v)
	}
	r.look()
	return err
}

func (r *runReader) look() {
	if len(r.rest) > 0 {
		r.head = binary.BigEndian.Uint64(r.rest)
	}
}

// before reports whether the entry r is at has a smaller key than the one s is
// at, which has the same if neither is before the other.
func (r *runReader) before(s *runReader) bool {
	if r.head != s.head {
		return r.head < s.head
	}
	return bytes.Compare(r.rest[8:16], s.rest[8:16]) < 0
}

// next goes on to the next entry; rest is empty at the end.
func (r *runReader) next() error {
	if r.rest = r.rest[entrySize:]; len(r.rest) > 0 {
		r.look()
		return nil
	}
	return r.chunk(r.cursor.Next())
}

// mergeLocked makes one run of the next level of all runs of a level, if there
// are enough of them. Of entries with the same key the newest stays, and none
// of deleted sweeps does.
func (x *index) mergeLocked(root *bolt.Bucket, level byte) (merged bool, err error) {
	var keys [][]byte // newest first
	// Forwards: a cursor of bbolt that goes back where deletions in the same
	// transaction have emptied pages misses keys.
	c := root.Bucket(runsBucket).Cursor()
	for k, _ := c.Seek([]byte{level}); k != nil && k[0] == level; k, _ = c.Next() {
		keys = append(keys, bytes.Clone(k))
	}
	if len(keys) < runFanout {
		return false, nil
	}
	slices.Reverse(keys)
	chunks := root.Bucket(chunksBucket)
	var readers []*runReader
	for _, k := range keys {
		r, err := newRunReader(chunks, k[1:])
		if err != nil {
			return false, err
		}
		readers = append(readers, r)
	}
	sorted, err := mergeRuns(make([]byte, 0, len(keys)*flushEntries*entrySize), readers, known(root.Tx()))
	if err != nil {
		return false, err
	}
	for _, k := range keys {
		if err := removeRun(root, k); err != nil {
			return false, err
		}
		delete(x.filters, binary.BigEndian.Uint64(k[1:]))
	}
	return true, x.newRunLocked(root, level+1, sorted)
}

// known returns a function that says whether a sweep is stored.
func known(tx *bolt.Tx) func(sweep uint32) bool {
	seen := map[uint32]bool{}
	return func(sweep uint32) bool {
		is, ok := seen[sweep]
		if !ok {
			is = tx.Bucket(sweepsBucket).Get(number(uint64(sweep))) != nil
			seen[sweep] = is
		}
		return is
	}
}

// mergeRuns appends the entries of all readers, newest first, in order, of
// which keep says that they stay.
func mergeRuns(sorted []byte, readers []*runReader, keep func(sweep uint32) bool) ([]byte, error) {
	var last []byte // the key looked at last
	for {
		var least *runReader
		for _, r := range readers {
			if len(r.rest) > 0 && (least == nil || r.before(least)) {
				least = r
			}
		}
		if least == nil {
			return sorted, nil
		}
		e := least.rest[:entrySize]
		if key := e[:len(indexKey{})]; !bytes.Equal(key, last) {
			if keep(readPlace(e).sweep) {
				sorted = append(sorted, e...)
			}
			last = append(last[:0], key...)
		}
		if err := least.next(); err != nil {
			return nil, err
		}
	}
}

// removeRun removes a run with its chunks.
func removeRun(root *bolt.Bucket, key []byte) error {
	chunks := root.Bucket(chunksBucket)
	var gone [][]byte
	c := chunks.Cursor()
	for k, _ := c.Seek(key[1:]); bytes.HasPrefix(k, key[1:]); k, _ = c.Next() {
		gone = append(gone, bytes.Clone(k))
	}
	for _, k := range gone {
		if err := chunks.Delete(k); err != nil {
			return err
		}
	}
	return root.Bucket(runsBucket).Delete(key)
}
