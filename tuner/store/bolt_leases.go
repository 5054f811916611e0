package store

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// putLeases stores leases and removes those of trials that have results.
// Trials are granted and reported in batches, so leases stand in rows of many
// trials, each under the key of its first, which come and go as a whole.
func putLeases(tx *bolt.Tx, c *tuner.Changes) error {
	edits := map[uint64]*leaseEdit{}
	var e *leaseEdit
	of := func(sweep uint64) *leaseEdit {
		if e != nil && e.sweep == sweep {
			return e
		}
		if e = edits[sweep]; e == nil {
			e = &leaseEdit{sweep: sweep}
			edits[sweep] = e
		}
		return e
	}
	for i := range c.Leases {
		e := of(c.Leases[i].Sweep)
		e.put = append(e.put, &c.Leases[i])
	}
	for i := range c.Results {
		r := &c.Results[i]
		e := of(r.Sweep)
		e.ended = append(e.ended, r.Result.Seq)
	}
	for _, num := range slices.Sorted(maps.Keys(edits)) {
		if err := edits[num].apply(tx); err != nil {
			return err
		}
	}
	return nil
}

// leaseEdit is what changes in the leases of one sweep.
type leaseEdit struct {
	sweep uint64
	put   []*tuner.LeaseRecord // of several of one trial the last stands
	ended []int64              // trials
}

// stay returns the leases that are put and stay, and all trials that change,
// both in the order of trials.
func (e *leaseEdit) stay() (stay []*tuner.LeaseRecord, changed []int64) {
	slices.Sort(e.ended)
	slices.SortStableFunc(e.put, func(a, b *tuner.LeaseRecord) int { return cmp.Compare(a.Seq, b.Seq) })
	stay, changed = e.put[:0], make([]int64, 0, len(e.put)+len(e.ended))
	ended := e.ended
	for i, l := range e.put {
		for len(ended) > 0 && ended[0] < l.Seq {
			changed = append(changed, ended[0])
			ended = ended[1:]
		}
		if i+1 < len(e.put) && e.put[i+1].Seq == l.Seq || len(ended) > 0 && ended[0] == l.Seq {
			continue
		}
		changed, stay = append(changed, l.Seq), append(stay, l)
	}
	return stay, append(changed, ended...)
}

func (e *leaseEdit) apply(tx *bolt.Tx) (err error) {
	stay, changed := e.stay()
	parent := tx.Bucket(leasesBucket)
	bucket := parent.Bucket(number(e.sweep))
	if bucket == nil {
		if len(stay) == 0 {
			return nil
		}
		if bucket, err = subBucket(parent, number(e.sweep)); err != nil {
			return err
		}
	}
	removed, kept, err := takeOut(bucket, e.sweep, changed)
	if err != nil {
		return err
	}
	if len(kept) > 0 {
		for i := range kept {
			stay = append(stay, &kept[i])
		}
		slices.SortFunc(stay, func(a, b *tuner.LeaseRecord) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	added := int64(0)
	for len(stay) > 0 {
		n := runLength(stay)
		key := number(uint64(stay[0].Seq))
		if err := bucket.Put(key, seal.Close(leasesBucket, key, appendLeases([]byte{seal.Format}, stay[:n]))); err != nil {
			return err
		}
		stay = stay[n:]
		added++
	}
	return count(bucket, added-removed)
}

// runLength returns how many leases from the first on fit in one row.
func runLength(leases []*tuner.LeaseRecord) int {
	next := *leases[0]
	for i, l := range leases[1:] {
		next.Seq, next.Token, next.Index = next.Seq+1, next.Token+1, l.Index
		if *l != next {
			return i + 1
		}
	}
	return len(leases)
}

// takeOut removes the rows that have any of the trials given, in order, and
// returns how many rows those were and their leases of other trials.
func takeOut(bucket *bolt.Bucket, sweep uint64, trials []int64) (rows int64, others []tuner.LeaseRecord, err error) {
	// Found first and deleted then: a cursor of bbolt that goes back where
	// deletions have emptied pages misses keys, or never returns.
	keys, others, err := rowsOf(bucket, sweep, trials)
	if err != nil {
		return 0, nil, err
	}
	for _, k := range keys {
		if err := bucket.Delete(k); err != nil {
			return 0, nil, err
		}
	}
	return int64(len(keys)), others, nil
}

// rowsOf returns the keys of the rows that have any of the trials given, and
// those rows' leases of other trials.
func rowsOf(bucket *bolt.Bucket, sweep uint64, trials []int64) (keys [][]byte, others []tuner.LeaseRecord, err error) {
	c := bucket.Cursor()
	var run []tuner.LeaseRecord
	for len(trials) > 0 {
		at := number(uint64(trials[0]))
		k, v := c.Seek(at)
		next := k
		if !bytes.Equal(k, at) { // the row before may reach this far
			if k == nil {
				k, v = c.Last()
			} else {
				k, v = c.Prev()
			}
		}
		if run, err = readLeaseRow(run[:0], sweep, k, v); err != nil {
			return nil, nil, err
		}
		if len(run) == 0 || run[len(run)-1].Seq < trials[0] { // it does not
			if next == nil {
				return keys, others, nil
			}
			if bytes.Compare(next, at) <= 0 || len(next) != len(at) {
				return nil, nil, seal.Damaged("leases: key %x is out of place", next)
			}
			trials = from(trials, int64(keyNumber(next)))
			continue
		}
		for i := range run {
			trials = from(trials, run[i].Seq)
			if len(trials) == 0 || trials[0] != run[i].Seq {
				others = append(others, run[i])
			}
		}
		trials = from(trials, run[len(run)-1].Seq+1)
		keys = append(keys, bytes.Clone(k))
	}
	return keys, others, nil
}

// from returns what of trials, which are in order, is not before seq.
func from(trials []int64, seq int64) []int64 {
	for len(trials) > 0 && trials[0] < seq {
		trials = trials[1:]
	}
	return trials
}

// readLeaseRow appends the leases of a row to all; none when there is no key.
func readLeaseRow(all []tuner.LeaseRecord, sweep uint64, key, sealed []byte) ([]tuner.LeaseRecord, error) {
	if key == nil {
		return all, nil
	}
	row, err := seal.Open(leasesBucket, key, sealed)
	if err != nil {
		return nil, err
	}
	all, ok := readLeases(all, row, sweep, int64(keyNumber(key)))
	if !ok {
		return nil, seal.Damaged("leases: the row of key %x does not parse", key)
	}
	return all, nil
}
