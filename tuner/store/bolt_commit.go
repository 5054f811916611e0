package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/boltfile"
	"github.com/warptune/warptune/tuner/store/seal"
)

// Commit is in Store.
func (b *Bolt) Commit(c *tuner.Changes) error {
	if err := b.write("store changes", func(tx *bolt.Tx) error { return b.apply(tx, c) }); err != nil {
		return err
	}
	if b.stored.Add(int64(len(c.Results))) >= releaseEvery {
		b.stored.Store(0)
		boltfile.Release(b.db)
	}
	return nil
}

// releaseEvery is after how many results the mapped pages are let go: about 4
// MB of them.
const releaseEvery = 20_000

// apply makes the changes, in their order.
func (b *Bolt) apply(tx *bolt.Tx, c *tuner.Changes) error {
	for _, num := range c.Revoked {
		if err := deleteSubBucket(tx.Bucket(leasesBucket), number(num)); err != nil {
			return err
		}
	}
	last := uint64(0)
	for i := range c.Sweeps {
		s := &c.Sweeps[i]
		last = max(last, s.Num)
		if err := putJSON(tx.Bucket(sweepsBucket), sweepsBucket, number(s.Num), s); err != nil {
			return err
		}
	}
	if err := putLeases(tx, c); err != nil {
		return err
	}
	if err := b.putResults(tx, c.Results); err != nil {
		return err
	}
	for _, num := range c.Void {
		if err := replaceBests(tx, num); err != nil {
			return err
		}
	}
	for i := range c.Bests {
		if err := putBest(tx, &c.Bests[i]); err != nil {
			return err
		}
	}
	if err := b.log.put(tx, c.Acts); err != nil {
		return err
	}
	if err := raise(tx, sweepKey, last); err != nil {
		return err
	}
	return raise(tx, tokenKey, c.Token)
}

// putResults stores results, in the order of their keys.
func (b *Bolt) putResults(tx *bolt.Tx, changes []tuner.ResultChange) error {
	sorted := make([]*tuner.ResultChange, len(changes))
	for i := range changes {
		sorted[i] = &changes[i]
	}
	slices.SortStableFunc(sorted, func(a, b *tuner.ResultChange) int {
		return cmp.Or(cmp.Compare(a.Sweep, b.Sweep), cmp.Compare(a.Result.Seq, b.Result.Seq))
	})
	w := resultWriter{entries: make([]entry, 0, 2*len(changes)), arena: make([]byte, 0, len(changes)*usualRow)}
	for _, c := range sorted {
		if w.results == nil || w.num != c.Sweep {
			if err := w.turn(b, tx, c.Sweep); err != nil {
				return err
			}
		}
		if err := w.put(tx, c); err != nil {
			return err
		}
	}
	if err := w.count(); err != nil {
		return err
	}
	return b.index.add(tx, w.entries)
}

// resultWriter writes results of one sweep after another.
type resultWriter struct {
	num     uint64
	results *bolt.Bucket
	added   int64  // rows of results not counted yet
	last    []byte // the greatest key of results
	dict    *dictionary
	entries []entry // of the index, of all sweeps
	// texts are the last row's, by their order: those of the next are mostly the
	// same. None is empty.
	texts [16]numbered
	arena []byte // rows stand in it one after another: bbolt keeps them until the commit
}

// numbered is a text and its number in the dictionary.
type numbered struct {
	text string
	id   uint64
}

// usualRow is how long a row is with its key, in bytes, if nothing of it is unusual.
const usualRow = 200

// room returns an empty slice that most rows fit in.
func (w *resultWriter) room() []byte {
	if cap(w.arena)-len(w.arena) < 1<<10 {
		w.arena = make([]byte, 0, 64<<10)
	}
	return w.arena[len(w.arena):]
}

// took notes that a row stands where room said, unless it did not fit.
func (w *resultWriter) took(row []byte) {
	if len(w.arena)+len(row) <= cap(w.arena) {
		w.arena = w.arena[:len(w.arena)+len(row)]
	}
}

// count counts the rows added of the sweep it is at.
func (w *resultWriter) count() error {
	if w.results == nil {
		return nil
	}
	added := w.added
	w.added = 0
	return count(w.results, added)
}

// turn turns to another sweep.
func (w *resultWriter) turn(b *Bolt, tx *bolt.Tx, num uint64) (err error) {
	if err := w.count(); err != nil {
		return err
	}
	w.num, w.texts = num, [16]numbered{}
	if w.results, err = subBucket(tx.Bucket(resultsBucket), number(num)); err != nil {
		return err
	}
	w.results.FillPercent = appendFill
	k, _ := w.results.Cursor().Last()
	w.last = bytes.Clone(k)
	w.dict, err = b.texts.of(tx, num)
	return err
}

