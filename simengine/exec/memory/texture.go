package memory

import (
	"fmt"

	"github.com/warptune/warptune/simengine/exec/texture"
)

// AddTexture makes an object of a buffer that was allocated, and returns its handle.
func (m *Device) AddTexture(buffer string, o texture.Object) (uint64, error) {
	r := m.byName[buffer]
	if r == nil {
		return 0, fmt.Errorf("texture: no buffer %q", buffer)
	}
	if err := o.Validate(); err != nil {
		return 0, err
	}
	if need := o.Texels() * int64(o.Texel()); need > int64(r.Size) {
		return 0, fmt.Errorf("%d texels of %d bytes, in a buffer of %d bytes", o.Texels(), o.Texel(), r.Size)
	}
	o.Address = r.Base
	m.textures = append(m.textures, o)
	return texture.Window + uint64(len(m.textures)), nil
}

// Texture is the object of a handle; nil: there is none.
func (m *Device) Texture(handle uint64) *texture.Object {
	if n := handle - texture.Window; n >= 1 && n <= uint64(len(m.textures)) {
		return &m.textures[n-1]
	}
	return nil
}
