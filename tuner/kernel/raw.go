package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
)

// Raw is a file of an argument's elements, one after the other, little-endian.
// It is immutable.
type Raw struct {
	File   string // relative to the definition
	Data   []byte
	Digest string // sha-256, hex
}

// maxRaw bounds the files of a definition's arguments: they travel with it.
const maxRaw = 32 << 20

// readRaw reads the file that DataSource names. Without it the space can be used
// and nothing be launched.
func (d *Definition) readRaw(r *reader, rec *record, a *argument) {
	name := clean(rec.text("DataSource", ""))
	if r.err != nil {
		return
	}
	raw, err := d.raw(name)
	if err != nil {
		a.refusal = fmt.Sprintf("FillType BinaryRaw: %v; use FillType Random where contents do not matter", err)
		return
	}
	a.arg.Fill.Kind, a.arg.Fill.Raw = FillBinaryRaw, raw
	if size := a.elementBytes(); size > 0 && len(raw.Data)%size != 0 {
		a.refusal = fmt.Sprintf("FillType BinaryRaw: the %d bytes of %s are not a number of elements of %d", len(raw.Data), name, size)
	} else if i := raw.inexact(a.arg.Type); i >= 0 {
		a.refusal = fmt.Sprintf("FillType BinaryRaw: value %d of %s is an integer beyond 2^53, which cannot be simulated", i, name)
	}
}

// raw returns a file of an argument's elements, read once.
func (d *Definition) raw(name string) (*Raw, error) {
	if raw := d.raws[name]; raw != nil {
		return raw, nil
	}
	data, err := d.rawData(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	if d.raws == nil {
		d.raws = map[string]*Raw{}
	}
	d.raws[name] = &Raw{name, data, hex.EncodeToString(sum[:])}
	return d.raws[name], nil
}

func (d *Definition) rawData(name string) ([]byte, error) {
	if name == "." {
		return nil, fmt.Errorf("DataSource is missing: it names the file")
	}
	if err := inside(name); err != nil {
		return nil, err
	}
	data, err := d.files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	size := len(data)
	for _, other := range d.raws {
		size += len(other.Data)
	}
	if size > maxRaw {
		return nil, fmt.Errorf("with %s the arguments' files have %d bytes, more than the %d MiB that may be", name, size, maxRaw>>20)
	}
	return data, nil
}

// elementBytes is the size of one element, all its lanes.
func (a *argument) elementBytes() int { return a.arg.Type.Bytes() * a.arg.Lanes }

// elements is how many the argument's file holds, 0 without one.
func (a *argument) elements() int64 {
	if a.arg.Fill.Raw == nil || a.elementBytes() == 0 {
		return 0
	}
	return int64(len(a.arg.Fill.Raw.Data) / a.elementBytes())
}

// bits are those of value i of a type.
func (f *Raw) bits(t Type, i int64) uint64 {
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
	bits := f.bits(t, i)
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

// inexact is the first 64-bit integer that a float64 does not hold, -1 if there is
// none.
func (f *Raw) inexact(t Type) int64 {
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
