package exec

// signal is what an instruction asks of the interpreter.
type signal uint8

const (
	next    signal = iota
	suspend        // the warp waits at a barrier
	retry          // the warp waits before the instruction
	faulted        // Runner.fault says why
)
