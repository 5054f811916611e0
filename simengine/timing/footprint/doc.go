// Package reuse estimates, from the memory footprints of a few CTAs, what the
// whole grid asks of DRAM: how many of the bytes a CTA touches first are new to
// the device, and how many another CTA, or the previous launch of the same
// kernel, has left in the second-level cache; and of what a CTA comes back to, how much
// that cache has lost by then. It says as well how locality that is, of which DRAM opens more for
// the same bytes, and which reads CTAs that walk the same data in step wait for together.
//
// The estimate is separable: a CTA is compared with its neighbours along each
// axis of the grid, and what it shares with them is taken to hold all along the
// axis. Data-dependent addressing shows as more distinct bytes than the address
// range holds, and is treated as random; lines that several warps update in place, each
// a part, are counted as false sharing. There is no time here.
package footprint
