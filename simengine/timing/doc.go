// Package timing is what the two levels that time a launch are asked, and what
// they answer: an Input, and a Result with the unit that bounds it.
//
// Package clock replays the traces of a few CTAs through one SM, cycle by cycle.
// Package analytic composes the time from the same traces in closed form. Neither
// imports the other. Both rest on
//
//   - cost: the figures of a GPU, and what an instruction, a request, a copy or an
//     atomic takes of it;
//   - footprint: which CTAs stand for the grid, and from what they touch what reaches
//     L2 and DRAM;
//   - coalesce, cache, dram and makespan: lines and sectors of a warp's addresses, the
//     tags of L1, an SM's share of L2 and DRAM, CTAs of different lengths on the SMs.
//
// A test holds these directions.
package timing
