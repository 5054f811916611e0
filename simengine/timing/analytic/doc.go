// Package analytic composes the time of a launch in closed form, in about a millisecond, from
// the traces of two or three CTAs: the level of the simulator that ranks configurations before
// package clock clocks the promising ones.
//
// The steps, each in a file of its own:
//
//   - footprint.SurveyGrid chooses the CTAs that are traced. Where CTAs differ in their work, what follows is the mean
//     over ones drawn from all of the grid.
//   - traffic, lines: a fully associative L1 (l1thrash) of the CTA's share of the cache says which sectors ask L2, and what
//     every request costs.
//   - warpscoreboard: warps that differ are replayed alone, in order, through a scoreboard. That gives how long each phase
//     between barriers takes and how long it keeps every unit busy.
//   - roles, bulk: in kernels that use the asynchronous units warps of different roles are replayed together, each as far
//     as it has not to wait for another.
//   - phase: the warps of a CTA run a phase together, as jobs in a flow shop.
//   - queueing: the CTAs of an SM queue for its units, by approximate mean value analysis of a closed network.
//   - grid, skew: launch rate, full waves, the last partial one, and CTAs of different lengths.
//   - inturn: CTAs that look back for the values of those before them, which are done one wave after the other.
//   - floor, metrics, report: what no launch can be faster than, the counters, the result.
//
// The figures of the GPU are those of package cost. Nothing is stepped cycle by cycle, so that
// what depends on the order of different warps' instructions (bank camping, scheduling policy,
// set conflicts) is not seen, and issue slots are not accounted for.
package analytic
