// Package cost derives from the description of a GPU (arch.Descriptor) what things
// take of it: how long an instruction holds its issue port and when its result is
// there, how long a request holds the load/store unit, what copies, matches, atomics
// and constant loads cost, and which share of L2 and DRAM an SM has.
//
// Times are in cycles of an SM, those named steps in fractions of one
// (dram.Fraction). What is not in the descriptor was measured; the comment at each
// number says with which benchmark of deploy/calibrate.
package cost
