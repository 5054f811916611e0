// Package texture is textures and surfaces: what an object is made of, which texels a fetch reads by its coordinates,
// where they lie in device memory, and how they are filtered (CUDA C++ Programming Guide, texture fetching).
//
// A handle is the simulator's own: Window plus the object's number.
package texture

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// Window is where handles lie among 64-bit values: no address is there.
const Window = 0x7900_0000_0000

// Mode is what a coordinate outside means. The zero value is the hardware's default.
type Mode uint8

// Address modes.
const (
	Clamp Mode = iota
	Wrap
	Mirror
	Border // zero
)

// Object is a texture or a surface.
type Object struct {
	Address  uint64 // of its first texel in device memory
	Elem     ir.Type
	Channels int    // 1, 2 or 4
	Dims     int    // 1 to 3
	Size     [3]int // texels; 1 beyond Dims
	Layers   int    // 0: not layered
	Linear   bool   // rows of texels in ordinary memory; else a CUDA array, whose texels lie in tiles
	Surface  bool

	// Of textures:
	Filter         bool // linear interpolation, else the nearest texel
	Modes          [3]Mode
	Normalized     bool // coordinates from 0 to 1
	ReadNormalized bool // integers are read as floats from 0 or -1 to 1
}

// Most texels in a dimension, of CUDA arrays of all GPUs since compute capability 6 (CUDA C++ Programming Guide, technical
// specifications): of one dimension, two and three; of texels in linear memory, of one dimension and two.
const (
	most1D, most2D, most2DHigh, most3D = 131072, 131072, 65536, 16384
	mostLinear1D                       = 1 << 28
	mostLinear2D, mostLinear2DHigh     = 131072, 65000
	mostLayers                         = 2048
	pitchAlign                         = 32 // bytes: of rows in linear memory
)

// Texel is the bytes of a texel.
func (o *Object) Texel() int { return o.Elem.Size() * o.Channels }

// isFloat reports whether its elements are floating-point numbers.
func (o *Object) isFloat() bool { return o.Elem == ir.F32 || o.Elem == ir.F16 }

// Texels is how many texels it has.
func (o *Object) Texels() int64 {
	return int64(o.Size[0]) * int64(o.Size[1]) * int64(o.Size[2]) * int64(max(o.Layers, 1))
}

// Validate says what the driver would refuse.
func (o *Object) Validate() error {
	switch o.Elem {
	case ir.U8, ir.S8, ir.U16, ir.S16, ir.U32, ir.S32, ir.F16, ir.F32:
	default:
		return fmt.Errorf("texels of %v: want integers of 8, 16 or 32 bits, half or float", o.Elem)
	}
	if o.Channels != 1 && o.Channels != 2 && o.Channels != 4 {
		return fmt.Errorf("texels of %d channels: want 1, 2 or 4", o.Channels)
	}
	if err := o.validateSize(); err != nil {
		return err
	}
	small := o.Elem.Size() < 4 && !o.isFloat()
	switch {
	case o.ReadNormalized && !small:
		return fmt.Errorf("read mode normalized of texels of %v: want integers of 8 or 16 bits", o.Elem)
	case o.Filter && !o.isFloat() && !o.ReadNormalized:
		return fmt.Errorf("filter linear of texels of %v: want floats, or read mode normalized", o.Elem)
	case o.Filter && o.Linear && o.Dims == 1:
		return fmt.Errorf("filter linear of texels in linear memory of one dimension: want point, or an array")
	case o.Surface && o.Linear:
		return fmt.Errorf("a surface of linear memory: want an array")
	}
	return nil
}

func (o *Object) validateSize() error {
	if o.Dims < 1 || o.Dims > 3 || o.Layers > 0 && o.Dims == 3 || o.Linear && (o.Dims == 3 || o.Layers > 0) {
		return fmt.Errorf("%d dimensions (layers: %d): want 1 to 3, layered or in linear memory 1 or 2, not both", o.Dims, o.Layers)
	}
	limits := [3][3]int{{most1D, 1, 1}, {most2D, most2DHigh, 1}, {most3D, most3D, most3D}}[o.Dims-1]
	if o.Linear {
		limits = [3]int{mostLinear1D, 1, 1}
		if o.Dims == 2 {
			limits = [3]int{mostLinear2D, mostLinear2DHigh, 1}
		}
	}
	for d, n := range o.Size {
		if n < 1 || n > limits[d] {
			return fmt.Errorf("%d texels in dimension %d: want 1 to %d", n, d, limits[d])
		}
	}
	if o.Layers < 0 || o.Layers > mostLayers {
		return fmt.Errorf("%d layers: want 1 to %d", o.Layers, mostLayers)
	}
	if row := o.Size[0] * o.Texel(); o.Linear && o.Dims == 2 && row%pitchAlign != 0 {
		return fmt.Errorf("rows of %d bytes in linear memory: want a multiple of %d", row, pitchAlign)
	}
	return nil
}

// Query is the answer to txq or suq.
func (o *Object) Query(q ir.Query) uint32 {
	switch q {
	case ir.QueryWidth:
		return uint32(o.Size[0])
	case ir.QueryHeight:
		return uint32(o.Size[1])
	case ir.QueryDepth:
		return uint32(o.Size[2])
	case ir.QueryNormalized:
		if o.Normalized {
			return 1
		}
	}
	return 0
}
