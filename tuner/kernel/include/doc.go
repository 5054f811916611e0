// Package include finds the files that a CUDA source includes, from text alone: for the
// definition's bundle, which has to have them, and for compilations, which see no others.
//
// It is no preprocessor: what an #if leaves out counts too. It is pure but for what reads
// the files.
package include
