package call

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TensorMap describes a tensor in device memory and the boxes in which it is copied, as
// cuTensorMapEncodeTiled does. Dimensions are innermost first.
type TensorMap struct {
	Elem           Type
	Of             int     // position of the argument whose buffer it describes; -1: its own
	Offset         int64   // bytes from the buffer's start
	Shape          []int64 // elements
	Strides        []int64 // bytes, of all dimensions but the innermost
	Box            []int64 // elements
	ElementStrides []int64 // nil: 1
	Swizzle        int     // bytes: 0 (none), 32, 64 or 128
	Interleave     int     // bytes: 0 (none), 16 or 32
	L2Promotion    int     // bytes: 0 (none), 64, 128 or 256
	FillNaN        bool    // out of bounds; else zero
}

// Limits of cuTensorMapEncodeTiled.
const (
	maxRank          = 5
	MaxBox           = 256
	maxTensorExtent  = 1 << 32
	MaxTensorStride  = 1 << 40
	maxElementStride = 8
	tensorAlign      = 16 // bytes: of strides, and of a box's rows
)

// Check refuses what the driver refuses.
func (m *TensorMap) Check() error {
	rank := len(m.Shape)
	if rank < 1 || rank > maxRank {
		return fmt.Errorf("shape: a tensor map has 1 to %d dimensions, not %d", maxRank, rank)
	}
	if len(m.Strides) == 0 {
		m.Strides = packed(m.Shape, m.Elem.Bytes())
	}
	if m.Interleave > 0 && rank < 3 {
		return fmt.Errorf("interleave: takes 3 dimensions or more, not %d", rank)
	}
	for _, l := range []struct {
		name        string
		list        []int64
		n           int
		least, most int64
		multiple    int64
	}{
		{"shape", m.Shape, rank, 1, maxTensorExtent, 1},
		{"strides", m.Strides, rank - 1, tensorAlign, MaxTensorStride - tensorAlign, int64(max(tensorAlign, m.Interleave))},
		{"box", m.Box, rank, 1, MaxBox, 1},
		{"element strides", m.ElementStrides, rank, 1, maxElementStride, 1},
	} {
		if len(l.list) != l.n && !(len(l.list) == 0 && l.name == "element strides") {
			return fmt.Errorf("%s: %d numbers are needed for %d dimensions, not %d", l.name, l.n, rank, len(l.list))
		}
		for _, v := range l.list {
			if v < l.least || v > l.most || v%l.multiple != 0 {
				return fmt.Errorf("%s: %d is not a multiple of %d from %d to %d", l.name, v, l.multiple, l.least, l.most)
			}
		}
	}
	return m.checkRows()
}

// checkRows checks a box's rows, and what is filled in.
func (m *TensorMap) checkRows() error {
	row := m.Box[0] * int64(m.Elem.Bytes())
	switch {
	case m.Interleave == 0 && row%tensorAlign != 0:
		return fmt.Errorf("box: a row of %d bytes is not a multiple of %d", row, tensorAlign)
	case m.Interleave == 0 && m.Swizzle > 0 && row > int64(m.Swizzle):
		return fmt.Errorf("box: a row of %d bytes is longer than the swizzle of %d", row, m.Swizzle)
	case m.Interleave == 32 && m.Swizzle != 32:
		return fmt.Errorf("swizzle: must be 32 bytes where 32 are interleaved")
	case m.Interleave == 16 && m.Swizzle != 0:
		return fmt.Errorf("swizzle: must be none where 16 bytes are interleaved")
	}
	if m.FillNaN && !slices.Contains([]Type{Half, Bfloat16, Float, Double}, m.Elem) {
		return fmt.Errorf("elements of type %s have no NaN that is filled in", m.Elem)
	}
	return nil
}

// Size is what the tensor reaches to, from its start.
func (m *TensorMap) Size() int64 {
	n := m.Shape[0] * int64(m.Elem.Bytes())
	for i, s := range m.Strides {
		n += (m.Shape[i+1] - 1) * s
	}
	return n
}

// packed are the strides of a tensor without gaps.
func packed(shape []int64, elem int) []int64 {
	strides := make([]int64, 0, len(shape))
	n := int64(elem)
	for _, extent := range shape[:len(shape)-1] {
		if extent < 1 || extent > maxTensorExtent || n > MaxTensorStride {
			return strides // refused by its length, or its extents
		}
		n *= extent
		strides = append(strides, n)
	}
	return strides
}

// MapBytes reads a size such as "128B"; "none" and "" are 0.
func MapBytes(field, text string, known ...int) (int, error) {
	if text == "" || strings.EqualFold(text, "none") {
		return 0, nil
	}
	digits, ok := strings.CutSuffix(strings.ToUpper(text), "B")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || !slices.Contains(known, n) {
		var names []string
		for _, k := range known {
			names = append(names, fmt.Sprintf("%dB", k))
		}
		return 0, fmt.Errorf("%s: unknown %.40q; known are none, %s", field, text, strings.Join(names, ", "))
	}
	return n, nil
}

// Sizes that maps take, in bytes.
var (
	MapSwizzles    = []int{32, 64, 128}
	MapInterleaves = []int{16, 32}
	MapPromotions  = []int{64, 128, 256}
)

// FillNaN reads what takes the place of elements out of bounds.
func FillNaN(field, text string) (bool, error) {
	switch strings.ToLower(text) {
	case "", "zero", "zeros", "none":
		return false, nil
	case "nan", "nans":
		return true, nil
	}
	return false, fmt.Errorf("%s: unknown %.40q; known are zero, nan", field, text)
}
