package asnvcc

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Front is what is done to the LLVM text of a device program by clang of a major version before any optimisation: VectorCopies, and what
// nvcc's would say otherwise.
func Front(ir []byte, major int) []byte {
	ir, lines := TakeLines(ir)
	return lines.Put(front(ir, major))
}

func front(ir []byte, major int) []byte {
	ir = VectorCopies(trustCasts(withoutIgnored(ir)))
	ir = keepNests(fuseLate(forgetPlaces(alignArrays(ir))))
	if major >= TokensSince {
		ir = controlConvergence(ir)
	}
	return ir
}

// Optimised is what is done to an optimised program's text before the back end.
func Optimised(ir []byte) []byte {
	ir, lines := TakeLines(ir)
	return lines.Put(shareFragments(chainAddresses(invariantLoads(withoutIdleTokens(ir)))))
}

// PTX is what is done to the PTX that the back end makes.
func PTX(ptx []byte) []byte {
	ptx, lines := takeLocs(ptx)
	return putLocs(plainBytes(splitExtractions(ptx)), lines)
}

var metadataLine = regexp.MustCompile(`(?m)^!(\d+) = `)

// freeMetadata returns a number from which on LLVM text has no metadata.
func freeMetadata(ir []byte) int {
	free := 0
	for _, m := range metadataLine.FindAllSubmatch(ir, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			free = max(free, n+1)
		}
	}
	return free
}

// spread marks all functions that call a marked one, or one that does, and so on; calls has whom each calls.
func spread(marked map[string]bool, calls map[string][]string) {
	for again := true; again; {
		again = false
		for caller, callees := range calls {
			if !marked[caller] && slices.ContainsFunc(callees, func(c string) bool { return marked[c] }) {
				marked[caller], again = true, true
			}
		}
	}
}

var wordArray = regexp.MustCompile(`(?m)^(  %\S+ = alloca \[(\d+) x (?:float|i32)\], align )4$`)

// alignArrays aligns private arrays of words as nvcc does, to the highest power of two up to 16 that their size is
// a multiple of, in the LLVM text of a device program. Their accesses can then be joined to vectors, as nvcc's are.
// (Its PTX of arrays of 6 words is aligned to 8 bytes, of 12 and of powers of two to 16.)
func alignArrays(ir []byte) []byte {
	return wordArray.ReplaceAllFunc(ir, func(line []byte) []byte {
		m := wordArray.FindSubmatch(line)
		n, err := strconv.ParseUint(string(m[2]), 10, 32)
		if err != nil || n == 0 {
			return line
		}
		align := 4
		for align < 16 && 4*n%uint64(2*align) == 0 {
			align *= 2
		}
		return fmt.Appendf(nil, "%s%d", m[1], align)
	})
}
