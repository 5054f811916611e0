// Package sroa moves arrays from a thread's local memory to registers: scalar replacement of
// aggregates (S. Muchnick, Advanced Compiler Design and Implementation, 1997, §12.2).
//
// Promote does what ptxas does: an array whose elements are chosen at constant places, or at few
// places that are computed at run time, becomes one register an element. Mirror serves the
// simulator alone: it leaves the accesses and keeps in a register what they move, so that
// inductions and conditions that pass through local memory can be followed.
package sroa
