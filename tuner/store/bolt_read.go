package store

import (
	"bytes"
	"encoding/binary"
	"io"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// Numbers is in Store.
func (b *Bolt) Numbers() (token, sweep uint64, err error) {
	err = b.view("read store", func(tx *bolt.Tx) error {
		if token, err = state(tx, tokenKey); err != nil {
			return err
		}
		sweep, err = state(tx, sweepKey)
		return err
	})
	return token, sweep, err
}

// Sweeps is in Store.
func (b *Bolt) Sweeps() (all []tuner.Sweep, err error) {
	err = b.records(func(_ []byte, s *tuner.Sweep, err error) error {
		if err == nil {
			all = append(all, *s)
		}
		return err
	})
	return all, err
}

// SalvageSweeps is in Store.
func (b *Bolt) SalvageSweeps() (all []tuner.Sweep, lost []uint64, err error) {
	err = b.records(func(key []byte, s *tuner.Sweep, err error) error {
		switch {
		case err == nil:
			all = append(all, *s)
		case tuner.KindOf(err) != tuner.Damaged || len(key) != 8:
			return err
		default:
			lost = append(lost, binary.BigEndian.Uint64(key))
		}
		return nil
	})
	return all, lost, err
}

// records hands the sweeps' records to take, each with its key and what is wrong with
// it. An error of take ends that.
func (b *Bolt) records(take func(key []byte, s *tuner.Sweep, err error) error) error {
	return b.view("read sweeps", func(tx *bolt.Tx) error {
		return tx.Bucket(sweepsBucket).ForEach(func(k, v []byte) error {
			var s tuner.Sweep
			err := readJSON(sweepsBucket, k, v, &s)
			if err == nil && !bytes.Equal(k, number(s.Num)) {
				err = seal.Damaged("sweeps: number %d stands under key %x", s.Num, k)
			}
			return take(k, &s, err)
		})
	})
}

// Leases is in Store.
func (b *Bolt) Leases(sweep uint64) (all []tuner.LeaseRecord, err error) {
	err = b.view("read leases", func(tx *bolt.Tx) error {
		bucket := tx.Bucket(leasesBucket).Bucket(number(sweep))
		if bucket == nil {
			return nil
		}
		return bucket.ForEach(func(k, v []byte) error {
			all, err = readLeaseRow(all, sweep, k, v)
			return err
		})
	})
	return all, err
}

// Results is in Store.
func (b *Bolt) Results(sweep uint64, seq int64, limit int) (page []tuner.Result, err error) {
	err = b.rows(sweep, seq, limit, func(_ int64, r *tuner.Result, err error) error {
		if err == nil {
			if page == nil {
				page = make([]tuner.Result, 0, min(limit, PageLimit))
			}
			page = append(page, *r)
		}
		return err
	})
	return page, err
}

// Salvage is in Store.
func (b *Bolt) Salvage(sweep uint64, seq int64, limit int) (page []tuner.Result, lost []int64, err error) {
	err = b.rows(sweep, seq, limit, func(seq int64, r *tuner.Result, err error) error {
		switch {
		case err == nil:
			page = append(page, *r)
		case tuner.KindOf(err) != tuner.Damaged:
			return err
		default:
			lost = append(lost, seq)
		}
		return nil
	})
	return page, lost, err
}

// rows hands up to limit rows of a sweep, from trial seq on, to take, each with its
// trial and what is wrong with it. An error of take ends that.
func (b *Bolt) rows(sweep uint64, seq int64, limit int, take func(int64, *tuner.Result, error) error) error {
	limit = min(limit, PageLimit)
	return b.view("read results", func(tx *bolt.Tx) error {
		bucket := tx.Bucket(resultsBucket).Bucket(number(sweep))
		if bucket == nil {
			return nil
		}
		dict, err := b.texts.of(tx, sweep)
		if err != nil {
			return err
		}
		c := bucket.Cursor()
		for k, v := c.Seek(number(uint64(max(seq, 0)))); k != nil && limit > 0; k, v = c.Next() {
			r, err := readResult(tx, sweep, dict, k, v)
			if err := take(int64(binary.BigEndian.Uint64(k)), &r, err); err != nil {
				return err
			}
			limit--
		}
		return nil
	})
}

// readResult reads one sealed row.
func readResult(tx *bolt.Tx, sweep uint64, dict *dictionary, key, sealed []byte) (tuner.Result, error) {
	row, err := seal.Open(resultsBucket, key, sealed)
	if err != nil {
		return tuner.Result{}, err
	}
	seq := int64(binary.BigEndian.Uint64(key))
	r, ok := readRow(row, seq, dict.lookup)
	if !ok { // a text may have come since the dictionary was read
		if err := dict.refresh(tx, sweep); err != nil {
			return tuner.Result{}, err
		}
		if r, ok = readRow(row, seq, dict.lookup); !ok {
			return tuner.Result{}, seal.Damaged("results: the row of key %x does not parse", key)
		}
	}
	return r, nil
}

// Answer is in Store.
func (b *Bolt) Answer(key []byte) (a Answer, found bool, err error) {
	err = b.view("read answer", func(tx *bolt.Tx) (err error) {
		a, found, err = b.pointed(tx, answerIndexKey(key))
		return err
	})
	return a, found, err
}

// Digested is in Store.
func (b *Bolt) Digested(digest string) (a Answer, found bool, err error) {
	err = b.view("read digest", func(tx *bolt.Tx) (err error) {
		a, found, err = b.pointed(tx, digestIndexKey(digest))
		found = found && a.Result.Outcome.Digest == digest
		return err
	})
	return a, found, err
}

// pointed returns the result that the index has under a key; false if there is
// none, or its sweep was deleted.
func (b *Bolt) pointed(tx *bolt.Tx, key indexKey) (a Answer, found bool, err error) {
	at, ok, err := b.index.find(tx, key)
	if err != nil || !ok {
		return a, false, err
	}
	a.Sweep = uint64(at.sweep)
	a.Result, found, err = b.at(tx, a.Sweep, at.seq)
	return a, found, err
}

// at returns a result, false if there is none or the trial was given up.
func (b *Bolt) at(tx *bolt.Tx, sweep uint64, seq int64) (r tuner.Result, found bool, err error) {
	key := number(uint64(seq))
	bucket := tx.Bucket(resultsBucket).Bucket(number(sweep))
	if bucket == nil {
		return r, false, nil
	}
	row := bucket.Get(key)
	if row == nil {
		return r, false, nil
	}
	dict, err := b.texts.of(tx, sweep)
	if err != nil {
		return r, false, err
	}
	r, err = readResult(tx, sweep, dict, key, row)
	return r, err == nil && !r.Abandoned, err
}

// Best is in Store.
func (b *Bolt) Best(kernel, arch string, problem []int64) (best tuner.Best, err error) {
	key := bestKey(kernel, arch, problem)
	err = b.view("read best", func(tx *bolt.Tx) error {
		sealed := tx.Bucket(bestBucket).Get(key)
		if sealed == nil {
			return noBest(kernel, arch, problem)
		}
		return readJSON(bestBucket, key, sealed, &best)
	})
	return best, err
}

// Bests is in Store.
func (b *Bolt) Bests(kernel, arch string) (all []tuner.Best, lost int64, err error) {
	prefix := bestKey(kernel, arch, nil)
	err = b.view("read best", func(tx *bolt.Tx) error {
		c := tx.Bucket(bestBucket).Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			var best tuner.Best
			switch err := readJSON(bestBucket, k, v, &best); {
			case err == nil:
				all = append(all, best)
			case tuner.KindOf(err) != tuner.Damaged:
				return err
			default:
				lost++
			}
		}
		return nil
	})
	return all, lost, err
}

