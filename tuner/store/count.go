package store

import (
	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner/store/seal"
)

// bbolt does not notice when a damaged page says that it holds fewer entries
// than it does, or when a damaged pointer leads to an older page: what is
// missing then was never there. So buckets whose loss would be a loss keep the
// number of their keys as their sequence, which stands in another page.

// putCounted puts a value and counts its key if it is new.
func putCounted(b *bolt.Bucket, key, value []byte) error {
	if b.Get(key) == nil {
		if err := count(b, 1); err != nil {
			return err
		}
	}
	return b.Put(key, value)
}

// deleteCounted deletes a key that is there.
func deleteCounted(b *bolt.Bucket, key []byte) error {
	if err := count(b, -1); err != nil {
		return err
	}
	return b.Delete(key)
}

// count notes that a bucket has n keys more.
func count(b *bolt.Bucket, n int64) error {
	if n == 0 {
		return nil
	}
	return b.SetSequence(b.Sequence() + uint64(n))
}

// subBucket returns a bucket in a bucket, made and counted if it is new.
func subBucket(parent *bolt.Bucket, key []byte) (*bolt.Bucket, error) {
	if b := parent.Bucket(key); b != nil {
		return b, nil
	}
	if err := count(parent, 1); err != nil {
		return nil, err
	}
	return parent.CreateBucket(key)
}

// deleteSubBucket deletes a bucket in a bucket, if it is there.
func deleteSubBucket(parent *bolt.Bucket, key []byte) error {
	if parent.Bucket(key) == nil {
		return nil
	}
	if err := count(parent, -1); err != nil {
		return err
	}
	return parent.DeleteBucket(key)
}

// keys returns how many keys, or buckets, a bucket has.
func keys(b *bolt.Bucket) uint64 {
	n := uint64(0)
	_ = b.ForEach(func(_, _ []byte) error { n++; return nil })
	return n
}

// verifyCounted compares the keys of a bucket with what was counted.
func verifyCounted(b *bolt.Bucket, name []byte) error {
	if has, want := keys(b), b.Sequence(); has != want {
		return seal.Damaged("%s: %d entries are there, %d were stored", name, has, want)
	}
	return nil
}

// eachCounted calls f for every bucket that is counted.
func eachCounted(tx *bolt.Tx, f func(b *bolt.Bucket, name []byte) error) error {
	for _, name := range [][]byte{sweepsBucket, bestBucket, bundlesBucket, auditBucket} {
		if tx.Bucket(name) == nil { // of a schema of before
			continue
		}
		if err := f(tx.Bucket(name), name); err != nil {
			return err
		}
	}
	for _, name := range ownedBuckets {
		parent := tx.Bucket(name)
		if err := f(parent, name); err != nil {
			return err
		}
		if err := parent.ForEachBucket(func(k []byte) error { return f(parent.Bucket(k), name) }); err != nil {
			return err
		}
	}
	return nil
}
