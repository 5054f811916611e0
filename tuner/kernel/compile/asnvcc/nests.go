package asnvcc

import (
	"bytes"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// keepNests keeps loops with others in them from being unrolled in part, in the LLVM text of a device program
// before any optimisation. The innermost only are unrolled by nvcc 13.0 (deploy/calibrate/ptxas/partloops.py: of
// loop_within, loop_without and known_within what is around the inner loop is written out once). A loop of a known
// number of iterations does not count as one, as it may be unrolled whole, nor does one that its author says how to
// unroll change. Innermost loops of a known number of iterations are told how many go together where the options
// would have it otherwise.
func keepNests(ir []byte) []byte {
	p := readNests(ir)
	free := freeMetadata(ir)
	edits := map[int]int{} // by line of a loop's metadata: the number of what is added
	for _, f := range p.functions {
		for _, l := range f.loops {
			m, ok := p.metadata[l.number]
			switch {
			case !ok || strings.Contains(p.properties(l), "llvm.loop.unroll."):
			case !p.within(f, l):
				if n := p.together(f, l); n > 0 {
					edits[m.line] = free + bits.Len64(uint64(n))
				}
			case l.counted && l.most > fewIterations:
				edits[m.line] = free
			default:
				edits[m.line] = free + 1
			}
		}
	}
	if len(edits) == 0 {
		return ir
	}
	var out bytes.Buffer
	for i, line := range p.lines {
		if n, ok := edits[i]; ok {
			line = fmt.Sprintf("%s, !%d}", strings.TrimSuffix(line, "}"), n)
		}
		out.WriteString(line)
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "!%d = !{!\"llvm.loop.unroll.disable\"}\n!%d = !{!\"llvm.loop.unroll.runtime.disable\"}\n", free, free+1)
	for k, n := free+2, 2; n <= mostTogether; k, n = k+1, 2*n {
		fmt.Fprintf(&out, "!%d = !{!\"llvm.loop.unroll.count\", i32 %d}\n", k, n)
	}
	return out.Bytes()
}

// UnrolledWhole is up to how many of LLVM's instructions a loop of a known number of iterations is unrolled whole: about
// as many as by nvcc (deploy/calibrate/ptxas/wholeloops.py).
const UnrolledWhole = 400

// UnrolledMost is the same of one that indexes a private array.
const UnrolledMost = 2400

// Of loops that are not unrolled whole nvcc 13.0 has at most Together iterations go together, whatever their number, while they
// come to at most UnrolledInPart of LLVM's instructions (deploy/calibrate/ptxas/partloops.py).
const (
	Together       = 4
	UnrolledInPart = 200
)

// fewIterations is up to how many of a loop with another in it are left to be unrolled whole. More come to over
// UnrolledWhole if what is around the inner loop, and its own body, are taken for 25 instructions, an estimate.
const fewIterations = 16

var (
	storeInt   = regexp.MustCompile(`^  store i(?:8|16|32|64) (\S+), (?:ptr|i\d+\*) (%\S+),`)
	loadInt    = regexp.MustCompile(`^  (%\S+) = load i(?:8|16|32|64), (?:ptr|i\d+\*) (%\S+),`)
	compareInt = regexp.MustCompile(`^  %\S+ = icmp (\S+) i(?:8|16|32|64) (\S+), (\S+)$`)
	addInt     = regexp.MustCompile(`^  (%\S+) = add (?:n[us]w )*i(?:8|16|32|64) (%\S+), (-?\d+)$`)
	localArray = regexp.MustCompile(`^  %\S+ = alloca \[`)
	localLine  = regexp.MustCompile(`^  (%\S+) = alloca `)
	latchLine  = regexp.MustCompile(`^  br .*, !llvm\.loop !(\d+)$`)
	labelUse   = regexp.MustCompile(`label %([^,\s]+)`)
	metaLine   = regexp.MustCompile(`^!(\d+) = (?:distinct )?!\{(.*)\}$`)
)

// nests is LLVM text as far as keepNests reads it.
type nests struct {
	lines     []string
	functions map[string]*nestFunction
	metadata  map[string]loopMetadata // by number
	repeat    map[string]bool         // functions that have a loop which stays one, or call one that has
	arrays    bool                    // some function has a private array
}

type loopMetadata struct {
	line int
	text string
}

// nestFunction is a function that is defined.
type nestFunction struct {
	from, to int // lines
	loops    []nestLoop
	calls    []nestCall
	locals   map[string]bool     // local variables
	stored   map[string][]string // by local variable: what is stored there
}

type nestCall struct {
	line   int
	callee string
}

// nestLoop is a loop from the label that it returns to, to the line that returns.
type nestLoop struct {
	from, to int
	number   string // of its metadata
	counted  bool   // it begins and ends at constants
	most     int64  // iterations, if it goes by one
	step     int64  // by how much it goes, 0: not known
}

func readNests(ir []byte) *nests {
	p := &nests{functions: map[string]*nestFunction{}, metadata: map[string]loopMetadata{}, repeat: map[string]bool{}}
	var f *nestFunction
	labels := map[string]int{}
	for i, line := range strings.Split(strings.TrimSuffix(string(ir), "\n"), "\n") {
		p.lines = append(p.lines, line)
		switch m := functionLine.FindStringSubmatch(line); {
		case m != nil && m[1] == "define":
			f = &nestFunction{from: i, locals: map[string]bool{}, stored: map[string][]string{}}
			p.functions[m[2]] = f
			labels = map[string]int{}
		case line == "}":
			if f != nil {
				f.to = i
			}
			f = nil
		case f != nil:
			f.read(p.lines, labels)
			p.arrays = p.arrays || localArray.MatchString(line)
		default:
			if m := metaLine.FindStringSubmatch(line); m != nil {
				p.metadata[m[1]] = loopMetadata{i, m[2]}
			}
		}
	}
	calls := map[string][]string{}
	for name, f := range p.functions {
		for k := range f.loops {
			f.count(p.lines, &f.loops[k])
		}
		p.repeat[name] = slices.ContainsFunc(f.loops, p.stays)
		for _, c := range f.calls {
			calls[name] = append(calls[name], c.callee)
		}
	}
	spread(p.repeat, calls)
	return p
}

// read reads the last of lines, which is the function's.
func (f *nestFunction) read(lines []string, labels map[string]int) {
	i := len(lines) - 1
	line := lines[i]
	if m := labelLine.FindStringSubmatch(line); m != nil {
		labels[m[1]] = i
	} else if m := localLine.FindStringSubmatch(line); m != nil {
		f.locals[m[1]] = true
	} else if m := storeInt.FindStringSubmatch(line); m != nil {
		f.stored[m[2]] = append(f.stored[m[2]], m[1])
	} else if m := latchLine.FindStringSubmatch(line); m != nil {
		for _, to := range labelUse.FindAllStringSubmatch(line, -1) {
			if from, ok := labels[to[1]]; ok {
				f.loops = append(f.loops, nestLoop{from: from, to: i, number: m[1]})
				break
			}
		}
	} else if m := callee.FindStringSubmatch(line); m != nil && callLine.MatchString(line) {
		f.calls = append(f.calls, nestCall{i, m[1]})
	}
}

// count finds whether a loop counts from a constant to one: it is entered after a variable is set to a constant,
// and begins by comparing that with another.
func (f *nestFunction) count(lines []string, l *nestLoop) {
	head := lines[l.from:min(l.from+5, l.to)]
	enter := lines[max(l.from-4, f.from):l.from]
	loaded := map[string]string{}
	for _, line := range head {
		if m := loadInt.FindStringSubmatch(line); m != nil {
			loaded[m[1]] = m[2]
			continue
		}
		m := compareInt.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		variable, end := loaded[m[2]], f.constant(m[3], loaded)
		begin := ""
		for _, e := range enter {
			if s := storeInt.FindStringSubmatch(e); s != nil && s[2] == variable {
				begin = f.constant(s[1], nil)
			}
		}
		a, err1 := strconv.ParseInt(begin, 10, 64)
		b, err2 := strconv.ParseInt(end, 10, 64)
		if err1 == nil && err2 == nil {
			l.counted, l.most = true, max(a-b, b-a)
			l.step = f.step(lines[l.from:l.to], variable)
			if strings.HasSuffix(m[1], "le") || strings.HasSuffix(m[1], "ge") {
				l.most++
			}
		}
		return
	}
}

// step returns by how much a loop's variable goes on where it is set once before the loop, and once in it, to a constant
// more or less than it was, else 0.
func (f *nestFunction) step(loop []string, variable string) (by int64) {
	if len(f.stored[variable]) != 2 {
		return 0
	}
	of := map[string]string{}
	for _, line := range loop {
		if m := loadInt.FindStringSubmatch(line); m != nil {
			of[m[1]] = m[2]
		} else if m := addInt.FindStringSubmatch(line); m != nil && of[m[2]] == variable && slices.Contains(f.stored[variable], m[1]) {
			by, _ = strconv.ParseInt(m[3], 10, 64) // 0 if it is none
		}
	}
	return max(by, -by)
}

// constant returns the constant that an operand is, also that of a variable which is set once, or "".
func (f *nestFunction) constant(operand string, loaded map[string]string) string {
	if v, ok := loaded[operand]; ok && len(f.stored[v]) == 1 {
		operand = f.stored[v][0]
	}
	if strings.HasPrefix(operand, "%") {
		return ""
	}
	return operand
}

// stays says whether a loop is one after optimisation.
func (p *nests) stays(l nestLoop) bool {
	return !l.counted || l.most > UnrolledWhole || strings.Contains(p.properties(l), "llvm.loop.unroll.disable")
}

// properties returns the text of a loop's metadata, with that of what it refers to.
func (p *nests) properties(l nestLoop) string {
	var text strings.Builder
	for r := range strings.SplitSeq(p.metadata[l.number].text, ", !") {
		text.WriteString(p.metadata[r].text)
	}
	return text.String()
}

// within says whether another loop is in one, or in what that calls, and stays.
func (p *nests) within(f *nestFunction, l nestLoop) bool {
	return slices.ContainsFunc(f.loops, func(o nestLoop) bool { return o.from > l.from && o.to < l.to && p.stays(o) }) ||
		slices.ContainsFunc(f.calls, func(c nestCall) bool { return c.line > l.from && c.line < l.to && p.repeat[c.callee] })
}
