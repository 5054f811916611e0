// Package stages has the options, and the runs, of clang's stages that bring its PTX nearer to that
// of nvcc 13.0; package asnvcc rewrites what goes from one to the next.
package stages

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc"
)

var (
	// keepBarriers has no call split in two, one for each outcome of the branch before it, where something stands
	// between the two. That is copied by clang, too, to the ends of both branches, and it may be a barrier, to
	// which the threads of a warp then come apart. No call that is convergent is split by clang itself, and all are
	// before package asnvcc tells them apart.
	keepBarriers = []string{"-mllvm", "-callsite-splitting-duplication-threshold=0"}

	// sinkNothing: clang moves what only a guarded store needs behind the guard, and all
	// that it reads stays alive until there; nvcc moves none of 275 tiles' sums
	// (docs/CALIBRATION.md). Both passes that do so have to be told.
	sinkNothing = []string{"-mllvm", "-instcombine-code-sinking=0", "-mllvm", "-disable-machine-sink"}

	// shareLoads: clang looks for an equal load among the last 100 instructions, nvcc 13.0 farther than 1,500. Of
	// twice 300 sums of products, of which one factor is the same, nvcc has 900 loads for clang's 1,200, of twice
	// 500 1,500 (TestEqualLoadsAsNVCC). A search over an image (nlm of the validation kernels, 4 pixels a thread)
	// has 200 by nvcc, 516 by clang as it is and 395 with this.
	shareLoads = []string{"-mllvm", "-memdep-block-scan-limit=4000"}

	// keepVectors: clang loads the elements of a vector each by itself if only those are used, nvcc the vector.
	// The back end puts them together again, but not where the address is the sixth of a row that
	// are computed from each other.
	keepVectors = []string{"-mllvm", "-disable-vector-combine"}

	// seePrivate: whether a barrier may touch a private array, LLVM says after looking at up to 100 of the array's
	// uses. It would say so of more if clang marked calls that it found to touch none, but none is marked that has
	// a token of convergence (asnvcc.Front). Without this, sums that a loop with barriers adds to and a rolled loop
	// indexes later are loaded and stored by each iteration; nvcc 13.0 keeps them in registers until the loop ends
	// (TestSumsBesideBarriersAsNVCC).
	seePrivate = []string{"-mllvm", "-capture-tracking-max-uses-to-explore=100000"}

	// unrolls are thresholds of LLVM's, in its instructions, up to which loops of a known number of iterations are
	// unrolled whole; clang's own is 300. That of nvcc is about 400, and 2,400 for a loop that indexes a private
	// array, which then is held in registers (deploy/calibrate/ptxas/wholeloops.py). LLVM has one for all loops:
	// the further ones are for kernels that the first leaves with such an array and the last does not.
	unrolls = []int{asnvcc.UnrolledWhole, 800, 1200, asnvcc.UnrolledMost}
)

// FillByElements leaves zeros that a loop stores element by element as they are. As clang is, it makes words of 64
// bits of them, in the optimiser and again in the back end. An array that such a word is stored to ptxas does not
// hold in registers, nvcc's it does (deploy/calibrate/ptxas/indexed.py).
const FillByElements = "-combiner-store-merging=0"

// Finish makes PTX as nvcc would, in up to four runs of what gives it by the optimiser's options, of which
// each has the limits. It takes the least of unrolls that leaves no private array in memory, or the first and
// fillByElements where all do. An error that isOwn reports to be of the program itself is that the most is too much
// for the limits.
func Finish(finish func(optimiser ...string) ([]byte, error), isOwn func(error) bool) ([]byte, error) {
	unrolled := func(most int, further ...string) ([]byte, error) {
		options := []string{"-mllvm", fmt.Sprintf("-unroll-threshold=%d", most)}
		ptx, err := finish(slices.Concat(options, keepBarriers, SharedIn32Bits, sinkNothing, shareLoads, keepVectors, seePrivate, plainLoops, unrollInPart, further)...)
		return asnvcc.PTX(ptx), err
	}
	least, between, most := unrolls[0], unrolls[1:len(unrolls)-1], unrolls[len(unrolls)-1]
	first, err := unrolled(least)
	if err != nil || !hasPrivateArrays(first) {
		return first, err
	}
	last, err := unrolled(most)
	if err != nil && isOwn(err) {
		return first, nil
	} else if err != nil {
		return nil, err
	} else if hasPrivateArrays(last) {
		return unrolled(least, "-mllvm", FillByElements) // data indexes it, or it is unrolled only in part
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
