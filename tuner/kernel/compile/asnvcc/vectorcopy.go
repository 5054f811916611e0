package asnvcc

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// VectorCopies rewrites, in the LLVM text of a device program before any optimisation, copies of aligned structs of
// equal elements (float4, and a user's own) as loads and stores of vectors. That is what nvcc's front end makes of
// them; clang's are llvm.memcpy. Those are taken apart into elements where the struct is used by elements, and only
// sometimes put together again by the load/store vectoriser. Where the struct is copied from memory to memory they
// are in halves of 64 bits.
//
// The types themselves stay plain structs, so all that C++ allows with them compiles.
// Both texts are read: with typed pointers (clang 14) and without.
func VectorCopies(ir []byte) []byte {
	types := readElements(ir)
	if len(types) == 0 {
		return ir
	}
	w := copyWriter{types: types}
	for line := range bytes.Lines(ir) {
		w.add(line)
	}
	return bytes.Join(w.lines, nil)
}

// copyWriter gathers the lines of the new text.
type copyWriter struct {
	types map[string]elements
	lines [][]byte
	n     int // copies rewritten

	// Of the function that is being read: where blocks end, and the addresses that the
	// present block begins by choosing.
	block string
	ends  map[string]int
	phis  map[string]phi
}

// phi is what address a block takes from each of the blocks before it. In "v = c ? *p : q"
// the conditional operator may give an lvalue: an address, of p or of q, which keeps q in memory.
// The load of it is moved to before the choice.
type phi struct {
	addresses, blocks [2]string
	line              int // after which another may follow
}

var (
	labelLine = regexp.MustCompile(`^([-A-Za-z$._0-9]+):`)
	phiLine   = regexp.MustCompile(`^\s+(%[-A-Za-z$._0-9]+) = phi ptr \[ ([^\[\]]+), %([-A-Za-z$._0-9]+) \], \[ ([^\[\]]+), %([-A-Za-z$._0-9]+) \]$`)
	jumpLine  = regexp.MustCompile(`^\s+br label %`)
	effect    = regexp.MustCompile(`^\s+(store|fence|(.* )?(call|invoke|atomicrmw|cmpxchg)) `)
)

func (w *copyWriter) add(line []byte) {
	text := bytes.TrimRight(line, "\r\n")
	if c, ok := readCopy(line); ok {
		if vector, piece := w.types[c.elements].vector(c.size, max(c.toAlign, c.fromAlign)); piece > 0 {
			w.copy(c, vector, piece)
			w.phis = nil // it stores
			return
		}
	}
	switch m := labelLine.FindSubmatch(text); {
	case bytes.HasPrefix(text, []byte("define ")):
		w.block, w.ends, w.phis = "", map[string]int{}, nil
	case m != nil:
		w.block, w.phis = string(m[1]), map[string]phi{}
	case jumpLine.Match(text) && w.ends != nil:
		w.ends[w.block] = len(w.lines)
	case effect.Match(text):
		w.phis = nil
	default:
		if m := phiLine.FindSubmatch(text); m != nil && w.phis != nil {
			w.phis[string(m[1])] = phi{[2]string{string(m[2]), string(m[4])}, [2]string{string(m[3]), string(m[5])}, len(w.lines)}
		}
	}
	w.lines = append(w.lines, slices.Clip(line))
}

// copy writes a copy, in pieces.
func (w *copyWriter) copy(c structCopy, vector string, piece int64) {
	for at := int64(0); at < c.size; at += piece {
		value := fmt.Sprintf("%%warptune.copy%d", w.n)
		if choice, ok := w.phis[c.from]; ok && w.jumps(choice) {
			for i, from := range choice.addresses {
				end := w.ends[choice.blocks[i]]
				load := c.load(fmt.Sprintf("%s.%d", value, i), from, at, vector, piece)
				w.lines[end] = append(load, w.lines[end]...)
			}
			w.lines[choice.line] = append(w.lines[choice.line], fmt.Appendf(nil, "  %s = phi %s [ %s.0, %%%s ], [ %s.1, %%%s ]\n", value, vector, value, choice.blocks[0], value, choice.blocks[1])...)
		} else {
			w.lines = append(w.lines, c.load(value, c.from, at, vector, piece))
		}
		w.lines = append(w.lines, c.store(value, at, vector, piece))
		w.n++
	}
}

// jumps says whether both blocks do nothing after what was read of them but come here.
func (w *copyWriter) jumps(p phi) bool {
	_, first := w.ends[p.blocks[0]]
	_, second := w.ends[p.blocks[1]]
	return first && second
}

// structCopy is one call of llvm.memcpy.
type structCopy struct {
	pointer  string // "ptr" or "i8*"
	to, from string

	// What the addresses are known to be aligned to. In "*(float4 *)&tile[k] = v" the first
	// is tile's, which may be less than float4's.
	toAlign, fromAlign int64

	size     int64
	elements string // the number of the metadata that tells the elements
}

var memcpyCall = regexp.MustCompile(`^\s+(?:tail )?call void @llvm\.memcpy\.p0(?:i8)?\.p0(?:i8)?\.i64\((.*), i64 (\d+), i1 false\)(?: #\d+)?(?:, ![a-z.]+ !\d+)*, !tbaa\.struct !(\d+)`)

