package asnvcc

import (
	"fmt"
	"regexp"
	"strconv"
)

var contracted = regexp.MustCompile(`(?m)^(  %\S+ = (?:[a-z]+ )+?)contract `)

// fuseLate takes the permission to fuse from each operation in the LLVM text of a device program. So products and
// sums are not fused by the general rules but by those of the NVPTX back end, which has that of the whole program
// (clangFinish). They are nvcc's: a product with readers that are no sums stays, one with two is a sum, and of
// differences none is fused but by ptxas. Of x, y and o nvcc 13.0 and clang so make the same PTX for y - 2 * x, 2 *
// x + y, 4 * x + y and x * y - o. It is add.f32 and sub.f32, add.f32, fma.rn.f32, mul.f32 and sub.f32; clang as it
// is makes four fma.rn.f32.
func fuseLate(ir []byte) []byte { return contracted.ReplaceAll(ir, []byte("$1")) }

// extraction is one of bits at a constant place, as clang's back end writes it.
var extraction = regexp.MustCompile(`(?m)^\tbfe\.([us])32 \t(%r\d+), (%r\d+), (\d+), (\d+);$`)

// splitExtractions makes shifts and masks of extractions of bits in clang's PTX, as nvcc leaves them as they are
// written. None of its 3,829 PTX in deploy/calibrate/datasets has a bfe but in users' own assembly (grep -c bfe).
// To ptxas they differ: for sm_90 it makes SHF and LOP3 of shr.u32 by 8 and and.b32 with 255, of bfe.u32 one PRMT.
func splitExtractions(ptx []byte) []byte {
	return extraction.ReplaceAllFunc(ptx, func(line []byte) []byte {
		m := extraction.FindSubmatch(line)
		at, err1 := strconv.ParseUint(string(m[4]), 10, 8)
		size, err2 := strconv.ParseUint(string(m[5]), 10, 8)
		if err1 != nil || err2 != nil || size == 0 || at+size > 32 {
			return line
		}
		to, from := m[2], m[3]
		if m[1][0] == 's' {
			return fmt.Appendf(nil, "\tshl.b32 \t%s, %s, %d;\n\tshr.s32 \t%s, %s, %d;", to, from, 32-at-size, to, to, 32-size)
		}
		return fmt.Appendf(nil, "\tshr.u32 \t%s, %s, %d;\n\tand.b32 \t%s, %s, %d;", to, from, at, to, to, uint64(1)<<size-1)
	})
}
