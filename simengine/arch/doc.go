// Package arch describes GPU architectures: data files with a source for every
// number, and the CUDA rules that follow from them without any timing: register
// and shared memory allocation granularity, occupancy and its limiter, and the
// shared memory carve-out the driver picks.
//
// It holds no model of time; package timing reads its descriptors. It reads no
// file: the descriptors it knows are embedded, and a user's own arrives as bytes
// through Parse.
package arch
