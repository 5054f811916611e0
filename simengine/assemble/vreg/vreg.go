package vreg

// Value is a virtual register of one to four 32-bit words; the first
// len(Kernel.Regs) values are the PTX registers.
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
	Defs    int32 // number of node (then instruction groups) that define it
	Def     int32 // index of the defining node when defs is 1
	Uniform bool  // uniform: all threads of a warp hold the same value.
	// remat: its defining instruction may be repeated before a use instead of
	// keeping the value in a register.
	Remat bool
}

// MaxWords is the largest number of words of a value.
const MaxWords = 4
