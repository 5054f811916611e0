package asnvcc

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// trustCasts has what is copied as a vector of CUDA's aligned as one on both sides, in the LLVM text of a device
// program before any optimisation, as to nvcc. Of *(uint4 *)&tile[k] = v nvcc makes st.shared.v4.u32 whatever tile
// is declared as. Where tile's elements are halves, clang knows them to be aligned to 2 bytes, and stores eight of
// them. (In nvcc's PTX of deploy/calibrate/datasets/h200-tensor-cores wmma_gemm has 14 such stores of 16 bytes, in
// clang's none.) In a program with a struct of its own of as many elements of the same size nothing is trusted.
func trustCasts(ir []byte) []byte {
	types := readElements(ir)
	own := ownShapes(ir)
	var out bytes.Buffer
	for line := range bytes.Lines(ir) {
		c, ok := readCopy(line)
		e := types[c.elements]
		if align := max(c.toAlign, c.fromAlign); ok && e.kind != "" && align >= e.total && e.total == c.size && c.size <= 16 && !own[e.shape()] {
			line = alignment.ReplaceAll(line, fmt.Appendf(nil, "align %d ", align))
		}
		out.Write(line)
	}
	return out.Bytes()
}

// shape is what a struct of like elements looks like to one who does not know its name.
type shape struct{ count, bytes int64 }

func (e elements) shape() shape { return shape{e.total / e.bytes, e.bytes} }

var (
	alignment  = regexp.MustCompile(`align \d+ `)
	structType = regexp.MustCompile(`(?m)^%(\S+) = type \{ (.*) \}\r?$`)
	cudaVector = regexp.MustCompile(`^struct\.(?:u?(?:char|short|int|long|longlong)|float|double)[234]$`)
	scalarSize = map[string]int64{"i8": 1, "i16": 2, "i32": 4, "i64": 8, "half": 2, "float": 4, "double": 8}
)

// ownShapes returns the shapes of a program's structs that are not vectors of CUDA's.
func ownShapes(ir []byte) map[shape]bool {
	shapes := map[shape]bool{}
	for _, m := range structType.FindAllSubmatch(ir, -1) {
		fields := strings.Split(string(m[2]), ", ")
		size := scalarSize[fields[0]]
		for _, f := range fields {
			if scalarSize[f] != size {
				size = 0
			}
		}
		if size > 0 && !cudaVector.Match(m[1]) {
			shapes[shape{int64(len(fields)), size}] = true
		}
	}
	return shapes
}
