package asnvcc

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shareFragments has fragments of matrices loaded from shared memory, and stored there, by instructions that name
// it and by addresses of 32 bits. It does so where the LLVM text of an optimised device program shows what memory
// it is, as nvcc does. All 24 PTX of wmma_gemm in deploy/calibrate/datasets/h200-tensor-cores load by
// wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 and its like, from a %r. The header device/mma.h cannot tell
// before clang 20 and assembles the generic instruction, for which one address of 64 bits for each fragment is held
// from iteration to iteration.
func shareFragments(ir []byte) []byte {
	if !bytes.Contains(ir, []byte(` "wmma.`)) {
		return ir
	}
	var out bytes.Buffer
	var function [][]byte
	written := 0
	for line := range bytes.Lines(ir) {
		function = append(function, line)
		if bytes.HasPrefix(line, []byte("}")) {
			written = writeFragments(&out, function, written)
			function = function[:0]
		}
	}
	out.Write(bytes.Join(function, nil))
	return out.Bytes()
}

// writeFragments writes one function's lines. So many addresses were named before it, and so many are after it.
func writeFragments(out *bytes.Buffer, function [][]byte, written int) int {
	shared := sharedPointers(function)
	for _, line := range function {
		f, ok := readFragment(string(line))
		if !ok || !shared.has(f.address) {
			out.Write(line)
			continue
		}
		name, narrow := fmt.Sprintf("%%warptune.fragment%d", written), inShared(f.pointer)
		written++
		fmt.Fprintf(out, "  %s = addrspacecast %s %s to %s\n%s", name, f.pointer, f.address, narrow, f.by(narrow+" "+name))
	}
	return written
}

// inShared is a type of generic pointers as one of pointers into shared memory.
func inShared(pointer string) string {
	if to, typed := strings.CutSuffix(pointer, "*"); typed {
		return to + " addrspace(3)*"
	}
	return pointer + " addrspace(3)"
}

// fragment is a line that loads or stores one by an instruction that names no memory.
type fragment struct {
	name, text, end  string // the instruction's name up to the shape, the rest of the assembly, and what follows the operands
	constraints      []string
	operands         []string
	first            int // of the constraints that is one of an operand, not of a result
	at               int // which operand is the address
	pointer, address string
}

var (
	fragmentLine = regexp.MustCompile(`(?s)^(.* asm sideeffect "wmma\.(?:load|store)\.[a-d]\.sync\.aligned\.(?:row|col)\.m\d+n\d+k\d+)(\.[a-z0-9]+ [^"\[]*\[\$(\d+)\][^"]*", ")([^"]*)"\((.*)$`)
	plainPointer = regexp.MustCompile(`^(ptr|\S+\*) (?:nonnull |noundef )*(.+)$`)
)

func readFragment(line string) (fragment, bool) {
	m := fragmentLine.FindStringSubmatch(line)
	if m == nil {
		return fragment{}, false
	}
	f := fragment{name: m[1], text: m[2], constraints: strings.Split(m[4], ",")}
	f.first = max(0, slices.IndexFunc(f.constraints, func(c string) bool { return !strings.HasPrefix(c, "=") }))
	place, err := strconv.Atoi(m[3])
	f.at = place - f.first
	var ok bool
	if f.operands, f.end, ok = cutOperands(m[5]); !ok || err != nil || f.at < 0 || f.at >= len(f.operands) || f.constraints[place] != "l" {
		return fragment{}, false
	}
	p := plainPointer.FindStringSubmatch(f.operands[f.at])
	if p == nil {
		return fragment{}, false
	}
	f.pointer, f.address = p[1], p[2]
	return f, true
}

// cutOperands cuts what follows a call's opening bracket into the operands and the rest of the line.
func cutOperands(text string) (operands []string, end string, ok bool) {
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case strings.ContainsRune("([{<", r):
			depth++
		case r == ')' && depth == 0:
			return append(operands, strings.TrimSpace(text[from:i])), text[i+1:], true
		case strings.ContainsRune(")]}>", r):
			depth--
		case r == ',' && depth == 0:
			operands, from = append(operands, strings.TrimSpace(text[from:i])), i+1
		}
	}
	return nil, "", false
}

// by is the line with an address of shared memory.
func (f fragment) by(address string) string {
	f.constraints[f.first+f.at], f.operands[f.at] = "r", address
	return f.name + ".shared" + f.text + strings.Join(f.constraints, ",") + `"(` + strings.Join(f.operands, ", ") + ")" + f.end
}

// sharedNames are a function's values that are known to be addresses of shared memory.
type sharedNames map[string]bool

var (
	genericLine    = regexp.MustCompile(`^  (%\S+) = addrspacecast (?:ptr addrspace\(3\)|.* addrspace\(3\)\*) [%@]`)
	sharedVariable = regexp.MustCompile(`addrspacecast \((?:ptr addrspace\(3\)|[^@]* addrspace\(3\)\*) @`)
	placeLine      = regexp.MustCompile(`^  (%\S+) = (?:getelementptr .*?, (?:ptr|[^,]*\*)|bitcast .*?\*) (%[-A-Za-z$._0-9]+|(?:addrspacecast|getelementptr|bitcast) .*)`)
)

// has says whether an address, a name or an expression of constants, is one.
func (s sharedNames) has(address string) bool {
	return s[address] || address[0] != '%' && sharedVariable.MatchString(address)
}

// sharedPointers finds the places in variables of shared memory, and those so far from such a one. What comes from
// either of two blocks is not looked into.
func sharedPointers(function [][]byte) sharedNames {
	shared := sharedNames{}
	for again := true; again; {
		again = false
		for _, line := range function {
			if m := genericLine.FindSubmatch(line); m != nil {
				shared[string(m[1])] = true
			} else if m := placeLine.FindSubmatch(line); m != nil && !shared[string(m[1])] && shared.has(string(m[2])) {
				shared[string(m[1])], again = true, true
			}
		}
	}
	return shared
}
