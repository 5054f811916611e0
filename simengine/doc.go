// Package simengine predicts how one configuration of a CUDA kernel runs on a
// GPU: PTX and a launch in, one Report out. It is the facade over the stages
// below it (ptx, ir, assemble, exec, arch, timing) and the place where what
// does not change between configurations is shared.
//
// It is pure and deterministic: the same request gives the same report on any
// machine, whatever was simulated before. It does not compile CUDA C++, does
// not know search spaces or sweeps, and runs on the caller's goroutine.
package simengine
