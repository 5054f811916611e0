package exec

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// fillKind is the way a Fill makes its elements.
type fillKind uint8

const (
	fillZero fillKind = iota
	fillConstant
	fillRandom
	fillGenerated
	fillBytes
)

// Fill says what a buffer holds before the kernel runs. Every element is a
// function of its index alone, so any page can be made when it is first read.
// The zero Fill is zeros.
type Fill struct {
	kind  fillKind
	value float64
	least float64
	seed  uint64
	gen   func(i int64) float64
	bytes []byte
}

// Constant fills every element with v.
func Constant(v float64) Fill { return Fill{kind: fillConstant, value: v} }

// Random fills floats with values in [0, max) and integers with integers in
// [0, max), a fixed function of the seed and the element's index.
func Random(seed uint64, max float64) Fill { return RandomFrom(seed, 0, max) }

// RandomFrom is Random with values in [least, max).
func RandomFrom(seed uint64, least, max float64) Fill {
	return Fill{kind: fillRandom, seed: seed, least: least, value: max}
}

// Generated fills element i with f(i). The function must depend on i alone.
func Generated(f func(i int64) float64) Fill { return Fill{kind: fillGenerated, gen: f} }

// Bytes fills the buffer with b, then zeros. The slice is kept, not copied.
func Bytes(b []byte) Fill { return Fill{kind: fillBytes, bytes: b} }

// elemSize is the size of one element in bytes, 0 when t cannot be one.
func elemSize(t ir.Type) int {
	switch t {
	case ir.B8, ir.U8, ir.S8, ir.E4M3, ir.E5M2:
		return 1
	case ir.B16, ir.U16, ir.S16, ir.F16, ir.BF16:
		return 2
	case ir.B32, ir.U32, ir.S32, ir.F32, ir.TF32:
		return 4
	case ir.B64, ir.U64, ir.S64, ir.F64:
		return 8
	}
	return 0
}

// encode gives the bits of v as an element of type t: rounded to nearest for
// floats, truncated for integers.
func encode(t ir.Type, v float64) uint64 {
	switch t {
	case ir.F64:
		return math.Float64bits(v)
	case ir.F32, ir.TF32:
		return uint64(math.Float32bits(float32(v)))
	case ir.F16:
		return uint64(halfFormat.pack(v, ir.RN, false))
	case ir.BF16:
		return uint64(bfloatFormat.pack(v, ir.RN, false))
	case ir.E4M3:
		return uint64(e4m3Format.pack(v, ir.RN, true))
	case ir.E5M2:
		return uint64(e5m2Format.pack(v, ir.RN, true))
	}
	switch {
	case v != v:
		return 0
	case v < 0:
		return uint64(int64(v))
	case v >= 1<<64:
		return math.MaxUint64
	}
	return uint64(v)
}

// hash64 is the output function of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)
// at counter i of the stream seeded by seed.
func hash64(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// random is element i of a random fill, as bits.
func (f *Fill) random(t ir.Type, i int64) uint64 {
	h := hash64(f.seed, uint64(i))
	if !t.IsFloat() {
		least := math.Ceil(f.least)
		return encode(t, least+math.Floor(float64(h>>11)*0x1p-53*max(f.value-least, 0)))
	}
	sign := uint64(1) << (8*elemSize(t) - 1)
	equal := func(a, b uint64) bool { return a == b || (a|b)&^sign == 0 }
	bits, top := encode(t, f.least+float64(h>>40)*0x1p-24*(f.value-f.least)), encode(t, f.value)
	if equal(bits, top) && !equal(encode(t, f.least), top) {
		return below(bits, sign) // rounding must not reach the excluded bound
	}
	return bits
}

// below is the largest floating-point number less than one, as bits.
func below(bits, sign uint64) uint64 {
	switch {
	case bits&^sign == 0:
		return sign | 1
	case bits&sign != 0:
		return bits + 1
	}
	return bits - 1
}

// element is the bits of element i.
func (f *Fill) element(t ir.Type, i int64) uint64 {
	switch f.kind {
	case fillConstant:
		return encode(t, f.value)
	case fillRandom:
		return f.random(t, i)
	case fillGenerated:
		return encode(t, f.gen(i))
	}
	return 0
}

// write fills dst with the bytes of the buffer from byte offset off, a
// multiple of the element size.
func (f *Fill) write(t ir.Type, off int64, dst []byte) {
	switch f.kind {
	case fillZero:
		clear(dst)
		return
	case fillBytes:
		n := 0
		if off < int64(len(f.bytes)) {
			n = copy(dst, f.bytes[off:])
		}
		clear(dst[n:])
		return
	}
	size := elemSize(t)
	if f.kind == fillConstant {
		fillRepeated(dst, encode(t, f.value), size)
		return
	}
	first := off / int64(size)
	for i := 0; i+size <= len(dst); i += size {
		putBits(dst[i:], f.element(t, first+int64(i/size)), size)
	}
}

func fillRepeated(dst []byte, bits uint64, size int) {
	if bits == 0 {
		clear(dst)
		return
	}
	if len(dst) < size {
		return
	}
	putBits(dst, bits, size)
	for n := size; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// putBits stores the low size bytes of v, little endian.
func putBits(dst []byte, v uint64, size int) {
	for i := 0; i < size; i++ {
		dst[i] = byte(v >> (8 * i))
	}
}

// getBits loads size bytes, little endian.
func getBits(src []byte, size int) uint64 {
	var v uint64
	for i := 0; i < size; i++ {
		v |= uint64(src[i]) << (8 * i)
	}
	return v
}

// validate reports what is wrong with a fill of elements of type t.
func (f *Fill) validate(t ir.Type) error {
	if f.kind == fillGenerated && f.gen == nil {
		return fmt.Errorf("generated fill without a function")
	}
	if f.kind == fillRandom && (!(f.value >= f.least) || math.IsInf(f.value, 1) || math.IsInf(f.least, -1)) {
		return fmt.Errorf("random fill from %v to %v: want finite numbers, the second not below the first", f.least, f.value)
	}
	return nil
}
