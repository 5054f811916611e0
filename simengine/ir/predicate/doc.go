// Package predicate turns short arms of branches into predicated instructions (if-conversion), as the
// assembler does. What only such a branch depends on is then needed neither for addresses nor for
// control flow (ir.SliceAddress): whether a logarithm's argument is infinite, which is the result of
// products of matrices.
package predicate