func (w *resultWriter) put(tx *bolt.Tx, c *tuner.ResultChange) error {
	var failed error
	nth := 0
	intern := func(s string) (uint64, bool) {
		last := &w.texts[nth%len(w.texts)]
		if nth++; last.text == s {
			return last.id, true
		}
		id, ok, err := w.dict.intern(tx, w.num, s)
		if err != nil {
			failed = err
		} else if ok {
			last.id, last.text = id, s
		}
		return id, ok
	}
	r := &c.Result
	key := binary.BigEndian.AppendUint64(w.room(), uint64(r.Seq))
	w.took(key)
	row := seal.Close(resultsBucket, key, appendRow(append(w.room(), seal.Format), r, intern))
	w.took(row)
	if failed != nil {
		return failed
	}
	if bytes.Compare(key, w.last) > 0 {
		w.added++
		w.last = key
	} else if w.results.Get(key) == nil {
		w.added++
	}
	if err := w.results.Put(key, row); err != nil {
		return err
	}
	if c.Answer == nil {
		return nil
	}
	if w.num > math.MaxUint32 || uint64(r.Seq) >= 1<<48 {
		return tuner.Errorf(tuner.Limit, "store result", "trial %d of sweep %d is beyond what the index can name", r.Seq, w.num)
	}
	at := place{sweep: uint32(w.num), seq: r.Seq}
	w.entries = append(w.entries, entry{answerIndexKey(c.Answer), at})
	if r.Outcome.Digest != "" {
		w.entries = append(w.entries, entry{digestIndexKey(r.Outcome.Digest), at})
	}
	return nil
}

// putBest stores what stands of b, what is stored and, if those are of different
// scopes, what sweeps' records say.
func putBest(tx *bolt.Tx, b *tuner.Best) error {
	bucket, key := tx.Bucket(bestBucket), bestKey(b.Spec.Kernel, b.Spec.Arch, b.Spec.Problem)
	if sealed := bucket.Get(key); sealed != nil {
		var old tuner.Best
		if err := readJSON(bestBucket, key, sealed, &old); err != nil {
			return err
		}
		all := []tuner.Best{old, *b}
		if old.Spec.Scope() != b.Spec.Scope() {
			others, err := bestsOf(tx, map[string]bool{string(key): true})
			if err != nil {
				return err
			}
			all = append(all, others[string(key)]...)
		}
		stands := tuner.Stands(all)
		if stands.Sweep == old.Sweep && stands.Result.Seq == old.Result.Seq && stands.Confirmed == old.Confirmed && stands.Independent == old.Independent {
			return nil
		}
		b = &stands
	}
	return putJSON(bucket, bestBucket, key, b)
}

// bestsOf returns what sweeps' records say of the bests of some keys.
func bestsOf(tx *bolt.Tx, keys map[string]bool) (map[string][]tuner.Best, error) {
	found := map[string][]tuner.Best{}
	err := tx.Bucket(sweepsBucket).ForEach(func(k, v []byte) error {
		var s tuner.Sweep
		if err := readJSON(sweepsBucket, k, v, &s); err != nil {
			return err
		}
		key := string(bestKey(s.Spec.Kernel, s.Spec.Arch, s.Spec.Problem))
		if best, ok := tuner.BestOf(&s); ok && keys[key] {
			found[key] = append(found[key], best)
		}
		return nil
	})
	return found, err
}

func putJSON(bucket *bolt.Bucket, name, key []byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return putCounted(bucket, key, seal.Close(name, key, append([]byte{seal.Format}, text...)))
}

func readJSON(name, key, sealed []byte, v any) error {
	text, err := seal.Open(name, key, sealed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return seal.Damaged("%s: the value of key %x: %v", name, key, err)
	}
	return nil
}

// raise stores n under a key of state if it is greater than what is there.
func raise(tx *bolt.Tx, key []byte, n uint64) error {
	old, err := state(tx, key)
	if err != nil || n <= old {
		return err
	}
	return tx.Bucket(stateBucket).Put(key, seal.Close(stateBucket, key, append([]byte{seal.Format}, number(n)...)))
}

// state returns the number under a key of state, 0 if there is none.
func state(tx *bolt.Tx, key []byte) (uint64, error) {
	sealed := tx.Bucket(stateBucket).Get(key)
	if sealed == nil {
		return 0, nil
	}
	b, err := seal.Open(stateBucket, key, sealed)
	if err != nil {
		return 0, err
	}
	if len(b) != 8 {
		return 0, seal.Damaged("state: %s is no number", key)
	}
	return binary.BigEndian.Uint64(b), nil
}
