package store

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/warptune/warptune/tuner"
)

// castagnoli is the polynomial of CRC32C (RFC 3720, B.4).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealOverhead is how many bytes seal adds to a payload.
const sealOverhead = 1 + 4

// format is the first byte of every sealed value: how the payload is written.
const format = 1

// sum covers the bucket and the key too, so that a value that turns up in
// another place does not verify.
func sum(bucket, key, value []byte) uint32 {
	c := crc32.Update(0, castagnoli, bucket)
	c = crc32.Update(c, castagnoli, key)
	return crc32.Update(c, castagnoli, value)
}

// seal appends the checksum to a value whose first byte is format.
func seal(bucket, key, value []byte) []byte {
	return binary.LittleEndian.AppendUint32(value, sum(bucket, key, value))
}

// unseal returns the payload of a sealed value.
func unseal(bucket, key, sealed []byte) ([]byte, error) {
	if len(sealed) < sealOverhead {
		return nil, damaged("%s: the value of key %x is too short", bucket, key)
	}
	value, tail := sealed[:len(sealed)-4], sealed[len(sealed)-4:]
	if sum(bucket, key, value) != binary.LittleEndian.Uint32(tail) {
		return nil, damaged("%s: the value of key %x has a wrong checksum", bucket, key)
	}
	if value[0] != format {
		return nil, damaged("%s: the value of key %x has format %d, want %d", bucket, key, value[0], format)
	}
	return value[1:], nil
}

// damaged returns the error for stored data that does not verify.
func damaged(format string, args ...any) error {
	return tuner.Errorf(tuner.Damaged, "read store", format+"; restore a backup, or move the file away to begin anew", args...)
}
