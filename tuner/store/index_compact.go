package store

import (
	"bytes"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"
)

// Entries of sweeps that are deleted go when runs are merged. Runs of the top level are
// not merged: they are looked through one by one once a sweep was removed, and written
// again, without such entries, when those are half of them. So the index takes at most
// twice what it must.

// Compact is in Store.
func (b *Bolt) Compact() (more bool, err error) {
	var key []byte
	all, gone := 0, 0
	err = b.view("look through index", func(tx *bolt.Tx) error {
		root := tx.Bucket(indexBucket)
		if root == nil || root.Bucket(runsBucket) == nil {
			return nil
		}
		k, _ := root.Bucket(runsBucket).Cursor().Seek(append([]byte{topLevel}, number(b.compact)...))
		if k == nil || k[0] != topLevel {
			return nil
		}
		key = bytes.Clone(k)
		return eachOfRun(root, key, known(tx), func(_ []byte, known bool) {
			all++
			if !known {
				gone++
			}
		})
	})
	if key == nil || err != nil {
		b.compact = 0
		return false, err
	}
	b.compact = binary.BigEndian.Uint64(key[1:]) + 1
	if 2*gone < all {
		return true, nil
	}
	return true, b.write("compact index", func(tx *bolt.Tx) error {
		return b.index.rewrite(tx, key)
	})
}

// eachOfRun calls f with each entry of a run, and whether its sweep is known.
func eachOfRun(root *bolt.Bucket, key []byte, known func(uint32) bool, f func(e []byte, known bool)) error {
	r, err := newRunReader(root.Bucket(chunksBucket), key[1:])
	for ; err == nil && len(r.rest) > 0; err = r.next() {
		e := r.rest[:entrySize]
		f(e, known(readPlace(e).sweep))
	}
	return err
}

// rewrite writes a run again without the entries of sweeps that are not stored. It keeps
// its number, which says how new it is.
func (x *index) rewrite(tx *bolt.Tx, key []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.loadLocked(tx); err != nil {
		return err
	}
	root := tx.Bucket(indexBucket)
	var left []byte
	err := eachOfRun(root, key, known(tx), func(e []byte, known bool) {
		if known {
			left = append(left, e...)
		}
	})
	if err != nil {
		return err
	}
	if err := removeRun(root, key); err != nil {
		return err
	}
	run := binary.BigEndian.Uint64(key[1:])
	delete(x.filters, run)
	if len(left) == 0 {
		return nil
	}
	return x.writeRunLocked(root, key[0], run, left)
}
