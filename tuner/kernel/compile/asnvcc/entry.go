package asnvcc

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// EntryVariable is a variable of a device program whose initial value is the address of
// the kernel that is asked for.
const EntryVariable = "warptune_entry"

var entryLine = regexp.MustCompile(`(?m)^@` + EntryVariable + ` = .*\bptr @("[^"\n]*"|[^ ,\n]+),.*\n`)

// Entry takes EntryVariable out of LLVM text, and returns the name of the kernel that it
// held, "" where there is none.
func Entry(ir []byte) (rest []byte, kernel string) {
	m := entryLine.FindSubmatchIndex(ir)
	if m == nil {
		return ir, ""
	}
	kernel = strings.Trim(string(ir[m[2]:m[3]]), `"`)
	return append(bytes.Clone(ir[:m[0]]), ir[m[1]:]...), kernel
}

// IgnoredUnroll is a factor of "#pragma unroll" that stands for one that is not positive,
// which nvcc passes over.
const IgnoredUnroll = 1000003

var ignoredUnroll = regexp.MustCompile(fmt.Sprintf(`(?m)^(!\d+) = !\{!"llvm\.loop\.unroll\.count", i32 %d\}\n`, IgnoredUnroll))

// withoutIgnored leaves loops with such a factor to the compiler, in LLVM text.
func withoutIgnored(ir []byte) []byte {
	m := ignoredUnroll.FindSubmatchIndex(ir)
	if m == nil {
		return ir
	}
	node := string(ir[m[2]:m[3]])
	ir = append(bytes.Clone(ir[:m[0]]), ir[m[1]:]...)
	loops := regexp.MustCompile(`(?m)^(!\d+ = distinct !\{.*), ` + node + `\b(.*\})$`)
	return loops.ReplaceAll(ir, []byte("$1$2"))
}
