package prune

import (
	"bytes"
	"slices"
	"strings"
)

// masked is a text in which only code is left: comments, what literals hold and directives are blanks.
type masked struct {
	text  []byte
	match map[int]int // of each brace and parenthesis that opens, the one that closes it
}

// mask reads a text.
func mask(src []byte) *masked {
	m := &masked{text: bytes.Clone(src), match: map[int]int{}}
	var branches []branch
	var open []int
	start := true // of a line
	for i := 0; i < len(src); {
		end := i + 1
		switch c := src[i]; {
		case c == '\n':
			start = true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case bytes.HasPrefix(src[i:], []byte("//")):
			end = lineEnd(src, i)
			m.blank(i, end)
		case bytes.HasPrefix(src[i:], []byte("/*")):
			end = after(src, i+2, "*/")
			m.blank(i, end)
			i = end
			continue
		case c == '#' && start:
			end = lineEnd(src, i)
			branches, open = m.branched(directive(src[i:end]), i, branches, open)
			m.blank(i, end)
		case c == '"' || c == '\'' && !digitBefore(src, i):
			end = m.literal(src, i)
		case c == '{' || c == '(':
			open = append(open, i)
		case c == '}' || c == ')':
			open = m.closes(open, i)
		}
		start, i = false, end
	}
	return m
}

// closes finds the partner of a closing brace or parenthesis.
func (m *masked) closes(open []int, at int) []int {
	opener := byte('{')
	if m.text[at] == ')' {
		opener = '('
	}
	for n := len(open) - 1; n >= 0; n-- {
		if m.text[open[n]] == opener {
			m.match[open[n]] = at
			return open[:n]
		}
		if opener == '(' {
			break // a brace is never left for a parenthesis
		}
	}
	return open
}

// literal blanks what a string or character holds, and returns where it ends.
func (m *masked) literal(src []byte, i int) int {
	if src[i] == '"' && i > 0 && src[i-1] == 'R' {
		if n := bytes.IndexByte(src[i:], '('); n >= 0 {
			end := after(src, i+n, ")"+string(src[i+1:i+n])+`"`)
			m.blank(i+1, end-1)
			return end
		}
	}
	end := i + 1
	for ; end < len(src) && src[end] != src[i] && src[end] != '\n'; end++ {
		if src[end] == '\\' {
			end++
		}
	}
	end = min(end, len(src))
	m.blank(i+1, end)
	return min(end+1, len(src))
}

func (m *masked) blank(from, to int) { blank(m.text, from, to) }

// blank writes blanks over a part of a text, but keeps its lines.
func blank(text []byte, from, to int) {
	for ; from < min(to, len(text)); from++ {
		if text[from] != '\n' {
			text[from] = ' '
		}
	}
}

// branch is an #if: the braces that are open before its branches, and where the branch that is read begins.
type branch struct {
	open  []int
	begin int
}

// branched follows a conditional directive: each branch begins with the braces that were open before the first. Of
// branches that leave others open, the last counts.
func (m *masked) branched(name string, at int, branches []branch, open []int) ([]branch, []int) {
	n := len(branches) - 1
	switch {
	case strings.HasPrefix(name, "if"):
		return append(branches, branch{slices.Clone(open), at}), open
	case strings.HasPrefix(name, "el") && n >= 0:
		if !slices.Equal(open, branches[n].open) {
			m.blank(branches[n].begin, at)
		}
		branches[n].begin = at
		return branches, slices.Clone(branches[n].open)
	case name == "endif" && n >= 0:
		return branches[:n], open
	}
	return branches, open
}

func directive(line []byte) string {
	fields := strings.FieldsFunc(string(line), func(r rune) bool { return r < 'a' || r > 'z' })
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

// lineEnd is where a line ends, those that continue it too.
func lineEnd(src []byte, i int) int {
	for i < len(src) {
		n := bytes.IndexByte(src[i:], '\n')
		if n < 0 {
			return len(src)
		}
		if i += n; !bytes.HasSuffix(bytes.TrimRight(src[:i], "\r"), []byte(`\`)) {
			return i
		}
		i++
	}
	return len(src)
}

// after is where a text ends that ends with closing.
func after(src []byte, from int, closing string) int {
	if n := bytes.Index(src[min(from, len(src)):], []byte(closing)); n >= 0 {
		return from + n + len(closing)
	}
	return len(src)
}

func digitBefore(src []byte, i int) bool { return i > 0 && isWord(src[i-1]) }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
