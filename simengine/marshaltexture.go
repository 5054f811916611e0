package simengine

import (
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/texture"
)

// Texture describes a texture or surface object of an argument's own buffer. The argument's Elem and Lanes are those of
// a texel. Dimensions are innermost first.
type Texture struct {
	Shape          []int64 // texels
	Layers         int64   // 0: not layered
	Surface        bool
	Linear         bool // in linear memory, row by row; else in an array's tiles
	Filter         bool // linear interpolation
	Modes          []TextureMode
	Normalized     bool // coordinates from 0 to 1
	ReadNormalized bool // integers are read as floats
}

// TextureMode is what a coordinate outside means.
type TextureMode = texture.Mode

// Address modes.
const (
	TextureClamp  = texture.Clamp
	TextureWrap   = texture.Wrap
	TextureMirror = texture.Mirror
	TextureBorder = texture.Border
)

// object is the texture of an argument without its address.
func (a *Arg) object() (texture.Object, error) {
	t := a.Texture
	o := texture.Object{Elem: a.Elem, Channels: max(a.Lanes, 1), Dims: len(t.Shape), Size: [3]int{1, 1, 1}, Layers: int(t.Layers), Linear: t.Linear, Surface: t.Surface,
		Filter: t.Filter, Normalized: t.Normalized, ReadNormalized: t.ReadNormalized}
	if len(t.Shape) < 1 || len(t.Shape) > 3 || len(t.Modes) > 3 {
		return o, fmt.Errorf("a texture of %d dimensions: want 1 to 3", len(t.Shape))
	}
	for d, n := range t.Shape {
		o.Size[d] = int(min(n, 1<<31))
	}
	copy(o.Modes[:], t.Modes)
	return o, o.Validate()
}

// encodeTexture adds an argument's object to the device's, and is the handle that is passed.
func encodeTexture(device *memory.Device, given []Arg, i int) (memory.Arg, error) {
	o, err := given[i].object()
	if err == nil {
		var handle uint64
		if handle, err = device.AddTexture(BufferName(i, given[i].Name), o); err == nil {
			return memory.Arg{Bytes: binary.LittleEndian.AppendUint64(nil, handle)}, nil
		}
	}
	return memory.Arg{}, mapError(given, i, "%v", err)
}

func (t *Texture) digest(h hash.Hash) {
	text(h, "texture")
	flags := 0
	for i, f := range []bool{t.Surface, t.Linear, t.Filter, t.Normalized, t.ReadNormalized} {
		if f {
			flags |= 1 << i
		}
	}
	ints(h, flags, int(t.Layers), len(t.Shape), len(t.Modes))
	for _, v := range t.Shape {
		ints(h, int(v))
	}
	for _, m := range t.Modes {
		ints(h, int(m))
	}
}
