package call

import (
	"encoding/binary"
	"math"
)

// Raw is a file of an argument's elements, one after the other, little-endian.
// It is immutable.
type Raw struct {
	File   string // relative to the definition
	Data   []byte
	Digest string // sha-256, hex
}

// Bits are those of value i of a type.
func (f *Raw) Bits(t Type, i int64) uint64 {
	var b [8]byte
	size := int64(t.Bytes())
	copy(b[:], f.Data[i*size:(i+1)*size])
	return binary.LittleEndian.Uint64(b[:])
}

// Value is value i of a type, 0 behind the end; of a vector type each lane counts.
func (f *Raw) Value(t Type, i int64) float64 {
	if size := int64(t.Bytes()); i < 0 || size == 0 || i >= int64(len(f.Data))/size {
		return 0
	}
	bits := f.Bits(t, i)
	switch t {
	case Half:
		return fromHalf(uint16(bits))
	case Bfloat16, Float8E4M3, Float8E5M2:
		return smallFormats[t].decode(bits)
	case Float:
		return float64(math.Float32frombits(uint32(bits)))
	case Double:
		return math.Float64frombits(bits)
	case Int8, Int16, Int32, Int64:
		unused := 64 - 8*t.Bytes()
		return float64(int64(bits<<unused) >> unused)
	}
	return float64(bits)
}

// Inexact is the first 64-bit integer that a float64 does not hold, -1 if there is
// none.
func (f *Raw) Inexact(t Type) int64 {
	if t != Int64 && t != Uint64 {
		return -1
	}
	for i := range int64(len(f.Data) / t.Bytes()) {
		if math.Abs(f.Value(t, i)) > 1<<53 {
			return i
		}
	}
	return -1
}

// fromHalf is the value of a half-precision number.
func fromHalf(b uint16) float64 {
	exp, man := int(b>>10&0x1f), float64(b&0x3ff)
	v := math.Ldexp(man, -24)
	switch {
	case exp == 0x1f && man == 0:
		v = math.Inf(1)
	case exp == 0x1f:
		v = math.NaN()
	case exp > 0:
		v = math.Ldexp(man+1024, exp-25)
	}
	if b>>15 != 0 {
		v = -v
	}
	return v
}
