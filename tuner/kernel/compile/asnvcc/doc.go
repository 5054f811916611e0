// Package asnvcc rewrites what clang makes of a device program on its way to PTX, so that it comes nearer to what
// nvcc 13.0 makes of it. Front rewrites the LLVM text of the front end, Optimised that of the optimiser, PTX the
// back end's. What each step is for, and what of nvcc's it was seen from, is said where it is.
//
// It is text in, text out: it starts no process and touches no file, keeps nothing, and leaves alone what it does not
// recognise. All must mean the same afterwards, bar what nvcc takes for granted where LLVM does not (trustCasts).
// Texts of clang 14, with typed pointers, and of later versions, without, are both read.
//
// It has the limits that clang's options share with it (UnrolledWhole, Together and their like), but does not know the options, nor how often
// clang is run: package compile does.
package asnvcc
