// Package unroll unrolls the loops of a kernel that ptxas unrolls: whole where the number of
// iterations is a small constant (full.go), some iterations at a time where it is a larger one
// (partial.go), four and then two at a time where it is not known (copies.go).
package unroll
