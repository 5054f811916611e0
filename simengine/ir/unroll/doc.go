// Package unroll unrolls the loops of a kernel that ptxas unrolls. A loop is unrolled whole where the number of
// iterations is a small constant (full.go), and some iterations at a time where it is a larger one (partial.go).
// Where the number is not known, four and then two go at a time (copies.go).
package unroll
