// Package cuda calls NVIDIA's driver, libcuda.so.1, which is loaded at run time:
// no cgo, no CUDA SDK. It has the calls that measuring a launch takes: memory,
// modules, launches with all their attributes, tensor maps, graphs and events.
//
// Names and numbers are those of the CUDA Driver API (cuda.h of CUDA 13.0).
// A context belongs to one goroutine that is locked to its thread.
package cuda
