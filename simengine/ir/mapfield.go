package ir

var mapFieldNames = [...]string{
	MapAddress: "global_address", MapRank: "rank", MapBox: "box_dim", MapShape: "global_dim", MapStride: "global_stride",
	MapElementStride: "element_stride", MapElement: "elemtype", MapInterleave: "interleave_layout", MapSwizzle: "swizzle_mode", MapFill: "fill_mode",
}

// String is the PTX spelling, e.g. "box_dim".
func (f MapField) String() string { return name(mapFieldNames[:], int(f), "field") }

// ValueType is the type of a field's value.
func (f MapField) ValueType() Type {
	if f == MapAddress || f == MapStride {
		return B64
	}
	return B32
}

// LargestConstant is the largest value of a field that is written as a constant; 0: it may be a register.
func (f MapField) LargestConstant() int64 {
	switch f {
	case MapElement:
		return 12
	case MapInterleave:
		return 2
	case MapSwizzle:
		return 3
	case MapFill:
		return 1
	}
	return 0
}

// PerDimension reports whether a field has a value for each dimension.
func (f MapField) PerDimension() bool { return f >= MapBox && f <= MapElementStride }
