package store

import (
	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// migration brings the layout from one version to the next.
type migration func(b *Bolt, tx *bolt.Tx) error

// migrations[i] brings version i+1 to version i+2.
var migrations = []migration{
	// Version 2 has floors in rows, and sweeps of two levels: what is stored
	// stays as it is, but older programs cannot read what is added.
	func(*Bolt, *bolt.Tx) error { return nil },
	migrateIndex,
	// Version 4 has workers in rows, and sweeps that started over.
	func(*Bolt, *bolt.Tx) error { return nil },
	// Version 5 has what was checked in rows, incarnations, and in leases what speaks against configurations.
	func(*Bolt, *bolt.Tx) error { return nil },
	// Version 6 has the audit log, and sweeps that say whose they are.
	func(_ *Bolt, tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(auditBucket)
		return err
	},
}

// migrateIndex brings version 2 to version 3. Before, a bucket "answers" had
// the sweep and trial of each answer key, a bucket "digests" those of the start
// of each digest's SHA-256, and no bucket was counted.
func migrateIndex(b *Bolt, tx *bolt.Tx) error {
	answers, digests := []byte("answers"), []byte("digests")
	w := indexFiller{b: b, tx: tx}
	if old := tx.Bucket(answers); old != nil {
		err := old.ForEach(func(k, v []byte) error {
			value, err := seal.Open(answers, k, v)
			if err != nil {
				return err
			}
			r := rowReader{b: value}
			at := place{sweep: uint32(r.uvarint()), seq: int64(r.uvarint())}
			if r.bad {
				return seal.Damaged("answers: the value of key %x does not parse", k)
			}
			return w.add(entry{answerIndexKey(k), at})
		})
		if err != nil {
			return err
		}
	}
	if err := w.digests(); err != nil {
		return err
	}
	for _, name := range [][]byte{answers, digests} {
		if tx.Bucket(name) != nil {
			if err := tx.DeleteBucket(name); err != nil {
				return err
			}
		}
	}
	if _, err := indexRoot(tx); err != nil {
		return err
	}
	return eachCounted(tx, func(b *bolt.Bucket, _ []byte) error { return b.SetSequence(keys(b)) })
}

// indexFiller adds entries to the index, many at a time.
type indexFiller struct {
	b       *Bolt
	tx      *bolt.Tx
	entries []entry
}

func (w *indexFiller) add(e entry) error {
	if w.entries = append(w.entries, e); len(w.entries) < flushEntries {
		return nil
	}
	return w.flush()
}

func (w *indexFiller) flush() error {
	err := w.b.index.add(w.tx, w.entries)
	w.entries = w.entries[:0]
	return err
}

// digests adds the digests of all rows.
func (w *indexFiller) digests() error {
	results := w.tx.Bucket(resultsBucket)
	err := results.ForEachBucket(func(k []byte) error {
		sweep := keyNumber(k)
		dict, err := w.b.texts.of(w.tx, sweep)
		if err != nil {
			return err
		}
		return results.Bucket(k).ForEach(func(key, row []byte) error {
			r, err := readResult(w.tx, sweep, dict, key, row)
			if err != nil || r.Reused || r.Abandoned || r.Outcome.Digest == "" || r.Outcome.Validity == tuner.Timeout {
				return err
			}
			return w.add(entry{digestIndexKey(r.Outcome.Digest), place{sweep: uint32(sweep), seq: r.Seq}})
		})
	})
	if err != nil {
		return err
	}
	return w.flush()
}
