package compile

import (
	"bytes"
	"errors"
	"fmt"
)

// NewClangAsNVCC returns a driver of clang whose optimiser is brought nearer to that of nvcc
// 13.0 where the two were seen to differ, for machines that have no nvcc: what is tuned is
// more often built with nvcc than with clang. Results say so: "clang 19.1.7 as nvcc".
func NewClangAsNVCC(limits Limits) *Clang {
	c := NewClang("", limits)
	c.asNVCC = true
	return c
}

var (
	// sinkNothing: clang moves what only a guarded store needs behind the guard, and all
	// that it reads stays alive until there; nvcc moves none of 275 tiles' sums
	// (docs/FIDELITY.md). Both passes that do so have to be told.
	sinkNothing = []string{"-mllvm", "-instcombine-code-sinking=0", "-mllvm", "-disable-machine-sink"}

	// unrolls are thresholds of LLVM's, in its instructions, up to which loops of a known number of
	// iterations are unrolled whole; clang's own is 300. nvcc's is about 400, and 2,400 for a
	// loop that indexes a private array, which then is held in registers
	// (deploy/calibrate/wholeloops.py). LLVM has one for all loops: the further ones
	// are for kernels that the first leaves with such an array, in rising order until
	// there is none.
	unrolls = []int{400, 800, 1200, 2400}
)

// finishAsNVCC makes PTX as nvcc would, in up to four runs of what gives it by the
// optimiser's options, of which each has the limits.
func finishAsNVCC(finish func(optimiser ...string) ([]byte, error)) ([]byte, error) {
	var first []byte
	for k, most := range unrolls {
		ptx, err := finish(append([]string{"-mllvm", fmt.Sprintf("-unroll-threshold=%d", most)}, sinkNothing...)...)
		var own *Error
		switch {
		case k > 0 && errors.As(err, &own): // too much for the limits
			return first, nil
		case err != nil || !hasPrivateArrays(ptx):
			return ptx, err
		case k == 0:
			first = ptx
		}
	}
	return first, nil
}

// hasPrivateArrays says whether clang's PTX keeps anything of a thread's own in memory.
func hasPrivateArrays(ptx []byte) bool { return bytes.Contains(ptx, []byte("\t.local .align")) }
