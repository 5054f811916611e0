package texture

import (
	"encoding/binary"
	"math"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// channel is channel c of the bytes of a texel: its bits as an integer read gives them, or a number.
func (o *Object) channel(b []byte, c int) (bits uint32, number float32) {
	size := o.Elem.Size()
	b = b[c*size:]
	switch o.Elem {
	case ir.F32:
		bits = binary.LittleEndian.Uint32(b)
		return bits, math.Float32frombits(bits)
	case ir.F16:
		number = float32(element.Value(ir.F16, element.Load(b, 2)))
		return math.Float32bits(number), number
	case ir.U8:
		return uint32(b[0]), float32(b[0]) / math.MaxUint8
	case ir.S8:
		v := int8(b[0])
		return uint32(int32(v)), max(float32(v)/math.MaxInt8, -1)
	case ir.U16:
		v := binary.LittleEndian.Uint16(b)
		return uint32(v), float32(v) / math.MaxUint16
	case ir.S16:
		v := int16(binary.LittleEndian.Uint16(b))
		return uint32(int32(v)), max(float32(v)/math.MaxInt16, -1)
	}
	return binary.LittleEndian.Uint32(b), 0
}

// blendedBytes is the steps from 0 to 1 of what is blended of bytes (H100, h100-texture-fetches.jsonl.gz).
const blendedBytes = math.MaxUint16

// Value is the four channels of a fetch. texel gives the bytes of a texel that it reads. A channel that texels do not have
// is zero, the last too (H100, h100-texture-fetches.jsonl.gz).
func (o *Object) Value(f *Fetch, texel func(*Texel) []byte) (out [4]uint32) {
	if f.N == 1 && !o.ReadNormalized {
		if t := &f.Texels[0]; !t.Outside {
			b := texel(t)
			for c := range o.Channels {
				out[c], _ = o.channel(b, c)
			}
		}
		return out
	}
	var sums [4]float64
	for i := range f.Texels[:f.N] {
		if t := &f.Texels[i]; !t.Outside {
			b := texel(t)
			for c := range o.Channels {
				_, v := o.channel(b, c)
				if t.Weight != 0 { // what has no weight counts for nothing, whatever it is
					sums[c] += float64(t.Weight) * float64(v)
				}
			}
		}
	}
	for c := range o.Channels {
		if f.N > 1 && o.Elem == ir.U8 {
			sums[c] = math.Round(sums[c]*blendedBytes) / blendedBytes
		}
		out[c] = math.Float32bits(float32(sums[c]))
	}
	return out
}

// Gather is one channel of the four texels of a footprint, in the order of tex2Dgather: left below, right below, right
// above, left above, where above is the lesser row.
func (o *Object) Gather(f *Fetch, channel int, texel func(*Texel) []byte) (out [4]uint32) {
	for i, n := range [4]int{2, 3, 1, 0} {
		t := &f.Texels[n]
		switch {
		case channel < o.Channels && !t.Outside:
			bits, v := o.channel(texel(t), channel)
			if o.ReadNormalized {
				bits = math.Float32bits(v)
			}
			out[i] = bits
		}
	}
	return out
}
