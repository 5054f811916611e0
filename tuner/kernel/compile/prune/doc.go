// Package prune leaves parts of a CUDA source out that a compiler refuses and the kernel asked for does
// not need: statements of host functions, host functions, other kernels. It is pure, and reads just
// enough C++ to see where statements and declarations begin and end. Lines keep their numbers.
package prune
