package store

import (
	"fmt"
	"os"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
)

// migration brings the layout from one version to the next.
type migration func(tx *bolt.Tx) error

// migrations[i] brings version i+1 to version i+2.
var migrations = []migration{
	// Version 2 has floors in rows, and sweeps of two levels: what is stored
	// stays as it is, but older programs cannot read what is added.
	func(*bolt.Tx) error { return nil },
}

// upgrade checks the schema's version and brings an older one up to date, in
// one transaction, after the file was backed up beside itself.
func (b *Bolt) upgrade(steps []migration) error {
	const op = "open store"
	current := len(steps) + 1
	var version int
	err := b.db.View(func(tx *bolt.Tx) error {
		schema := tx.Bucket(schemaBucket)
		if schema == nil || schema.Get(versionKey) == nil {
			return tuner.Errorf(tuner.Damaged, op, "it is a bbolt file, but no store of warptune: name another file")
		}
		b.id = string(schema.Get(idKey))
		var err error
		version, err = strconv.Atoi(string(schema.Get(versionKey)))
		return err
	})
	switch {
	case err != nil:
		return err
	case version > current:
		return tuner.Errorf(tuner.Conflict, op, "its schema is version %d, this program knows up to %d: use a newer program", version, current)
	case version < 1:
		return tuner.Errorf(tuner.Damaged, op, "its schema has the impossible version %d", version)
	case version == current:
		return b.checkBuckets()
	}
	backup := fmt.Sprintf("%s.v%d.backup", b.path, version)
	if err := b.backupTo(backup); err != nil {
		return tuner.Errorf(tuner.KindOf(translate(op, err)), op, "back up before the upgrade to schema %d: %w", current, err)
	}
	err = b.db.Update(func(tx *bolt.Tx) error {
		for v := version; v < current; v++ {
			if err := steps[v-1](tx); err != nil {
				return fmt.Errorf("upgrade schema from version %d: %w", v, err)
			}
		}
		return tx.Bucket(schemaBucket).Put(versionKey, []byte(strconv.Itoa(current)))
	})
	if err != nil {
		return err
	}
	return b.checkBuckets()
}

func (b *Bolt) checkBuckets() error {
	return b.db.View(func(tx *bolt.Tx) error {
		for _, name := range allBuckets {
			if tx.Bucket(name) == nil {
				return damaged("bucket %s is missing", name)
			}
		}
		// A damaged key is not read as wrong but not found at all. Where that
		// would be a wrong answer, look now; a lost pointer to an answer only
		// has its question evaluated anew.
		for _, name := range [][]byte{stateBucket, sweepsBucket, bestBucket, bundlesBucket} {
			if err := verifySealed(tx, name); err != nil {
				return err
			}
		}
		for _, name := range [][]byte{resultsBucket, leasesBucket, textsBucket} {
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
		_, err := unseal(name, k, v)
		return err
	})
}

// verifyOwned checks that every bucket in a bucket belongs to a sweep.
func verifyOwned(tx *bolt.Tx, name []byte) error {
	return tx.Bucket(name).ForEach(func(k, v []byte) error {
		if tx.Bucket(sweepsBucket).Get(k) == nil {
			return damaged("%s: sweep %x is unknown", name, k)
		}
		if v != nil {
			return damaged("%s: what stands under key %x is no bucket", name, k)
		}
		return nil
	})
}

// verifyCompleted checks that every completed sweep has its bundle and as many
// results as its record says: a page that says it holds fewer entries than it
// does is sound otherwise. What a live sweep has lost, the ledger has evaluated
// anew.
func (b *Bolt) verifyCompleted() error {
	return b.db.View(func(tx *bolt.Tx) error { return verifyCompleted(tx) })
}

func verifyCompleted(tx *bolt.Tx) error {
	return tx.Bucket(sweepsBucket).ForEach(func(k, v []byte) error {
		var s tuner.Sweep
		if err := readJSON(sweepsBucket, k, v, &s); err != nil {
			return err
		}
		if s.State != tuner.Completed {
			return nil
		}
		var rows int64
		if b := tx.Bucket(resultsBucket).Bucket(k); b != nil {
			rows = int64(b.Stats().KeyN)
		}
		if want := s.Counts.Done + s.Counts.Abandoned; rows != want {
			return damaged("results: sweep %s has %d, its record says %d", s.ID, rows, want)
		}
		if tx.Bucket(bundlesBucket).Get([]byte(s.Spec.Bundle)) == nil {
			return damaged("bundles: sweep %s is of bundle %.12s, which is not there", s.ID, s.Spec.Bundle)
		}
		return nil
	})
}

// backupTo writes a copy to a new file, durably.
func (b *Bolt) backupTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = b.Backup(f); err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}
