package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// upgrade checks the schema's version and brings an older one up to date, in
// one transaction, after the file was backed up beside itself; or refuses it, asStored.
func (b *Bolt) upgrade(steps []migration, asStored bool) error {
	const op = "open store"
	current := len(steps) + 1
	var version int
	err := b.db.View(func(tx *bolt.Tx) (err error) {
		b.id, version, err = readSchema(tx)
		return err
	})
	switch {
	case err != nil:
		return err
	case version > current:
		return tuner.Errorf(tuner.Conflict, op, "its schema is version %d, this program knows up to %d: use a newer program", version, current)
	case version == current:
		return b.checkBuckets()
	case asStored:
		return tuner.Errorf(tuner.Conflict, op, "its schema is version %d of %d: %w", version, current, ErrOlder)
	}
	if err := b.checkValues(); err != nil {
		return err
	}
	backup := fmt.Sprintf("%s.v%d", b.path, version)
	if err := b.backupTo(backup); err != nil {
		return tuner.Errorf(tuner.KindOf(translate(op, err)), op, "back up before the upgrade to schema %d: %w", current, err)
	}
	err = b.db.Update(func(tx *bolt.Tx) error {
		for v := version; v < current; v++ {
			if err := steps[v-1](b, tx); err != nil {
				return fmt.Errorf("upgrade schema from version %d: %w", v, err)
			}
		}
		if tx.Bucket(auditBucket) != nil { // in tests of fewer steps there is none
			if err := b.log.put(tx, upgraded(fmt.Sprintf("schema %d to %d", version, current))); err != nil {
				return err
			}
		}
		return putSchema(tx.Bucket(schemaBucket), b.id, strconv.Itoa(current))
	})
	if err != nil {
		return err
	}
	return b.checkBuckets()
}

func (b *Bolt) checkBuckets() error {
	err := b.db.View(func(tx *bolt.Tx) error {
		for _, name := range allBuckets {
			if tx.Bucket(name) == nil {
				return seal.Damaged("bucket %s is missing", name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.checkValues()
}

func (b *Bolt) checkValues() error {
	return b.db.View(func(tx *bolt.Tx) error {
		// A damaged key is not read as wrong but not found at all. Where that
		// would be a wrong answer, look now; a lost pointer to an answer only
		// has its question evaluated anew.
		for _, name := range [][]byte{stateBucket, sweepsBucket, bestBucket, bundlesBucket, auditBucket} {
			if tx.Bucket(name) == nil { // of a schema of before
				continue
			}
			spared := b.salvage && !bytes.Equal(name, stateBucket) && !bytes.Equal(name, bundlesBucket)
			if err := verifySealed(tx, name); err != nil && !spared {
				return err
			}
		}
		for _, name := range ownedBuckets {
			if err := verifyOwned(tx, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// verifySealed checks every value of a bucket.
func verifySealed(tx *bolt.Tx, name []byte) error {
	return tx.Bucket(name).ForEach(func(k, v []byte) error {
		_, err := seal.Open(name, k, v)
		return err
	})
}

// verifyOwned checks that every bucket in a bucket belongs to a sweep.
func verifyOwned(tx *bolt.Tx, name []byte) error {
	return tx.Bucket(name).ForEach(func(k, v []byte) error {
		if tx.Bucket(sweepsBucket).Get(k) == nil {
			return seal.Damaged("%s: sweep %x is unknown", name, k)
		}
		if v != nil {
			return seal.Damaged("%s: what stands under key %x is no bucket", name, k)
		}
		return nil
	})
}

// verifyCounts checks that nothing is missing: that the buckets have as many
// keys as were counted, and every sweep what its record refers to.
func (b *Bolt) verifyCounts() error {
	return b.db.View(func(tx *bolt.Tx) error {
		if err := eachCounted(tx, verifyCounted); err != nil {
			return err
		}
		return tx.Bucket(sweepsBucket).ForEach(func(k, v []byte) error {
			var s tuner.Sweep
			if err := readJSON(sweepsBucket, k, v, &s); err != nil && b.salvage {
				return nil
			} else if err != nil {
				return err
			}
			return verifySweep(tx, k, &s)
		})
	})
}

func verifySweep(tx *bolt.Tx, key []byte, s *tuner.Sweep) error {
	rows := uint64(0)
	if b := tx.Bucket(resultsBucket).Bucket(key); b != nil {
		rows = b.Sequence()
	}
	if want := uint64(s.Counts.Done + s.Counts.Abandoned); s.State == tuner.Completed && rows != want {
		return seal.Damaged("results: sweep %s has %d, its record says %d", s.ID, rows, want)
	}
	if s.State == tuner.Completed && tx.Bucket(bundlesBucket).Get([]byte(s.Spec.Bundle)) == nil {
		return seal.Damaged("bundles: sweep %s is of bundle %.12s, which is not there", s.ID, s.Spec.Bundle)
	}
	return nil
}

// Partial is behind a database's name while it is copied: one copy at a time, by who
// has the database's lock, in the place of any that was cut short.
const Partial = ".partial"

// backupTo writes a copy, durably, that is complete whenever it has its name. The name is path with .backup after
// it, or with a number before that if there is such a file already, of an upgrade that did not come to its end,
// say.
func (b *Bolt) backupTo(path string) (err error) {
	f, err := os.OpenFile(b.path+Partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err = b.Backup(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	name := path + ".backup"
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
		name = fmt.Sprintf("%s.%d.backup", path, n)
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}
