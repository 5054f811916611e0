// Package footprint estimates, from the memory footprints of a few CTAs, what the whole grid
// asks of L2 and DRAM. There is no time here.
//
// A Survey takes CTAs that stand for the grid: one in its middle, neighbours along each axis,
// where CTAs differ in their work ones drawn from all of it. It records which granules (32 or
// 64 bytes, the unit of L2 and DRAM traffic) each touches first. Plan is what follows, by PTX instruction. It has the
// share of first touches that DRAM moves, the share that other CTAs or the previous launch left in L2, and what L2
// has lost by the time a CTA comes back to it. It says which reads CTAs wait for together, and how much of each DRAM
// row segment the traffic uses.
//
// The estimate is separable: a CTA is compared with its neighbour along each axis of the grid,
// and what the two share is taken to be shared all along the axis. Addresses that depend on data
// show as more distinct granules than the buffer has, and are treated as random; texels by index never. Lines of
// which several warps update a part each are false sharing.
package footprint
