// Package seal closes stored values with a checksum of what they are and where they stand.
package seal

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/warptune/warptune/tuner"
)

// castagnoli is the polynomial of CRC32C (RFC 3720, B.4).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Overhead is how many bytes seal adds to a payload.
const Overhead = 1 + 4

// Format is the first byte of every sealed value: how the payload is written.
const Format = 1

// Sum covers the bucket and the key too, so that a value that turns up in
// another place does not verify.
func Sum(bucket, key, value []byte) uint32 {
	c := crc32.Update(0, castagnoli, bucket)
	c = crc32.Update(c, castagnoli, key)
	return crc32.Update(c, castagnoli, value)
}

// Close appends the checksum to a value whose first byte is format.
func Close(bucket, key, value []byte) []byte {
	return binary.LittleEndian.AppendUint32(value, Sum(bucket, key, value))
}

// Open returns the payload of a sealed value.
func Open(bucket, key, sealed []byte) ([]byte, error) {
	if len(sealed) < Overhead {
		return nil, Damaged("%s: the value of key %x is too short", bucket, key)
	}
	value, tail := sealed[:len(sealed)-4], sealed[len(sealed)-4:]
	if Sum(bucket, key, value) != binary.LittleEndian.Uint32(tail) {
		return nil, Damaged("%s: the value of key %x has a wrong checksum", bucket, key)
	}
	if value[0] != Format {
		return nil, Damaged("%s: the value of key %x has format %d, want %d", bucket, key, value[0], Format)
	}
	return value[1:], nil
}

// Damaged returns the error for stored data that does not verify.
func Damaged(format string, args ...any) error {
	return tuner.Errorf(tuner.Damaged, "read store", format+"; restore a backup, or move the file away to begin anew", args...)
}