// Bundle is in Store.
func (b *Bolt) Bundle(digest string) (content []byte, err error) {
	if digest == "" {
		return nil, noBundle(digest)
	}
	err = b.view("read bundle", func(tx *bolt.Tx) error {
		sealed := tx.Bucket(bundlesBucket).Get([]byte(digest))
		if sealed == nil {
			return noBundle(digest)
		}
		value, err := seal.Open(bundlesBucket, []byte(digest), sealed)
		content = bytes.Clone(value)
		return err
	})
	return content, err
}

// BundleSizes is in Store.
func (b *Bolt) BundleSizes() (map[string]int64, error) {
	sizes := map[string]int64{}
	err := b.view("measure bundles", func(tx *bolt.Tx) error {
		return tx.Bucket(bundlesBucket).ForEach(func(k, v []byte) error {
			sizes[string(k)] = int64(len(v) - seal.Overhead)
			return nil
		})
	})
	return sizes, err
}

// PutBundle is in Store.
func (b *Bolt) PutBundle(digest string, content []byte, did tuner.Act) (added bool, err error) {
	key := []byte(digest)
	value := seal.Close(bundlesBucket, key, append(append(make([]byte, 0, len(content)+seal.Overhead), seal.Format), content...))
	err = b.write("store bundle", func(tx *bolt.Tx) error {
		bucket := tx.Bucket(bundlesBucket)
		if added = !bytes.Equal(bucket.Get(key), value); !added {
			return nil
		}
		if err := putCounted(bucket, key, value); err != nil {
			return err
		}
		return b.log.put(tx, []tuner.Act{did})
	})
	return added && err == nil, err
}

// Backup is in Store.
func (b *Bolt) Backup(w io.Writer) error {
	return b.view("back up store", func(tx *bolt.Tx) error {
		_, err := tx.WriteTo(w)
		return err
	})
}

// Usage is what a file takes, in bytes.
type Usage struct {
	Used int64 // by data
	Free int64 // for data to come, within the file
}

// Usage returns what the file takes.
func (b *Bolt) Usage() (u Usage, err error) {
	err = b.view("measure store", func(tx *bolt.Tx) error {
		stats, page := b.db.Stats(), int64(b.db.Info().PageSize)
		u.Free = int64(stats.FreePageN+stats.PendingPageN) * page
		u.Used = tx.Size() - u.Free
		return nil
	})
	return u, err
}