func readCopy(line []byte) (structCopy, bool) {
	m := memcpyCall.FindSubmatch(line)
	if m == nil {
		return structCopy{}, false
	}
	c := structCopy{elements: string(m[3])}
	var err error
	if c.size, err = strconv.ParseInt(string(m[2]), 10, 64); err != nil {
		return c, false
	}
	operands := splitOperands(string(m[1]))
	if len(operands) != 2 {
		return c, false
	}
	c.pointer, c.to, c.toAlign = readAddress(operands[0])
	_, c.from, c.fromAlign = readAddress(operands[1])
	return c, c.toAlign > 0 && c.fromAlign > 0
}

// splitOperands cuts at the comma outside all brackets: an address may be an expression.
func splitOperands(s string) []string {
	depth := 0
	for i, r := range s {
		switch r {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
		case '"':
			return nil // a quoted name may hold anything
		case ',':
			if depth == 0 {
				return []string{s[:i], strings.TrimSpace(s[i+1:])}
			}
		}
	}
	return nil
}

var alignedAddress = regexp.MustCompile(`^(ptr|i8\*)(?: nonnull| noundef| dereferenceable\(\d+\))* align (\d+)(?: nonnull| noundef| dereferenceable\(\d+\))* (.+)$`)

func readAddress(operand string) (pointer, address string, align int64) {
	m := alignedAddress.FindStringSubmatch(operand)
	if m == nil {
		return "", "", 0
	}
	align, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return "", "", 0
	}
	return m[1], m[3], align
}

// load gives the load of the vector of so many bytes at an offset.
func (c structCopy) load(value, from string, offset int64, vector string, piece int64) []byte {
	text, address := c.address(value+".from", from, offset, vector)
	return fmt.Appendf(text, "  %s = load %s, %s, align %d\n", value, vector, address, min(c.fromAlign, piece))
}

func (c structCopy) store(value string, offset int64, vector string, piece int64) []byte {
	text, address := c.address(value+".to", c.to, offset, vector)
	return fmt.Appendf(text, "  store %s %s, %s, align %d\n", vector, value, address, min(c.toAlign, piece))
}

func (c structCopy) address(name, of string, offset int64, vector string) (text []byte, address string) {
	if offset > 0 {
		text = fmt.Appendf(text, "  %s.at = getelementptr inbounds i8, %s %s, i64 %d\n", name, c.pointer, of, offset)
		of = name + ".at"
	}
	if c.pointer == "ptr" {
		return text, "ptr " + of
	}
	text = fmt.Appendf(text, "  %s = bitcast i8* %s to %s*\n", name, of, vector)
	return text, vector + "* " + name
}

// elements are what a struct is made of, without gaps.
type elements struct {
	kind  string // "float", "double" or "i"; "" when they are not alike
	bytes int64  // of one
	total int64
}

// maxVectors bounds what one copy becomes: a large struct is copied by a loop anyway.
const maxVectors = 8

// vector is the vector type of which copies of the struct are made, and its bytes: up to 16.
func (e elements) vector(size, align int64) (string, int64) {
	piece := min(align, 16)
	if e.kind == "" || e.total != size || piece <= e.bytes || size%piece != 0 || size/piece > maxVectors {
		return "", 0
	}
	kind := e.kind
	if kind == "i" {
		kind = fmt.Sprintf("i%d", 8*e.bytes)
	}
	return fmt.Sprintf("<%d x %s>", piece/e.bytes, kind), piece
}

var (
	metadata  = regexp.MustCompile(`(?m)^!(\d+) = !\{(.*)\}\r?$`)
	field     = regexp.MustCompile(`i64 (\d+), i64 (\d+), !(\d+)`)
	reference = regexp.MustCompile(`^!(\d+), `)
)

// scalars are the names that clang gives types for alias analysis, with their bytes. (An array,
// whatever its elements, is a char of many bytes.)
var scalars = map[string]struct {
	kind  string
	bytes int64
}{
	"float": {"float", 4}, "double": {"double", 8}, "omnipotent char": {"i", 1}, "short": {"i", 2},
	"int": {"i", 4}, "long": {"i", 8}, "long long": {"i", 8},
}

// readElements reads what the metadata of struct copies says: offset, size and type of each
// field; a type there is an access tag, whose first operand is the type, which begins with its name.
func readElements(ir []byte) map[string]elements {
	nodes := map[string]string{}
	for _, m := range metadata.FindAllSubmatch(ir, -1) {
		nodes[string(m[1])] = string(m[2])
	}
	types := map[string]elements{}
	for number, body := range nodes {
		if strings.HasPrefix(body, "i64 0, i64 ") {
			if e := readFields(body, nodes); e.kind != "" {
				types[number] = e
			}
		}
	}
	return types
}

func readFields(body string, nodes map[string]string) elements {
	var e elements
	for _, m := range field.FindAllStringSubmatch(body, -1) {
		offset, err1 := strconv.ParseInt(m[1], 10, 64)
		size, err2 := strconv.ParseInt(m[2], 10, 64)
		tag := reference.FindStringSubmatch(nodes[m[3]])
		if err1 != nil || err2 != nil || tag == nil || offset != e.total {
			return elements{}
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(nodes[tag[1]], `!"`), `"`)
		s, ok := scalars[name]
		if !ok || size != s.bytes || e.kind != "" && s.bytes != e.bytes {
			return elements{}
		}
		kind := s.kind
		if e.kind != "" && kind != e.kind {
			kind = "i"
		}
		e = elements{kind, s.bytes, e.total + size}
	}
	return e
}
