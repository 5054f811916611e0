package arch

// Sizes that every GPU of NVIDIA so far has, from compute capability 7.5 on.
const (
	// WarpSize is the threads of a warp.
	WarpSize = 32
	// LineBytes is the size of a line of L1 and L2, the unit of a tag.
	LineBytes = 128
	// SectorBytes is the size of a sector, a quarter of a line and the unit that is filled
	// and moved.
	SectorBytes = 32
)
