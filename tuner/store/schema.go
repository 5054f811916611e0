package store

import (
	"encoding/binary"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// The bucket "schema" says whose file it is and how it is laid out. It is
// written plainly, since programs of any age read it before they know the rest;
// a sum of its own guards it. Files of before there was one have none.
var (
	versionKey = []byte("version")
	idKey      = []byte("id")
	sumKey     = []byte("sum")
)

// putSchema writes the version of the layout, and the file's ID.
func putSchema(b *bolt.Bucket, id, version string) error {
	for _, kv := range []struct{ key, value []byte }{
		{idKey, []byte(id)},
		{versionKey, []byte(version)},
		{sumKey, binary.LittleEndian.AppendUint32(nil, seal.Sum(schemaBucket, []byte(version), []byte(id)))},
	} {
		if err := b.Put(kv.key, kv.value); err != nil {
			return err
		}
	}
	return nil
}

// readSchema returns the file's ID and the version of its layout.
func readSchema(tx *bolt.Tx) (id string, version int, err error) {
	b := tx.Bucket(schemaBucket)
	if b == nil || b.Get(versionKey) == nil {
		return "", 0, tuner.Errorf(tuner.Damaged, "open store", "it is a bbolt file, but no store of warptune: name another file")
	}
	id, text := string(b.Get(idKey)), b.Get(versionKey)
	if want := b.Get(sumKey); want != nil && (len(want) != 4 || seal.Sum(schemaBucket, text, []byte(id)) != binary.LittleEndian.Uint32(want)) {
		return "", 0, seal.Damaged("schema: its version and ID have a wrong checksum")
	}
	if version, err = strconv.Atoi(string(text)); err != nil || version < 1 {
		return "", 0, seal.Damaged("schema: %q is no version", text)
	}
	return id, version, nil
}
