package memory

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/exec/element"
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

// hash64 is the output function of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)
// at counter i of the stream seeded by seed.
func hash64(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// ends are the bounds of a random fill of floats, as bits.
type ends struct {
	sign uint64 // the bit
	top  uint64
	open bool // top is another number than the lower bound, and excluded
}

// equal reports whether bits are of one number.
func (e *ends) equal(a, b uint64) bool { return a == b || (a|b)&^e.sign == 0 }

func (f *Fill) ends(t ir.Type) ends {
	if !t.IsFloat() {
		return ends{}
	}
	e := ends{sign: 1 << (8*element.Size(t) - 1), top: element.Encode(t, f.value)}
	e.open = !e.equal(element.Encode(t, f.least), e.top)
	return e
}

// random is element i of a random fill with these ends, as bits.
func (f *Fill) random(t ir.Type, i int64, e *ends) uint64 {
	h := hash64(f.seed, uint64(i))
	if !t.IsFloat() {
		least := math.Ceil(f.least)
		return element.Encode(t, least+math.Floor(float64(h>>11)*0x1p-53*max(f.value-least, 0)))
	}
	bits := element.Encode(t, f.least+float64(h>>40)*0x1p-24*(f.value-f.least))
	if e.open && e.equal(bits, e.top) {
		return below(bits, e.sign) // rounding must not reach the excluded bound
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

// Element is the bits of element i.
func (f *Fill) Element(t ir.Type, i int64) uint64 {
	switch f.kind {
	case fillConstant:
		return element.Encode(t, f.value)
	case fillRandom:
		e := f.ends(t)
		return f.random(t, i, &e)
	case fillGenerated:
		return element.Encode(t, f.gen(i))
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
	size := element.Size(t)
	if f.kind == fillConstant {
		element.Repeat(dst, element.Encode(t, f.value), size)
		return
	}
	first := off / int64(size)
	if f.kind == fillRandom {
		e := f.ends(t)
		for i := 0; i+size <= len(dst); i += size {
			element.Store(dst[i:], f.random(t, first+int64(i/size), &e), size)
		}
		return
	}
	for i := 0; i+size <= len(dst); i += size {
		element.Store(dst[i:], f.Element(t, first+int64(i/size)), size)
	}
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
