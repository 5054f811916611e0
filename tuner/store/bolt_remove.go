package store

import (
	"errors"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
)

// Remove is in Store. Results go from the end, so that what is left of a sweep
// half removed is its beginning.
func (b *Bolt) Remove(sweep uint64, limit int) (more bool, err error) {
	err = b.update("remove sweep", func(tx *bolt.Tx) error {
		if more, err = removeResults(tx, sweep, limit); more || err != nil {
			return err
		}
		for _, name := range ownedBuckets {
			if err := deleteSubBucket(tx.Bucket(name), number(sweep)); err != nil {
				return err
			}
		}
		if sweeps := tx.Bucket(sweepsBucket); sweeps.Get(number(sweep)) != nil {
			if err := deleteCounted(sweeps, number(sweep)); err != nil {
				return err
			}
		}
		return replaceBests(tx, sweep)
	})
	if !more {
		b.texts.drop(sweep)
	}
	return more, err
}

// DropBundles is in Store.
func (b *Bolt) DropBundles(named map[string]bool) error {
	return b.update("remove bundles", func(tx *bolt.Tx) error {
		bundles := tx.Bucket(bundlesBucket)
		var unused [][]byte
		err := bundles.ForEach(func(k, _ []byte) error {
			if !named[string(k)] {
				unused = append(unused, append([]byte(nil), k...))
			}
			return nil
		})
		for _, k := range unused {
			err = errors.Join(err, deleteCounted(bundles, k))
		}
		return err
	})
}

func removeResults(tx *bolt.Tx, sweep uint64, limit int) (more bool, err error) {
	results := tx.Bucket(resultsBucket).Bucket(number(sweep))
	if results == nil {
		return false, nil
	}
	var keys [][]byte
	c := results.Cursor()
	for k, _ := c.Last(); k != nil && len(keys) <= limit; k, _ = c.Prev() {
		keys = append(keys, k)
	}
	if len(keys) <= limit {
		return false, nil // the bucket goes as a whole
	}
	for _, k := range keys[:limit] {
		if err := deleteCounted(results, k); err != nil {
			return false, err
		}
	}
	return true, nil
}

// replaceBests puts what other sweeps found in place of what a removed one did.
func replaceBests(tx *bolt.Tx, sweep uint64) error {
	bucket := tx.Bucket(bestBucket)
	gone := map[string]bool{}
	err := bucket.ForEach(func(k, v []byte) error {
		var best tuner.Best
		if err := readJSON(bestBucket, k, v, &best); err != nil {
			return err
		}
		if best.Sweep == sweep {
			gone[string(k)] = true
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	left, err := bestsOf(tx, gone)
	if err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(gone)) {
		if err := deleteCounted(bucket, []byte(k)); err != nil {
			return err
		}
		if all := left[k]; len(all) > 0 {
			best := tuner.Stands(all)
			if err := putJSON(bucket, bestBucket, []byte(k), &best); err != nil {
				return err
			}
		}
	}
	return nil
}
