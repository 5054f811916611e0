package asnvcc

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// chainAddresses makes addresses of others in the LLVM text of an optimised device program, as nvcc does. Of in[y*n
// + x] and in[(y+1)*n + x], both of 32-bit numbers, the second is the first one's address and the bytes of n: one
// addition of 64 bits. Here clang computes each from the start, by a product or sum of 32 bits, its extension and
// an addition. Where a loop is unrolled all those products are held in registers, one for each copy of its body,
// from iteration to iteration.
//
// Of addresses that differ by constants only, it computes what they have in common apart, in 64 bits. So in[(y*224
// + x + 1) * 128 + c] is in[(y*224 + x) * 128 + c] and 512 bytes, for which a load has room. LLVM does so where the
// constant is added last; but clang multiplies after it, in 32 bits where it knows that nothing overflows. There
// nvcc does so too. It takes multiples of a variable for steps where the source computes in 64 bits, as here if y
// is a size_t. An index that clang extends by its sign at the very end was computed in 32.
//
// An address is taken from one that is computed before it whenever it is: in the same block
// or in one that alone leads to it, and they differ by one variable or a multiple of it.
func chainAddresses(ir []byte) []byte {
	var out bytes.Buffer
	var f *addressWriter
	for line := range bytes.Lines(ir) {
		switch {
		case bytes.HasPrefix(line, []byte("define ")):
			f = newAddressWriter()
		case bytes.HasPrefix(line, []byte("}")):
			if f != nil {
				f.write(&out)
			}
			f = nil
		}
		if f == nil {
			out.Write(line)
		} else {
			f.read(bytes.TrimRight(line, "\r\n"))
		}
	}
	return out.Bytes()
}

// addressWriter rewrites one function.
type addressWriter struct {
	lines    []string
	values   map[string]value  // by name: sums, products and extensions of numbers
	narrow   map[string]bool   // the names of numbers of 32 bits that those have
	sums     map[string]linear // of those asked for
	families map[string]*family
	blocks   map[string]bool // all but the first, which has no name
	scopes   map[string][]address

	written int // names given
}

func newAddressWriter() *addressWriter {
	return &addressWriter{
		values: map[string]value{}, narrow: map[string]bool{}, sums: map[string]linear{},
		families: map[string]*family{}, blocks: map[string]bool{}, scopes: map[string][]address{},
	}
}

// value is an instruction on numbers of 32 bits whose result does not overflow or on those of 64, or an extension.
type value struct {
	op   string // "add", "sub", "mul", "shl", "sext" or "zext"
	a, b string
}

// linear is a sum of products of variables: of each the factor. The constant's key is "".
type linear map[string]int64

// address is a getelementptr by a sum.
type address struct {
	name        string
	of          string // what its index is counted from, with types
	index, tail string
	sum         linear
	short       bool // all in 32 bits, as the source has it
}

// The most terms of a sum, operations that it is followed through, and addresses that are looked back at.
const (
	maxTerms    = 8
	maxDepth    = 12
	maxLookBack = 64
)

var (
	valueLine  = regexp.MustCompile(`^  (%\S+) = (?:(add|sub|mul|shl)(?: nuw)?(?: nsw (i32)| nsw (i64)| (i64))|(or) disjoint (i32|i64)) (%?[-A-Za-z$._0-9]+), (%?[-A-Za-z$._0-9]+)(?:,|$)`)
	extendLine = regexp.MustCompile(`^  (%\S+) = (?:(sext)|(zext) nneg) i32 (%[-A-Za-z$._0-9]+) to i64`)
	indexLine  = regexp.MustCompile(`^  (%\S+) = getelementptr (?:inbounds |nuw |nusw )*(\S+, \S+ [%@][-A-Za-z$._0-9]+), i64 (%[-A-Za-z$._0-9]+)(,.*)?$`)
	blockLine  = regexp.MustCompile(`^([-A-Za-z$._0-9]+):(?:\s*; preds = (.*))?$`)
)

