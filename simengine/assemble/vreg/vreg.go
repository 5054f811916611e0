// Package vreg has the virtual registers that PTX instructions (package hir) and machine
// instructions (package mir) share.
package vreg

// Value is a virtual register of one to four 32-bit words. The first len(Kernel.Regs) values are
// the PTX registers.
type Value int32

const None Value = -1

// File is a register file.
type File uint8

// Register files. The zero value is invalid.
const (
	NoFile File = iota
	General
	Predicate
	Uniform
	UniformPredicate
	NumFiles = iota
)

// Info describes a virtual register.
type Info struct {
	Words   uint8
	File    File
	Defs    int32 // nodes that define it
	Def     int32 // the defining node where Defs is 1, else -1
	Uniform bool  // all threads of a warp hold the same value
	// Remat: its definition may be repeated before a use, so that no register has to keep it.
	Remat bool
}

// MaxWords is the largest number of words of a value.
const MaxWords = 4
