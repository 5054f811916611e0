// Package arch describes GPU architectures: data files with a source for every number, and the CUDA rules that
// follow from them without any timing. The rules are of the allocation granularity of registers and shared memory,
// of occupancy and its limiter, and of the shared memory carve-out that the driver picks.
//
// It holds no model of time; package timing reads its descriptors. It reads no
// file: the descriptors it knows are embedded, and a user's own arrives as bytes
// through Parse.
package arch
