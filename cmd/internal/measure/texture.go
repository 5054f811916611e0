package measure

import (
	"github.com/warptune/warptune/cmd/internal/measure/wire"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ir"
)

// formats are the driver's numbers of elements of texels (CUarray_format in cuda.h).
var formats = map[ir.Type]int{ir.U8: 0x01, ir.U16: 0x02, ir.U32: 0x03, ir.S8: 0x08, ir.S16: 0x09, ir.S32: 0x0a, ir.F16: 0x10, ir.F32: 0x20}

// addressModes are the driver's numbers of what a coordinate outside means (CUaddress_mode).
var addressModes = map[simengine.TextureMode]uint32{simengine.TextureWrap: 0, simengine.TextureClamp: 1, simengine.TextureMirror: 2, simengine.TextureBorder: 3}

// textureOf describes an argument's texture or surface as the driver does. Modes of dimensions that
// it does not have are clamp unless they are given: a filter of one dimension blends with a border of the second.
func textureOf(a *simengine.Arg) *wire.Texture {
	in, lanes := a.Texture, max(a.Lanes, 1)
	t := &wire.Texture{
		Format: formats[a.Elem], Channels: lanes, Texel: lanes * a.Elem.Size(), Layers: uint64(in.Layers), Surface: in.Surface, Linear: in.Linear,
		Normalized: in.Normalized, ReadNormalized: in.ReadNormalized,
	}
	for _, n := range in.Shape {
		t.Shape = append(t.Shape, uint64(n))
	}
	for d := range t.Modes {
		mode := simengine.TextureClamp
		if d < min(len(in.Modes), max(len(in.Shape), 2)) {
			mode = in.Modes[d]
		}
		t.Modes[d] = addressModes[mode]
	}
	if in.Filter {
		t.Filter = 1 // CU_TR_FILTER_MODE_LINEAR
	}
	return t
}
