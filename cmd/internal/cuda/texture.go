//go:build linux

package cuda

// Image describes texels: of an array, or in linear memory. Numbers are those of cuda.h.
type Image struct {
	Format   int      // CUarray_format
	Channels int      // of a texel
	Texel    int      // bytes
	Shape    []uint64 // texels, innermost first
	Layers   uint64   // 0: not layered
	Writable bool     // kernels may store to it, as a surface
}

// Sampler is how a texture is read. Numbers are those of cuda.h.
type Sampler struct {
	Modes      [3]uint32 // CUaddress_mode
	Filter     uint32    // CUfilter_mode
	AsIntegers bool      // integers are not read as floats from 0 or -1 to 1
	Normalized bool      // coordinates are from 0 to 1
}

// Array is a CUDA array, whose texels lie as the driver likes.
type Array uintptr

// Texture and Surface are objects, as kernels take them by value.
type (
	Texture uint64
	Surface uint64
)

// side is the texels of a dimension: 1 beyond the last.
func (i *Image) side(d int) uint64 {
	if d < len(i.Shape) {
		return i.Shape[d]
	}
	return 1
}

// arrayDescriptor is CUDA_ARRAY3D_DESCRIPTOR.
type arrayDescriptor struct {
	width, height, depth uint64
	format               uint32
	channels, flags      uint32
}

// Flags of arrays (CUDA_ARRAY3D_...).
const (
	arrayLayered = 1
	arraySurface = 2
)

// Array allocates one.
func (v *Device) Array(i *Image) (Array, error) {
	d := &arrayDescriptor{width: i.side(0), format: uint32(i.Format), channels: uint32(i.Channels)}
	if len(i.Shape) > 1 {
		d.height = i.Shape[1]
	}
	if len(i.Shape) > 2 {
		d.depth = i.Shape[2]
	}
	if i.Layers > 0 {
		d.depth, d.flags = i.Layers, arrayLayered
	}
	if i.Writable {
		d.flags |= arraySurface
	}
	var a Array
	err := v.call("cuArray3DCreate_v2", ptr(&a), ptr(d))
	return a, err
}

// ReleaseArray frees an array.
func (v *Device) ReleaseArray(a Array) error { return v.call("cuArrayDestroy", a) }

// copyEnd is one end of CUDA_MEMCPY3D.
type copyEnd struct {
	_             [4]uint64 // x, in bytes, y, z, level
	kind          uint32    // CUmemorytype
	_             uintptr   // of the host
	device        Address
	array         Array
	_             uintptr
	pitch, height uint64 // bytes, rows: of linear memory
}

// Kinds of memory (CUmemorytype).
const (
	memoryDevice = 2
	memoryArray  = 3
)

// copy3D is CUDA_MEMCPY3D.
type copy3D struct {
	from, to             copyEnd
	width, height, depth uint64 // width in bytes
}

// ToArray copies texels, row by row, to an array, in the order of a stream.
func (v *Device) ToArray(to Array, from Address, i *Image, s Stream) error {
	return v.copyArray(i, i.linear(from), copyEnd{kind: memoryArray, array: to}, s)
}

// FromArray copies an array's texels to memory, row by row, in the order of a stream.
func (v *Device) FromArray(to Address, from Array, i *Image, s Stream) error {
	return v.copyArray(i, copyEnd{kind: memoryArray, array: from}, i.linear(to), s)
}

func (i *Image) linear(at Address) copyEnd {
	return copyEnd{kind: memoryDevice, device: at, pitch: i.row(), height: i.side(1)}
}

// row is the bytes of a row.
func (i *Image) row() uint64 { return i.side(0) * uint64(i.Texel) }

func (v *Device) copyArray(i *Image, from, to copyEnd, s Stream) error {
	return v.call("cuMemcpy3DAsync_v2", ptr(&copy3D{from, to, i.row(), i.side(1), max(i.Layers, i.side(2))}), s)
}

// resource is CUDA_RESOURCE_DESC.
type resource struct {
	kind  uint32 // CUresourcetype
	_     uint32
	at    uint64    // the array, or the address of linear memory
	is    [2]uint32 // format and channels, of linear memory
	sizes [3]uint64 // bytes; or texels, rows and bytes of a row
	_     [88]byte
	_     [2]uint32 // flags
}

// Kinds of resource (CUresourcetype).
const (
	resourceArray   = 0
	resourceLinear  = 2
	resourcePitch2D = 3
)

// sampling is CUDA_TEXTURE_DESC.
type sampling struct {
	modes         [3]uint32
	filter, flags uint32
	_             [2]uint32  // anisotropy, filter of mipmaps
	_             [3]float32 // levels of mipmaps
	_             [4]float32 // border
	_             [12]int32
}

// Flags of textures (CU_TRSF_...).
const (
	readAsInteger         = 1
	normalizedCoordinates = 2
)

// Texture makes a texture object of an array.
func (v *Device) Texture(a Array, s *Sampler) (Texture, error) {
	return v.texture(&resource{kind: resourceArray, at: uint64(a)}, s)
}

// LinearTexture makes a texture object of linear memory.
func (v *Device) LinearTexture(at Address, i *Image, s *Sampler) (Texture, error) {
	r := &resource{kind: resourceLinear, at: uint64(at), is: [2]uint32{uint32(i.Format), uint32(i.Channels)}, sizes: [3]uint64{i.row()}}
	if len(i.Shape) > 1 {
		r.kind, r.sizes = resourcePitch2D, [3]uint64{i.Shape[0], i.Shape[1], i.row()}
	}
	return v.texture(r, s)
}

func (v *Device) texture(r *resource, s *Sampler) (t Texture, err error) {
	d := &sampling{modes: s.Modes, filter: s.Filter}
	if s.AsIntegers {
		d.flags |= readAsInteger
	}
	if s.Normalized {
		d.flags |= normalizedCoordinates
	}
	err = v.call("cuTexObjectCreate", ptr(&t), ptr(r), ptr(d), 0)
	return t, err
}

// ReleaseTexture frees an object. Its texels stay.
func (v *Device) ReleaseTexture(t Texture) error { return v.call("cuTexObjectDestroy", uintptr(t)) }

// Surface makes a surface object of an array.
func (v *Device) Surface(a Array) (s Surface, err error) {
	err = v.call("cuSurfObjectCreate", ptr(&s), ptr(&resource{kind: resourceArray, at: uint64(a)}))
	return s, err
}

// ReleaseSurface frees an object. Its texels stay.
func (v *Device) ReleaseSurface(s Surface) error { return v.call("cuSurfObjectDestroy", uintptr(s)) }
