package texture

// A CUDA array lies in device memory in tiles, so that texels near each other in two dimensions share sectors. A GOB
// (group of bytes) is 64 bytes wide and 8 rows high, 512 bytes. In it sectors of 32 bytes, 16 by 2 rows, follow
// each other (Tegra X1 TRM, block linear layout; Linux drm_fourcc.h, DRM_FORMAT_MOD_NVIDIA_BLOCK_LINEAR_2D). GOBs
// stand in blocks, one wide and up to blockGOBs high.
//
//	byte of a GOB: x5 y2 y1 x4 y0 x3 x2 x1 x0
const (
	gobWidth, gobHeight = 64, 8
	gobBytes            = gobWidth * gobHeight
	blockGOBs           = 16
)

// Index is the texel's number as it is filled and compared: row by row, slice by slice, layer by layer.
func (o *Object) Index(x, y, z, layer int) int64 {
	return ((int64(layer)*int64(o.Size[2])+int64(z))*int64(o.Size[1])+int64(y))*int64(o.Size[0]) + int64(x)
}

// Place is the address of byte x of row y of slice z of a layer, as the memory system sees it.
func (o *Object) Place(x, y, z, layer int) uint64 {
	row := o.Size[0] * o.Texel()
	if o.Linear || o.Dims == 1 {
		return o.Address + uint64(layer)*uint64(row) + uint64(y)*uint64(row) + uint64(x)
	}
	across := (row + gobWidth - 1) / gobWidth
	high := o.block()
	rows := (o.Size[1] + gobHeight*high - 1) / (gobHeight * high) // of blocks
	slice := uint64(across) * uint64(rows) * uint64(high) * gobBytes
	block := uint64(y/(gobHeight*high))*uint64(across) + uint64(x/gobWidth)
	gob := block*uint64(high) + uint64(y/gobHeight%high)
	return o.Address + uint64(layer*o.Size[2]+z)*slice + gob*gobBytes + inGOB(x%gobWidth, y%gobHeight)
}

// block is how many GOBs high a block is: no more than the array needs.
func (o *Object) block() int {
	n := 1
	for n < blockGOBs && n*gobHeight < o.Size[1] {
		n *= 2
	}
	return n
}

func inGOB(x, y int) uint64 {
	return uint64(x>>5<<8 | y>>1<<6 | x>>4&1<<5 | y&1<<4 | x&15)
}

// Bytes is what it takes of device memory, tiles in full.
func (o *Object) Bytes() uint64 {
	row := uint64(o.Size[0] * o.Texel())
	if o.Linear || o.Dims == 1 {
		return row * uint64(o.Size[1]) * uint64(max(o.Layers, 1))
	}
	across, high := (row+gobWidth-1)/gobWidth, o.block()
	rows := uint64((o.Size[1] + gobHeight*high - 1) / (gobHeight * high))
	return across * rows * uint64(high) * gobBytes * uint64(o.Size[2]) * uint64(max(o.Layers, 1))
}
