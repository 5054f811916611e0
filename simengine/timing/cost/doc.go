// Package cost derives from the description of a GPU (arch.Descriptor) what things take of it. An instruction holds
// its issue port for a time, and its result is there after another. A request holds the load/store unit. Copies,
// matches, atomics and constant loads have costs of their own, and an SM has a share of L2 and DRAM.
//
// Times are in cycles of an SM, those named steps in fractions of one
// (dram.Fraction). What is not in the descriptor was measured; the comment at each
// number says with which benchmark of deploy/calibrate.
package cost
