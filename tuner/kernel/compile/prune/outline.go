package prune

import (
	"bytes"
	"regexp"
)

// kind is what a declaration is.
type kind uint8

const (
	other     kind = iota // a variable, an alias, a declaration without a body
	container             // a namespace, or extern "C" { … }
	class                 // a class, structure, union or enumeration
	function              // with a body
)

// unit is a declaration: the text from start to end, with a body in braces from open to shut, or none (open < 0).
type unit struct {
	kind       kind
	start, end int
	open, shut int
}

func (u *unit) body(at int) bool { return u.open >= 0 && at > u.open && at <= u.shut }

var (
	attributes  = regexp.MustCompile(`(__align__|__builtin_align__|alignas|__declspec)\s*\([^()]*(\([^()]*\))?[^()]*\)|__attribute__\s*\(\([^{}]*?\)\)`)
	isContainer = regexp.MustCompile(`^\s*(inline\s+)?namespace\b|^\s*extern\s*"\s*"\s*$`)
	isClass     = regexp.MustCompile(`^\s*((public|private|protected)\s*:\s*)*(template\s*<[^{}]*>\s*)?(typedef\s+|static\s+|const\s+)*(class|struct|union|enum)\b[^(]*$`)
	initialised = regexp.MustCompile(`[^=!<>+*/|&^%-]=[^=]`)
)

// units lists the declarations from lo to hi of a text.
func (m *masked) units(lo, hi int) []unit {
	var list []unit
	for i := m.skip(lo, hi); i < hi; i = m.skip(i, hi) {
		u := m.unit(i, hi)
		list = append(list, u)
		i = max(u.end, i+1)
	}
	return list
}

// unit reads the declaration that begins at start.
func (m *masked) unit(start, hi int) unit {
	u := unit{start: start, open: -1}
	for i := start; i < hi; i++ {
		switch m.text[i] {
		case '(':
			if to, ok := m.match[i]; ok {
				i = to
			}
		case ';':
			u.end = i + 1
			return u
		case '}':
			u.end = i + 1
			return u
		case '{':
			to, ok := m.match[i]
			if !ok || to >= hi {
				u.end = hi
				return u
			}
			k := kindOf(m.text[start:i])
			if u.open < 0 && k != other {
				u.kind, u.open, u.shut = k, i, to
			}
			i = to
			if u.kind == container || u.kind == function {
				u.end = to + 1
				return u
			}
		}
	}
	u.end = hi
	return u
}

// kindOf says what has a body, from what stands before it.
func kindOf(header []byte) kind {
	header = attributes.ReplaceAll(header, nil)
	switch {
	case isContainer.Match(header):
		return container
	case isClass.Match(header):
		return class
	case initialised.Match(outside(header)) && !bytes.Contains(header, []byte("operator")):
		return other
	case !bytes.Contains(header, []byte("(")):
		return other
	}
	return function
}

// outside is a text without what stands in parentheses or after template <.
func outside(header []byte) []byte {
	var out []byte
	depth := 0
	for _, c := range header {
		switch c {
		case '(', '<':
			depth++
		case ')', '>':
			depth = max(depth-1, 0)
		default:
			if depth == 0 {
				out = append(out, c)
			}
		}
	}
	return out
}

func (m *masked) skip(i, hi int) int {
	for i < hi && isSpace(m.text[i]) {
		i++
	}
	return i
}

// word is the word that begins at i, "" where none does.
func (m *masked) word(i int) string {
	end := i
	for end < len(m.text) && isWord(m.text[end]) {
		end++
	}
	return string(m.text[i:end])
}

// statement returns where the statement of a function that begins at i ends, and the parts of it that are
// statements or blocks themselves.
func (m *masked) statement(i, hi int) (end int, inner [][2]int) {
	i = m.skip(i, hi)
	if i >= hi {
		return hi, nil
	}
	if m.text[i] == '{' {
		to, ok := m.match[i]
		if !ok {
			return hi, nil
		}
		return to + 1, [][2]int{{i + 1, to}}
	}
	w := m.word(i)
	part := func(at int) int {
		at = m.skip(at, hi)
		end, _ := m.statement(at, hi)
		inner = append(inner, [2]int{at, end})
		return end
	}
	switch w {
	case "if", "for", "while", "switch", "catch":
		n := bytes.IndexByte(m.text[i:hi], '(')
		if n < 0 {
			break
		}
		to, ok := m.match[i+n]
		if !ok {
			break
		}
		end = part(to + 1)
		if next := m.skip(end, hi); w == "if" && next < hi && m.word(next) == "else" {
			end = part(next + len("else"))
		}
		return end, inner
	case "else", "try":
		return part(i + len(w)), inner
	case "do":
		end = part(i + len(w))
		return m.plain(end, hi), inner
	case "case", "default":
		if n := bytes.IndexByte(m.text[i:hi], ':'); n >= 0 {
			return part(i + n + 1), inner
		}
	}
	end = m.plain(i, hi)
	for at := i; at < end; at++ { // bodies of lambdas
		if to, ok := m.match[at]; ok && m.text[at] == '{' && bytes.IndexByte(m.text[at:to], ';') >= 0 {
			inner = append(inner, [2]int{at + 1, to})
			at = to
		}
	}
	return end, inner
}

// plain is where a statement ends that ends with a semicolon.
func (m *masked) plain(i, hi int) int {
	for ; i < hi; i++ {
		switch m.text[i] {
		case ';':
			return i + 1
		case '(', '{':
			if to, ok := m.match[i]; ok {
				i = to
			}
		}
	}
	return hi
}

// innermost returns the smallest statement between lo and hi that a place is in.
func (m *masked) innermost(at, lo, hi int) (from, to int, ok bool) {
	for i := m.skip(lo, hi); i < hi; i = m.skip(i, hi) {
		end, inner := m.statement(i, hi)
		if end <= i {
			end = i + 1
		}
		if at >= end {
			i = end
			continue
		}
		if at < i {
			return 0, 0, false
		}
		for _, part := range inner {
			if at >= part[0] && at < part[1] {
				if from, to, ok := m.innermost(at, part[0], part[1]); ok {
					return from, to, true
				}
			}
		}
		return i, end, m.text[i] != '{'
	}
	return 0, 0, false
}
