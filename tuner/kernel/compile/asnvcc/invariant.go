package asnvcc

import (
	"bytes"
	"fmt"
	"regexp"
)

var (
	kernelName  = regexp.MustCompile(`(?:ptr|\)\*) @([-A-Za-z$._0-9]+), !"kernel"`)
	defineLine  = regexp.MustCompile(`^define (.*)@([-A-Za-z$._0-9]+)\((.*)\) `)
	constParam  = regexp.MustCompile(`(?:ptr|\*) noalias (?:[a-z]+ |align \d+ |dereferenceable(?:_or_null)?\(\d+\) )*readonly (?:[a-z]+ )*(%\S+?)(?:,|$)`)
	derivedLine = regexp.MustCompile(`^  (%\S+) = (?:getelementptr .*?(?:ptr|\*)|bitcast \S+) (%[-A-Za-z$._0-9]+)(?:,| to )`)
	loadLine    = regexp.MustCompile(`^  %\S+ = load (?:[^,va][^,]*), \S+ (%[-A-Za-z$._0-9]+), align`) // not volatile, not atomic
)

// invariantLoads marks what is loaded by way of a kernel's pointers to const that are __restrict__, for all such is
// read by ld.global.nc with nvcc. LLVM's back end looks for the pointer through six additions at most, and an address in
// an unrolled loop may be made by more.
func invariantLoads(ir []byte) []byte {
	kernels := map[string]bool{}
	for _, m := range kernelName.FindAllSubmatch(ir, -1) {
		kernels[string(m[1])] = true
	}
	free := freeMetadata(ir)
	var out bytes.Buffer
	constants := map[string]bool{}
	for line := range bytes.Lines(ir) {
		line = bytes.TrimRight(line, "\r\n")
		if m := defineLine.FindSubmatch(line); m != nil {
			clear(constants)
			if kernels[string(m[2])] || bytes.Contains(m[1], []byte("ptx_kernel ")) {
				for _, p := range constParam.FindAllSubmatch(m[3], -1) {
					constants[string(p[1])] = true
				}
			}
		} else if m := derivedLine.FindSubmatch(line); m != nil && constants[string(m[2])] {
			constants[string(m[1])] = true
		} else if m := loadLine.FindSubmatch(line); m != nil && constants[string(m[1])] && !bytes.Contains(line, []byte("!invariant.load")) {
			line = fmt.Appendf(line[:len(line):len(line)], ", !invariant.load !%d", free)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "!%d = !{}\n", free)
	return out.Bytes()
}