func (w *addressWriter) read(line []byte) {
	w.lines = append(w.lines, string(line))
	if m := valueLine.FindStringSubmatch(string(line)); m != nil {
		op := m[2]
		if m[6] != "" {
			op = "add" // of numbers without a common bit
		}
		w.values[m[1]] = value{op, m[8], m[9]}
		if m[3] != "" || m[7] == "i32" {
			w.narrow[m[8]], w.narrow[m[9]] = true, true
		}
	} else if m := extendLine.FindStringSubmatch(string(line)); m != nil {
		w.values[m[1]] = value{op: m[2] + m[3], a: m[4]}
		w.narrow[m[4]] = true
	} else if m := blockLine.FindSubmatch(line); m != nil {
		w.blocks["%"+string(m[1])] = true
	}
}

// write writes the function, line by line. A block begins with the addresses of the block before it if only
// that one leads to it and was written already.
func (w *addressWriter) write(out *bytes.Buffer) {
	for _, line := range w.lines {
		if a, ok := w.address(line); ok {
			w.family(a).enter(a.sum[""], !a.short && w.added(a.index, maxDepth) != a.sum[""])
		}
	}
	var block string
	var scope []address
	for _, line := range w.lines {
		if m := blockLine.FindStringSubmatch(line); m != nil {
			w.scopes[block] = scope
			block, scope = "%"+m[1], w.before(m[2])
		} else if a, ok := w.address(line); ok {
			if !a.short && w.family(a).apart() && a.sum.isPlain() {
				w.split(out, a)
			} else if from, stride, times := w.nearest(a, scope); from != "" {
				w.step(out, a, from, stride, times)
			} else {
				fmt.Fprintln(out, line)
			}
			scope = append(scope[:len(scope):len(scope)], a)
			continue
		}
		fmt.Fprintln(out, line)
	}
}

// address reads a line that computes one.
func (w *addressWriter) address(line string) (address, bool) {
	m := indexLine.FindStringSubmatch(line)
	if m == nil {
		return address{}, false
	}
	return address{name: m[1], of: m[2], index: m[3], tail: m[4], sum: w.sum(m[3], maxDepth), short: w.values[m[3]].op == "sext"}, true
}

// family is those of a function's addresses that differ by constants only.
type family struct {
	entered bool
	first   int64 // of their constants
	many    bool  // others
	late    bool  // one of which is not added last
}

func (f *family) enter(constant int64, late bool) {
	if !f.entered {
		f.entered, f.first = true, constant
	}
	f.many = f.many || constant != f.first
	f.late = f.late || late
}

// apart says whether what its addresses have in common is to be computed apart.
func (f *family) apart() bool { return f.many && f.late }

func (w *addressWriter) family(a address) *family {
	key := a.of
	for _, term := range a.sum.terms() {
		key += fmt.Sprintf(" %d*%s", a.sum[term], term)
	}
	f := w.families[key]
	if f == nil {
		f = &family{}
		w.families[key] = f
	}
	return f
}

// added is the constants that the additions at the end of a sum add.
func (w *addressWriter) added(name string, depth int) int64 {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		return n
	}
	v, ok := w.values[name]
	if !ok || depth == 0 {
		return 0
	}
	switch v.op {
	case "sext", "zext":
		return w.added(v.a, depth-1)
	case "add":
		return w.added(v.a, depth-1) + w.added(v.b, depth-1)
	case "sub":
		return w.added(v.a, depth-1) - w.added(v.b, depth-1)
	}
	return 0
}

// before is what a block may take addresses of that the named ones lead to.
func (w *addressWriter) before(blocks string) []address {
	if !w.blocks[blocks] && !strings.Contains(blocks, ",") {
		blocks = ""
	}
	return w.scopes[blocks]
}

var pointerOf = regexp.MustCompile(`^(.* )[%@]\S+$`)

// step writes an address as one from another.
func (w *addressWriter) step(out *bytes.Buffer, a address, from, stride string, times int64) {
	wide := w.multiple(out, stride, times)
	fmt.Fprintf(out, "  %s = getelementptr %s%s, i64 %s%s\n", a.name, pointerOf.FindStringSubmatch(a.of)[1], from, wide, a.tail)
}

