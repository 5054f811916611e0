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
	// are for kernels that the first leaves with such an array and the last does not.
	unrolls = []int{400, 800, 1200, 2400}
)

// finishAsNVCC makes PTX as nvcc would, in up to four runs of what gives it by the
// optimiser's options, of which each has the limits: with the least of unrolls that leaves no
// private array in memory, or the first where all do.
func finishAsNVCC(finish func(optimiser ...string) ([]byte, error)) ([]byte, error) {
	unrolled := func(most int) ([]byte, error) {
		return finish(append([]string{"-mllvm", fmt.Sprintf("-unroll-threshold=%d", most)}, sinkNothing...)...)
	}
	least, between, most := unrolls[0], unrolls[1:len(unrolls)-1], unrolls[len(unrolls)-1]
	first, err := unrolled(least)
	if err != nil || !hasPrivateArrays(first) {
		return first, err
	}
	last, err := unrolled(most)
	var own *Error
	if errors.As(err, &own) { // too much for the limits
		return first, nil
	} else if err != nil {
		return nil, err
	} else if hasPrivateArrays(last) {
		return first, nil // data indexes it
	}
	for _, n := range between {
		if ptx, err := unrolled(n); err != nil || !hasPrivateArrays(ptx) {
			return ptx, err
		}
	}
	return last, nil
}

// hasPrivateArrays says whether clang's PTX keeps anything of a thread's own in memory.
func hasPrivateArrays(ptx []byte) bool { return bytes.Contains(ptx, []byte("\t.local .align")) }
