package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner/store/seal"
)

// The index finds results by what was asked: by tuner.AnswerKey and by Outcome.Digest. Its keys are hashes, so a B+
// tree would have to rewrite a page for every entry. Instead entries are appended to a log with each commit. When
// there are enough of them they are sorted into a run, and when there are enough runs of one level they are merged
// into one of the next (a log-structured merge tree). A filter for each run says which need not be looked into.
//
//	index/
//	|-- log/<number>            -> entries of one commit, sealed
//	|-- runs/<level><run>       -> the run's filter, sealed
//	|-- chunks/<run><first key> -> entries in the order of keys, sealed
//
// An entry is its key (16 bytes), the sweep (4) and the trial (6), big-endian.
const (
	entrySize    = 16 + 4 + 6
	chunkEntries = 512  // of a run's chunk
	flushEntries = 8192 // of the log, before they become a run
	runFanout    = 16   // runs of one level before they are merged
	topLevel     = 1    // its runs, of some 130,000 entries, are not merged: merging holds them in memory
)

var (
	logBucket    = []byte("log")
	runsBucket   = []byte("runs")
	chunksBucket = []byte("chunks")
)

// indexKey is what an entry is found by: the start of a SHA-256.
type indexKey [16]byte

func answerIndexKey(key []byte) indexKey { return hashed('a', key) }

func digestIndexKey(digest string) indexKey { return hashed('d', []byte(digest)) }

func hashed(kind byte, text []byte) indexKey {
	var buf [128]byte
	sum := sha256.Sum256(append(append(buf[:0], kind), text...))
	return indexKey(sum[:16])
}

// place is where a result is.
type place struct {
	sweep uint32
	seq   int64 // below 2^48
}

// entry is one entry of the index.
type entry struct {
	key indexKey
	place
}

func (e *entry) append(b []byte) []byte {
	b = append(b, e.key[:]...)
	b = binary.BigEndian.AppendUint32(b, e.sweep)
	b = binary.BigEndian.AppendUint16(b, uint16(e.seq>>32))
	return binary.BigEndian.AppendUint32(b, uint32(e.seq))
}

func readPlace(b []byte) place {
	seq := int64(binary.BigEndian.Uint16(b[20:]))<<32 | int64(binary.BigEndian.Uint32(b[22:]))
	return place{sweep: binary.BigEndian.Uint32(b[16:]), seq: seq}
}

// index is what is kept of it in memory: the log, and the filters of runs. It
// is dropped when a commit fails. It is safe for concurrent use.
type index struct {
	mu      sync.Mutex
	loaded  bool
	log     map[indexKey]place
	flushed map[indexKey]place // the log before it last became a run, for readers who do not see that run yet
	filters map[uint64]filter  // by run
	nextLog uint64
	nextRun uint64
}

// drop forgets what is in memory; it is read again.
func (x *index) drop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loaded, x.log, x.flushed, x.filters = false, nil, nil, nil
}

// loadLocked reads the log.
func (x *index) loadLocked(tx *bolt.Tx) error {
	if x.loaded {
		return nil
	}
	x.log, x.flushed, x.filters = map[indexKey]place{}, nil, map[uint64]filter{}
	x.nextLog, x.nextRun = 0, 0
	if root := tx.Bucket(indexBucket); root != nil {
		err := root.Bucket(logBucket).ForEach(func(k, v []byte) error {
			entries, err := unsealEntries(logBucket, k, v)
			for ; len(entries) > 0; entries = entries[entrySize:] {
				x.log[indexKey(entries)] = readPlace(entries)
			}
			x.nextLog = binary.BigEndian.Uint64(k) + 1
			return err
		})
		if err != nil {
			return err
		}
		_ = root.Bucket(runsBucket).ForEach(func(k, _ []byte) error {
			x.nextRun = max(x.nextRun, binary.BigEndian.Uint64(k[1:])+1)
			return nil
		})
	}
	x.loaded = true
	return nil
}

func unsealEntries(bucket, key, sealed []byte) ([]byte, error) {
	entries, err := seal.Open(bucket, key, sealed)
	if err == nil && len(entries)%entrySize != 0 {
		return nil, seal.Damaged("index: %s %x has %d bytes", bucket, key, len(entries))
	}
	return entries, err
}

// find returns where the newest result under a key is.
func (x *index) find(tx *bolt.Tx, key indexKey) (place, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.loadLocked(tx); err != nil {
		return place{}, false, err
	}
	if p, ok := x.log[key]; ok {
		return p, true, nil
	}
	if p, ok := x.flushed[key]; ok {
		return p, true, nil
	}
	root := tx.Bucket(indexBucket)
	if root == nil {
		return place{}, false, nil
	}
	var found place
	var ok bool
	chunks := root.Bucket(chunksBucket)
	err := newestFirst(root.Bucket(runsBucket), func(k, v []byte) (more bool, err error) {
		f, err := x.filterLocked(k, v)
		if err == nil && f.has(key) {
			found, ok, err = findInRun(chunks, k[1:], key)
		}
		return !ok, err
	})
	return found, ok, err
}

