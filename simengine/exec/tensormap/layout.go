package tensormap

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// Where fields lie in the 128 bytes, little-endian.
const (
	atMagic     = 0  // 4
	atFields    = 4  // 4: which fields are set
	atAddress   = 8  // 8
	atShape     = 16 // 5 x 4
	atStrides   = 40 // 4 x 8
	atBox       = 72 // 5 x 2
	atElements  = 82 // 5
	atRank      = 87
	atElem      = 88
	atLeave     = 89
	atSwizzle   = 90
	atFill      = 91
	atPromotion = 92
)

const magic = 0x50414d54 // "TMAP"

// Bits of the fields that are set, those of dimensions at the first one's and after it.
const (
	setAddress = 1 << iota
	setRank
	setElem
	setLeave
	setSwizzle
	setFill
	setShape    = 1 << 8
	setBox      = 1 << 13
	setElements = 1 << 18
	setStrides  = 1 << 23
)

// Encode writes a map.
func (m *Map) Encode() [Bytes]byte {
	var b [Bytes]byte
	le := binary.LittleEndian
	le.PutUint32(b[atMagic:], magic)
	le.PutUint32(b[atFields:], ^uint32(0))
	le.PutUint64(b[atAddress:], m.Address)
	for i := range MaxRank {
		le.PutUint32(b[atShape+4*i:], m.Shape[i])
		le.PutUint16(b[atBox+2*i:], uint16(m.Box[i]))
		b[atElements+i] = byte(m.ElementStrides[i])
		if i > 0 {
			le.PutUint64(b[atStrides+8*(i-1):], m.Strides[i-1])
		}
	}
	b[atRank], b[atElem], b[atFill] = byte(m.Rank), byte(m.Elem), 0
	b[atSwizzle] = code(m.Swizzle, 16)
	b[atLeave] = code(m.Interleave, 8)
	b[atPromotion] = code(m.Promotion, 32)
	if m.FillNaN {
		b[atFill] = 1
	}
	return b
}

// code is a number of bytes as n that base<<n is it; 0 stays.
func code(bytes, base int) byte {
	n := byte(0)
	for base < bytes {
		base *= 2
		n++
	}
	return n
}

func decoded(code byte, base int) int {
	if code == 0 {
		return 0
	}
	return base << code
}

var errForeign = errors.New("what is read as a tensor map is none")

// Decode reads a map that a copy is made with.
func (m *Map) Decode(b []byte) error {
	if err := m.read(b); err != nil {
		return err
	}
	if missing := m.missing(binary.LittleEndian.Uint32(b[atFields:])); missing != "" {
		return fmt.Errorf("a tensor map whose %s was not set", missing)
	}
	return m.Validate()
}

// read reads the fields of a map as they are.
func (m *Map) read(b []byte) error {
	le := binary.LittleEndian
	if len(b) < Bytes || le.Uint32(b[atMagic:]) != magic {
		return errForeign
	}
	*m = Map{Address: le.Uint64(b[atAddress:]), Rank: int(b[atRank]), Elem: Elem(b[atElem]), FillNaN: b[atFill] != 0,
		Swizzle: decoded(b[atSwizzle], 16), Interleave: decoded(b[atLeave], 8), Promotion: decoded(b[atPromotion], 32)}
	for i := range MaxRank {
		m.Shape[i] = le.Uint32(b[atShape+4*i:])
		m.Box[i] = int(le.Uint16(b[atBox+2*i:]))
		m.ElementStrides[i] = int(b[atElements+i])
		if i > 0 {
			m.Strides[i-1] = le.Uint64(b[atStrides+8*(i-1):])
		}
	}
	return nil
}

// missing names the first field that is needed and not set; "": none.
func (m *Map) missing(set uint32) string {
	for _, f := range [...]struct {
		bit  uint32
		name string
	}{{setRank, "rank"}, {setAddress, "global_address"}, {setElem, "elemtype"}, {setLeave, "interleave_layout"}, {setSwizzle, "swizzle_mode"}, {setFill, "fill_mode"}} {
		if set&f.bit == 0 {
			return f.name
		}
	}
	for i := range min(m.Rank, MaxRank) {
		switch {
		case set>>i&setShape == 0:
			return fmt.Sprintf("global_dim %d", i)
		case set>>i&setBox == 0:
			return fmt.Sprintf("box_dim %d", i)
		case set>>i&setElements == 0:
			return fmt.Sprintf("element_stride %d", i)
		case i > 0 && set>>(i-1)&setStrides == 0:
			return fmt.Sprintf("global_stride %d", i-1)
		}
	}
	return ""
}

// Set replaces a field, as tensormap.replace does. A map of zeros becomes one that has the field.
func Set(b []byte, field ir.MapField, ordinal int, v uint64) error {
	le := binary.LittleEndian
	if len(b) < Bytes {
		return errForeign
	}
	switch le.Uint32(b[atMagic:]) {
	case magic:
	case 0:
		for _, x := range b[:Bytes] {
			if x != 0 {
				return errForeign
			}
		}
		le.PutUint32(b[atMagic:], magic)
	default:
		return errForeign
	}
	bit, err := set(b, field, ordinal, v)
	le.PutUint32(b[atFields:], le.Uint32(b[atFields:])|bit)
	return err
}

func set(b []byte, field ir.MapField, ordinal int, v uint64) (uint32, error) {
	le := binary.LittleEndian
	most := MaxRank
	if field == ir.MapStride {
		most--
	}
	if ordinal < 0 || ordinal >= most {
		return 0, fmt.Errorf("dimension %d of a tensor map: want 0 to %d", ordinal, most-1)
	}
	small := func(at int, most uint64, what string) error {
		if v > most {
			return fmt.Errorf("%s %d of a tensor map: want at most %d", what, v, most)
		}
		b[at] = byte(v)
		return nil
	}
	switch field {
	case ir.MapAddress:
		le.PutUint64(b[atAddress:], v)
		return setAddress, nil
	case ir.MapShape:
		le.PutUint32(b[atShape+4*ordinal:], uint32(v))
		return setShape << ordinal, nil
	case ir.MapStride:
		le.PutUint64(b[atStrides+8*ordinal:], v)
		return setStrides << ordinal, nil
	case ir.MapBox:
		if v > maxBox {
			return 0, fmt.Errorf("box_dim %d of a tensor map: want at most %d", v, maxBox)
		}
		le.PutUint16(b[atBox+2*ordinal:], uint16(v))
		return setBox << ordinal, nil
	case ir.MapElementStride:
		return setElements << ordinal, small(atElements+ordinal, maxElement, "element_stride")
	case ir.MapRank:
		err := small(atRank, MaxRank-1, "rank") // counted from zero
		b[atRank]++
		return setRank, err
	case ir.MapElement:
		return setElem, small(atElem, uint64(numElems)-1, "elemtype")
	case ir.MapInterleave:
		return setLeave, small(atLeave, 2, "interleave_layout")
	case ir.MapSwizzle:
		return setSwizzle, small(atSwizzle, 3, "swizzle_mode")
	case ir.MapFill:
		return setFill, small(atFill, 1, "fill_mode")
	}
	return 0, fmt.Errorf("a field of a tensor map that is not modelled")
}
