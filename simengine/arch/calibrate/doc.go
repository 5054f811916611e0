// Package calibrate turns the output of the microbenchmark suite in
// deploy/calibrate into figures of an architecture descriptor.
//
// It reads results and computes; it runs nothing and opens no file. Figures the
// suite does not measure come from the descriptor's base.
package calibrate
