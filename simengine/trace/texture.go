package trace

// MostTexels is the most texels that one fetch reads.
const MostTexels = 8

// TextureRequest is what the lanes of a warp read or write through the texture unit. Lanes of Mask[n] access texel n of
// their fetches at Place[n], where the array's tiles put it in device memory.
type TextureRequest struct {
	PC    int
	Width int    // bytes of a texel, or of a surface access
	Lanes uint32 // that fetch, those too that read the border alone
	N     int    // texels of a fetch: 1, or 2, 4 or 8 that are filtered
	Mask  [MostTexels]uint32
	Place [MostTexels][32]uint64
	At    [32]uint64 // of a store: the address that outputs have it at, row by row
	// Filtered is how many texels of each lane the unit blends: 1, or all of N.
	Filtered int
	// OneDimension says that it has one coordinate, Gather that it gathers a channel of four texels.
	OneDimension, Gather bool
}
