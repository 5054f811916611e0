package exec

// signal is what an instruction asks of the interpreter.
type signal uint8

const (
	next     signal = iota
	suspend         // the warp waits at a barrier
	retry           // the warp waits before the instruction
	spinning        // the warp looked once more whether it need wait for another thread
	told            // the warp may have written what others wait for
	faulted         // Runner.fault says why
)