// newestFirst calls f for each run until it says that no more are wanted.
func newestFirst(runs *bolt.Bucket, f func(k, v []byte) (more bool, err error)) error {
	c := runs.Cursor()
	for level := byte(0); level <= topLevel; level++ {
		var k, v []byte
		if above, _ := c.Seek([]byte{level + 1}); above == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
		for ; k != nil && k[0] == level; k, v = c.Prev() {
			if len(k) != 9 {
				return seal.Damaged("index: a run has the key %x", k)
			}
			if more, err := f(k, v); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

func (x *index) filterLocked(k, sealed []byte) (filter, error) {
	run := binary.BigEndian.Uint64(k[1:])
	if f, ok := x.filters[run]; ok {
		return f, nil
	}
	value, err := seal.Open(runsBucket, k, sealed)
	if err != nil {
		return nil, err
	}
	x.filters[run] = bytes.Clone(value)
	return x.filters[run], nil
}

// findInRun looks for a key in the one chunk of a run that can have it.
func findInRun(chunks *bolt.Bucket, run []byte, key indexKey) (place, bool, error) {
	c := chunks.Cursor()
	at := append(slices.Clone(run), key[:]...)
	k, v := c.Seek(at)
	if !bytes.Equal(k, at) {
		if k == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
	}
	if !bytes.HasPrefix(k, run) {
		return place{}, false, nil
	}
	entries, err := unsealEntries(chunksBucket, k, v)
	if err != nil {
		return place{}, false, err
	}
	low, high := 0, len(entries)/entrySize
	for low < high {
		mid := (low + high) / 2
		e := entries[mid*entrySize:]
		switch bytes.Compare(e[:len(key)], key[:]) {
		case 0:
			return readPlace(e), true, nil
		case -1:
			low = mid + 1
		default:
			high = mid
		}
	}
	return place{}, false, nil
}

// add stores entries, in a transaction that writes.
func (x *index) add(tx *bolt.Tx, entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.loadLocked(tx); err != nil {
		return err
	}
	root, err := indexRoot(tx)
	if err != nil {
		return err
	}
	value := append(make([]byte, 0, seal.Overhead+len(entries)*entrySize), seal.Format)
	for i := range entries {
		x.log[entries[i].key] = entries[i].place
		value = entries[i].append(value)
	}
	key := number(x.nextLog)
	x.nextLog++
	if err := root.Bucket(logBucket).Put(key, seal.Close(logBucket, key, value)); err != nil {
		return err
	}
	if len(x.log) < flushEntries {
		return nil
	}
	return x.flushLocked(root)
}

// indexRoot returns the index' bucket, made if a program before wrote the file.
func indexRoot(tx *bolt.Tx) (*bolt.Bucket, error) {
	root, err := tx.CreateBucketIfNotExists(indexBucket)
	if err != nil {
		return nil, err
	}
	for _, name := range [][]byte{logBucket, runsBucket, chunksBucket} {
		if root.Bucket(name) != nil {
			continue
		}
		if _, err := root.CreateBucket(name); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// flushLocked makes a run of the log.
func (x *index) flushLocked(root *bolt.Bucket) error {
	all := make([]entry, 0, len(x.log))
	for key, p := range x.log {
		all = append(all, entry{key, p})
	}
	slices.SortFunc(all, func(a, b entry) int {
		if x, y := binary.BigEndian.Uint64(a.key[:]), binary.BigEndian.Uint64(b.key[:]); x != y {
			return cmp.Compare(x, y)
		}
		return bytes.Compare(a.key[8:], b.key[8:])
	})
	sorted := make([]byte, 0, len(all)*entrySize)
	for i := range all {
		sorted = all[i].append(sorted)
	}
	if err := x.newRunLocked(root, 0, sorted); err != nil {
		return err
	}
	if err := root.DeleteBucket(logBucket); err != nil {
		return err
	}
	if _, err := root.CreateBucket(logBucket); err != nil {
		return err
	}
	x.flushed, x.log = x.log, make(map[indexKey]place, flushEntries)
	for level := byte(0); level < topLevel; level++ {
		if more, err := x.mergeLocked(root, level); err != nil || !more {
			return err
		}
	}
	return nil
}

// newRunLocked stores entries in the order of their keys as a new run.
func (x *index) newRunLocked(root *bolt.Bucket, level byte, sorted []byte) error {
	x.nextRun++
	return x.writeRunLocked(root, level, x.nextRun-1, sorted)
}

func (x *index) writeRunLocked(root *bolt.Bucket, level byte, num uint64, sorted []byte) error {
	run := number(num)
	f := newFilter(len(sorted) / entrySize)
	chunks := root.Bucket(chunksBucket)
	chunks.FillPercent = appendFill
	for rest := sorted; len(rest) > 0; {
		part := rest[:min(len(rest), chunkEntries*entrySize)]
		rest = rest[len(part):]
		key := append(slices.Clone(run), part[:len(indexKey{})]...)
		value := append(append(make([]byte, 0, seal.Overhead+len(part)), seal.Format), part...)
		if err := chunks.Put(key, seal.Close(chunksBucket, key, value)); err != nil {
			return err
		}
		for ; len(part) > 0; part = part[entrySize:] {
			f.add(indexKey(part))
		}
	}
	key := append([]byte{level}, run...)
	value := append(append(make([]byte, 0, seal.Overhead+len(f)), seal.Format), f...)
	x.filters[num] = f
	return root.Bucket(runsBucket).Put(key, seal.Close(runsBucket, key, value))
}
