// Package functional holds the test that joins the built-in kernels, the compile
// drivers and functional execution: every kernel, over a whole small grid, leaves
// in memory what its plain Go reference says.
package functional
