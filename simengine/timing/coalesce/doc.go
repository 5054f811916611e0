// Package coalesce turns the addresses of a warp's memory instruction into
// what the memory system sees of it: 128-byte lines, 32-byte sectors and the
// passes its lanes need through memory banks. Its Recorder observes package
// exec and builds the records of package trace.
//
// It knows nothing of caches or time: a line that is recorded may hit or miss.
package coalesce
