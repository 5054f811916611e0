// Package model composes the time of a launch in closed form, in about a
// millisecond, from the traces of two or three CTAs: the level of the simulator
// that ranks configurations before package timing clocks the promising ones.
//
// The steps, each in a file of its own:
//
//   - survey: footprints of a CTA and its neighbours say what reaches DRAM; where
//     CTAs differ in their work, what follows is the mean over ones drawn from
//     all of the grid;
//   - traffic: a fully associative L1 of the CTA's share of the cache says which
//     sectors of it ask L2;
//   - walk: warps that differ are walked alone through a scoreboard, which gives
//     how long each phase between barriers takes and how long it keeps every
//     unit busy;
//   - phase: the warps of a CTA run a phase together, as jobs in a flow shop;
//   - residence: the CTAs of an SM queue for its units, by approximate mean value
//     analysis of a closed network with constant service times;
//   - grid: launch rate, waves and the last partial one.
//
// The machine's figures are those of package timing, which reads them from the
// descriptor. Nothing is stepped cycle by cycle, so what depends on the order of
// different warps' instructions (bank camping, scheduling policy, set conflicts)
// is not seen, and issue slots are not accounted.
package analytic
