package asnvcc

import (
	"fmt"
	"regexp"
)

// placeCall is a read of where a thread is in its block and its block in the grid, or of how many there are.
var placeCall = regexp.MustCompile(`(?m)^(\s+%\S+ = (?:tail )?call .*@llvm\.nvvm\.read\.ptx\.sreg\.n?(?:cta|t)id\.[xyz]\(\)(?: #\d+)?)(\r?)$`)

// forgetPlaces keeps clang 19 and newer from knowing in what range threadIdx and its like are, in the LLVM text of
// a device program. As nvcc does not know it, it divides, compares and extends what is computed from them as
// numbers with a sign, and unrolls their loops without knowing an end. In nvcc 13.0's PTX of
// deploy/calibrate/datasets, 407 reads of %tid are asked for their sign (shr.s32 by 31) and 584 extended by
// cvt.s64.s32.
//
// clang gives these reads their range where they have none: so they are given one, of all numbers but
// the last, as no range may have all.
func forgetPlaces(ir []byte) []byte {
	if !placeCall.Match(ir) {
		return ir
	}
	free := freeMetadata(ir)
	ir = placeCall.ReplaceAll(ir, fmt.Appendf(nil, "$1, !range !%d$2", free))
	return fmt.Appendf(ir, "\n!%d = !{i32 0, i32 -1}\n", free)
}