// split writes an address as one without its constant, and that.
func (w *addressWriter) split(out *bytes.Buffer, a address) {
	index := "0"
	for _, term := range a.sum.terms() {
		part := w.multiple(out, term, a.sum[term])
		if index != "0" {
			part = w.compute(out, "add i64 %s, %s", index, part)
		}
		index = part
	}
	common := w.compute(out, "getelementptr %s, i64 %s%s", a.of, index, a.tail)
	fmt.Fprintf(out, "  %s = getelementptr %s%s, i64 %d%s\n", a.name, pointerOf.FindStringSubmatch(a.of)[1], common, a.sum[""], a.tail)
}

// multiple is so many times a variable, in 64 bits.
func (w *addressWriter) multiple(out *bytes.Buffer, name string, times int64) string {
	if w.narrow[name] {
		name = w.compute(out, "sext i32 %s to i64", name)
	}
	if times == 1 {
		return name
	}
	return w.compute(out, "mul i64 %s, %d", name, times)
}

// compute writes an instruction and names its result.
func (w *addressWriter) compute(out *bytes.Buffer, format string, operands ...any) string {
	name := fmt.Sprintf("%%warptune.address%d", w.written)
	w.written++
	fmt.Fprintf(out, "  %s = %s\n", name, fmt.Sprintf(format, operands...))
	return name
}

// nearest is the last of the addresses that a is a multiple of one variable of 32 bits beyond.
func (w *addressWriter) nearest(a address, scope []address) (from, stride string, times int64) {
	for i := len(scope) - 1; i >= max(0, len(scope)-maxLookBack); i-- {
		if scope[i].of != a.of {
			continue
		}
		if stride, times := a.sum.beyond(scope[i].sum); w.narrow[stride] && (times == 1 || !a.short) {
			return scope[i].name, stride, times
		}
	}
	return "", "", 0
}

// beyond is the variable, and how many times that, by which l is more than o; "" if they differ otherwise.
func (l linear) beyond(o linear) (stride string, times int64) {
	more := maps.Clone(l)
	for term, n := range o {
		more.plus(term, -n)
	}
	for term, n := range more {
		if len(more) == 1 && n > 0 && term != "" && !strings.Contains(term, "*") {
			return term, n
		}
	}
	return "", 0
}

// terms are those of variables, in order.
func (l linear) terms() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l)), func(term string) bool { return term == "" })
}

// isPlain says whether no term is a product of two variables.
func (l linear) isPlain() bool {
	return !slices.ContainsFunc(l.terms(), func(term string) bool { return strings.Contains(term, "*") })
}

// sum takes a number apart.
func (w *addressWriter) sum(name string, depth int) linear {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		return linear{}.plus("", n)
	}
	if l, ok := w.sums[name]; ok {
		return l
	}
	l := linear{name: 1}
	if v, ok := w.values[name]; ok && (v.op == "sext" || v.op == "zext") {
		l = w.sum(v.a, depth)
	} else if ok && depth > 0 {
		a, b := w.sum(v.a, depth-1), w.sum(v.b, depth-1)
		if s, ok := combine(v.op, a, b); ok && len(s) <= maxTerms {
			l = s
		}
	}
	w.sums[name] = l
	return l
}

// combine is a sum, difference or product of two; of products those that are of two variables at most.
func combine(op string, a, b linear) (linear, bool) {
	s := linear{}
	switch op {
	case "add", "sub":
		maps.Copy(s, a)
		for term, n := range b {
			if op == "sub" {
				n = -n
			}
			s.plus(term, n)
		}
	case "shl":
		by := b[""]
		if len(b) > 1 || b[""] < 0 || by > 63 {
			return nil, false
		}
		for term, n := range a {
			s.plus(term, n<<by)
		}
	case "mul":
		for t, n := range a {
			for u, m := range b {
				product, ok := times(t, u)
				if !ok {
					return nil, false
				}
				s.plus(product, n*m)
			}
		}
	}
	return s, true
}

// plus adds a term.
func (l linear) plus(term string, n int64) linear {
	if l[term] += n; l[term] == 0 {
		delete(l, term)
	}
	return l
}

// times is the key of a product; there is none of three variables.
func times(a, b string) (string, bool) {
	switch {
	case a == "" || b == "":
		return a + b, true
	case strings.Contains(a+b, "*"):
		return "", false
	case a > b:
		a, b = b, a
	}
	return a + "*" + b, true
}
