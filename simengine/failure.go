package simengine

// FailureKind says what is wrong with a configuration that has no report.
// The zero value is invalid.
type FailureKind uint8

// Kinds of failure.
const (
	FailureInvalid     FailureKind = iota
	FailurePTX                     // the PTX does not parse or does not hold the kernel
	FailureUnsupported             // it uses an instruction or feature that is not modelled, named in the error
	FailureLaunch                  // no SM of the architecture can hold such a CTA, or the grid is out of range
	FailureRuntime                 // it reads or writes out of bounds, misaligned, or hangs in a barrier
	FailureCorrectness             // two threads race, or an uninitialised value matters
	FailureTimeout                 // it does not end within the step limit
)

func (k FailureKind) String() string {
	return [...]string{"invalid", "ptx", "unsupported", "launch", "runtime", "correctness", "timeout"}[k]
}

// Failure is why a configuration has no report. It belongs to the
// configuration: the same request fails in the same way everywhere.
type Failure struct {
	Kind FailureKind
	Err  error
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }
