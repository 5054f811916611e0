// Package loopsample says of which loops of a kernel the middle iterations may be left out when
// only its addresses and control flow are computed, and how many iterations are left.
//
// A loop qualifies if everything that its addresses and control flow depend on follows from the
// number of the iteration: from linear inductions (S. Muchnick, Advanced Compiler Design and
// Implementation, 1997, §14.1), and from registers that go through the same few values again and
// again. The interpreter (package exec, loopskip.go) executes the first iterations, checks on the
// registers' values that they do what was found here, advances the inductions, and goes on with
// the last iteration.
package loopsample
