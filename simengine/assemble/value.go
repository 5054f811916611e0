package assemble

// value is a virtual register of one to four 32-bit words; the first
// len(Kernel.Regs) values are the PTX registers.
type value int32

const noValue value = -1

// file is a register file.
type file uint8

// Register files. The zero value is invalid.
const (
	fileNone file = iota
	fileGeneral
	filePred
	fileUniform
	fileUniformPred
	numFiles = iota
)

// valueInfo describes a virtual register.
type valueInfo struct {
	words uint8
	file  file
	defs  int32 // number of node (then instruction groups) that define it
	def   int32 // index of the defining node when defs is 1
	// uniform: all threads of a warp hold the same value.
	uniform bool
	// remat: its defining instruction may be repeated before a use instead of
	// keeping the value in a register.
	remat bool
}

// maxWords is the largest number of words of a value.
const maxWords = 4
