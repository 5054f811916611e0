package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
)

// Whichever bit of a store's ID or version flips, the file is refused as damaged:
// no other store's, no older one that is to be upgraded, no newer one.
func TestDamagedSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	b := mustOpen(t, path)
	id := b.ID()
	must(t, b.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	put := func(at int, c byte) {
		_, err := f.WriteAt([]byte{c}, int64(at))
		must(t, err)
	}
	refused := 0
	for _, value := range []string{id, fmt.Sprint("version", schemaVersion)} {
		for at := bytes.Index(content, []byte(value)); at >= 0; { // a page that is free has it too
			for i := at; i < at+len(value); i++ {
				for bit := range 8 {
					put(i, content[i]^1<<bit)
					b, err := Open(path, OpenOptions{AnyFileSystem: true})
					if err == nil && b.ID() != id {
						t.Errorf("bit %d of byte %d: it opens as %q", bit, i, b.ID())
					}
					if err == nil {
						must(t, b.Close())
						continue
					}
					if refused++; tuner.KindOf(err) != tuner.Damaged {
						t.Errorf("bit %d of byte %d: %v", bit, i, err)
					}
				}
				put(i, content[i])
			}
			next := bytes.Index(content[at+1:], []byte(value))
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	if want := 8 * len(id+"versionN"); refused < want {
		t.Errorf("%d flipped bits were noticed, of the %d that are the schema", refused, want)
	}
}

// A version that is no number is refused also where no sum guards it.
func TestVersionOfNothing(t *testing.T) {
	for _, version := range []string{"", "t", "0", "-1", "99999999999999999999"} {
		path := filepath.Join(t.TempDir(), "sweeps.db")
		b := mustOpen(t, path)
		must(t, b.db.Update(func(tx *bolt.Tx) error {
			schema := tx.Bucket(schemaBucket)
			must(t, schema.Delete(sumKey))
			return schema.Put(versionKey, []byte(version))
		}))
		must(t, b.Close())
		if _, err := Open(path, OpenOptions{AnyFileSystem: true}); tuner.KindOf(err) != tuner.Damaged {
			t.Errorf("version %q: %v", version, err)
		}
	}
}
