package asnvcc

import (
	"regexp"
	"strconv"
	"strings"
)

// MostStatic is how many bytes of shared memory of fixed sizes ptxas lets a kernel have, on all architectures.
const MostStatic = 48 << 10

var (
	sharedArray = regexp.MustCompile(`(?m)^@("[^"\n]*"|[^ ,\n]+) = [^\n]*\baddrspace\(3\) global ((?:\[\d+ x )+)([a-z]+\d*)\]+ `)
	globalName  = regexp.MustCompile(`@("[^"\n]*"|[\w$.-]+)`)
	loopNode    = regexp.MustCompile(`, !llvm\.loop !\d+`)
	arraySize   = regexp.MustCompile(`\d+`)
)

// scalarBytes are the sizes of LLVM's numbers.
var scalarBytes = map[string]int{"i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}

// Unlaunchable reports whether a kernel of a device program's LLVM text names more shared memory in arrays of numbers than it can be
// launched with. The text is the front end's; kernel is the kernel's name in it, or in the source.
func Unlaunchable(ir []byte, kernel string) bool {
	sizes := map[string]int{}
	for _, m := range sharedArray.FindAllSubmatch(ir, -1) {
		size := scalarBytes[string(m[3])]
		for _, n := range arraySize.FindAll(m[2], -1) {
			k, err := strconv.Atoi(string(n))
			if err != nil || k > 1<<30 || size > 1<<30 {
				size = 0
				break
			}
			size *= k
		}
		sizes[string(m[1])] = size
	}
	if len(sizes) == 0 {
		return false
	}
	text := string(ir)
	for at := 0; ; {
		i := strings.Index(text[at:], "\ndefine ")
		if i < 0 {
			return false
		}
		at += i + 1
		end := strings.Index(text[at:], "\n}")
		if end < 0 {
			return false
		}
		body := text[at : at+end]
		at += end
		head, _, _ := strings.Cut(body, "\n")
		name := globalName.FindStringSubmatch(head)
		if name == nil || strings.Trim(name[1], `"`) != kernel {
			continue
		}
		all, seen := 0, map[string]bool{}
		for _, m := range globalName.FindAllStringSubmatch(body, -1) {
			if !seen[m[1]] {
				seen[m[1]] = true
				all += sizes[m[1]]
			}
		}
		return all > MostStatic
	}
}

// WithoutLoops is LLVM text in which no loop asks to be unrolled.
func WithoutLoops(ir []byte) []byte { return loopNode.ReplaceAll(ir, nil) }
