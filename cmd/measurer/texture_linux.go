package main

import (
	"encoding/binary"

	"github.com/warptune/warptune/cmd/internal/cuda"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// object is a texture or surface object of a buffer, and the array that it is of. It has one handle of the two.
type object struct {
	image   cuda.Image
	array   cuda.Array // 0: it is of the buffer's own memory
	texture cuda.Texture
	surface cuda.Surface
}

// object is the handle of the object of a job's buffer, as kernels take it: made once.
func (g *gpu) object(w *working, t *wire.Texture) ([]byte, error) {
	if w.object == nil {
		w.object = &object{} // end releases what there is of it
		if err := g.make(w.object, w.at, t); err != nil {
			return nil, err
		}
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(w.object.texture)|uint64(w.object.surface)), nil
}

func (g *gpu) make(o *object, linear cuda.Address, t *wire.Texture) (err error) {
	o.image = cuda.Image{Format: t.Format, Channels: t.Channels, Texel: t.Texel, Shape: t.Shape, Layers: t.Layers, Writable: t.Surface}
	s := &cuda.Sampler{Modes: t.Modes, Filter: t.Filter, AsIntegers: !t.ReadNormalized, Normalized: t.Normalized}
	if t.Linear {
		o.texture, err = g.LinearTexture(linear, &o.image, s)
		return err
	}
	if o.array, err = g.Array(&o.image); err != nil {
		return err
	}
	if t.Surface {
		o.surface, err = g.Surface(o.array)
	} else {
		o.texture, err = g.Texture(o.array, s)
	}
	return err
}

func (o *object) release(v *cuda.Device) {
	if o.texture != 0 {
		_ = v.ReleaseTexture(o.texture)
	}
	if o.surface != 0 {
		_ = v.ReleaseSurface(o.surface)
	}
	if o.array != 0 {
		_ = v.ReleaseArray(o.array)
	}
}

// gather has the memory of a buffer that is an array hold the array's texels.
func (g *gpu) gather(w *working) error {
	if w.object == nil || w.object.array == 0 {
		return nil
	}
	if err := g.FromArray(w.at, w.object.array, &w.object.image, g.stream); err != nil {
		return err
	}
	return g.Wait(g.stream)
}
