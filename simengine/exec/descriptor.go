package exec

import (
	"fmt"

	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
)

// descriptor is a matrix in shared memory as a warpgroup MMA reads it (PTX ISA, matrix
// descriptor of wgmma). It consists of core matrices: 8 rows, or columns if it is transposed, of 16
// bytes.
type descriptor struct {
	start           uint32
	leading, stride uint32 // byte offsets
	swizzle         int    // bytes: 0, 32, 64 or 128
	transposed      bool   // rows follow each other in memory, not columns
	size            int    // bytes of an element
}

// decodeDescriptor reads the fields of a descriptor.
func decodeDescriptor(v uint64, t ir.Type, transposed bool) (descriptor, error) {
	offset := func(at uint) uint32 { return uint32(v>>at&0x3fff) << 4 }
	d := descriptor{start: offset(0), leading: offset(16), stride: offset(32), transposed: transposed, size: min(t.Size(), 4)}
	d.swizzle = [4]int{0, 128, 64, 32}[v>>62]
	if base := v >> 49 & 7; base != 0 {
		return d, fmt.Errorf("a matrix descriptor with base offset %d, which is not modelled", base)
	}
	return d, nil
}

// chunk is the address of the 16 bytes that hold, of a matrix whose columns follow each other, columns
// 16/size*at and following of a row; of one that is transposed, so many rows of a column.
//
//	of no swizzle, in units of 16 bytes, T elements each (CUTLASS, mma_sm90_desc.hpp):
//	  ((8,m),(T,2)) : ((1,stride),(1T,leading))    transposed ((T,m),(8,k)) : ((1T,stride),(1,leading))
//	of a swizzle of W units:
//	  ((8,m),(T,2)) : ((W,stride),(1T,1))          transposed ((T,W,m),(8,k)) : ((1T,1,leading),(W,stride))
func (d *descriptor) chunk(line, at int) uint32 {
	w := d.swizzle / 16
	var offset uint32
	switch {
	case w == 0 && !d.transposed:
		offset = uint32(line%8)*16 + uint32(line/8)*d.stride + uint32(at)*d.leading
	case w == 0:
		offset = uint32(line%8)*16 + uint32(line/8)*d.leading + uint32(at)*d.stride
	case !d.transposed:
		offset = uint32(line%8)*uint32(d.swizzle) + uint32(line/8)*d.stride + uint32(at)*16
	default:
		offset = uint32(line%8)*uint32(d.swizzle) + uint32(line/8)*d.stride + uint32(at%w)*16 + uint32(at/w)*d.leading
	}
	return tensormap.Swizzle(d.start+offset, d.swizzle)
}
