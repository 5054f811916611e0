package call

// Texture describes a texture or surface object, as cudaCreateTextureObject does. Type and Lanes of its argument are
// those of a texel, Count is the texels of Shape.
type Texture struct {
	Shape      []int64 // texels, innermost first; of a layered one the layers last
	Layered    bool
	Surface    bool
	Linear     bool // in linear memory, row by row; else a CUDA array
	Filter     bool // linear interpolation
	Address    []AddressMode
	Normalized bool // coordinates from 0 to 1
	// ReadNormalized reads integers as floats from 0 or -1 to 1.
	ReadNormalized bool
}

// AddressMode is what a coordinate outside means.
type AddressMode uint8

// Address modes, as cudaTextureAddressMode but for their numbers.
const (
	AddressClamp AddressMode = iota
	AddressWrap
	AddressMirror
	AddressBorder
)

// Texels is how many there are.
func (t *Texture) Texels() int64 {
	n := int64(1)
	for _, v := range t.Shape {
		if n > MaxCount/v {
			return MaxCount + 1
		}
		n *= v
	}
	return n
}
