package prune

import (
	"bytes"
	"regexp"
	"strings"
)

// A declaration that is one of several of its name (an overload, a specialisation, a name of an outer namespace) is
// missed by nobody when it is left out: another takes its place. So what the kernel may mean by such a name stays.

var (
	words      = regexp.MustCompile(`[A-Za-z_]\w*`)
	classHead  = regexp.MustCompile(`\b(?:class|struct|union|enum(?:\s+class)?)\s+(?:(?:__\w+|alignas)\s*\([^()]*\)\s*|\[\[[^\[\]]*\]\]\s*)*((?:\w+\s*::\s*)*)([A-Za-z_]\w*)\s*(<)?`)
	explicit   = regexp.MustCompile(`^\s*template\s*<\s*>`)
	plainHead  = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?:<[^()]*>\s*)?(?:\(|=|\[|;|\{|$)`)
	callable   = regexp.MustCompile(`\bconstexpr\b`)
	isOperator = regexp.MustCompile(`\boperator\b`)
)

// name is what a declaration declares, "" for what has no name.
func name(header string) string {
	header = string(attributes.ReplaceAll([]byte(header), nil))
	if isOperator.MatchString(header) {
		return "operator"
	}
	if m := classHead.FindStringSubmatch(unparameterised(header)); m != nil && !strings.Contains(header, "(") {
		return m[2]
	}
	if m := plainHead.FindStringSubmatch(unparameterised(header)); m != nil {
		return m[1]
	}
	return ""
}

// unparameterised is a declaration without template <…>.
func unparameterised(header string) string {
	for {
		trimmed := strings.TrimSpace(header)
		if !strings.HasPrefix(trimmed, "template") {
			return header
		}
		rest := strings.TrimLeft(trimmed[len("template"):], " \t\r\n")
		end := closing(rest)
		if end == 0 {
			return rest
		}
		header = rest[end:]
	}
}

// closing is where the angle brackets end that a text begins with, 0 where there are none.
func closing(text string) int {
	if !strings.HasPrefix(text, "<") {
		return 0
	}
	angles, rounds := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			rounds++
		case ')':
			rounds--
		case '<':
			if rounds == 0 {
				angles++
			}
		case '>':
			if rounds == 0 {
				angles--
			}
			if angles == 0 && rounds == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// specialised is the declaration of a class template's specialisation without bases and body, and how long it is; ""
// for other classes.
func specialised(header []byte) (head string, base int) {
	at := len(header) - len(unparameterised(string(header)))
	m := classHead.FindSubmatchIndex(header[at:])
	if m == nil || m[6] < 0 {
		return "", 0
	}
	open := at + m[6]
	end := closing(string(header[open:]))
	if end == 0 {
		return "", 0
	}
	return strings.Join(strings.Fields(string(header[:open+end])), " "), open + end
}

// initialisers is where those of a constructor begin in a function's header; its length without any.
func initialisers(header []byte) int {
	depth, listed := 0, false
	for i, c := range header {
		switch {
		case c == '(':
			depth, listed = depth+1, true
		case c == ')':
			depth--
		case c == ':' && depth == 0 && listed && header[i-1] != ':' && (i+1 == len(header) || header[i+1] != ':'):
			return i
		}
	}
	return len(header)
}

// stands reports whether a declaration that is refused at a place cannot be left out, as the kernel may use its name and
// another declaration could be taken for it. What has parameters of a type that is not there is called with none that is.
func (c *Cutter) stands(m *masked, at int, u unit) bool {
	header := m.text[u.start:u.end]
	if u.open >= 0 {
		header = m.text[u.start:u.open]
	}
	n := name(string(header))
	list := bytes.IndexByte(header, '(')
	isFunction := list >= 0 && !initialised.Match(outside(header))
	switch {
	case n == "":
		return false
	case isFunction && !c.device.Match(header) && !callable.Match(header):
		return false // of the host
	case isFunction && at >= u.start+parameters(header):
		return false
	case !isFunction && c.declared(n) < 2:
		return false
	}
	return c.reaches(n)
}

// parameters is where a function's list of parameters begins in its header.
func parameters(header []byte) int {
	at := len(header) - len(unparameterised(string(header)))
	for i, depth := at, 0; i < len(header); i++ {
		switch header[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth <= 0 && !attributed(header[:i]) {
				return i
			}
		}
	}
	return len(header)
}

// attributed reports whether a parenthesis behind a text belongs to an attribute.
func attributed(before []byte) bool {
	before = bytes.TrimRight(before, " \t\r\n(")
	w := words.FindAll(before, -1)
	if len(w) == 0 {
		return false
	}
	switch string(w[len(w)-1]) {
	case "__launch_bounds__", "__align__", "alignas", "__attribute__", "__declspec", "__builtin_align__", "decltype", "noexcept":
		return true
	}
	return false
}

// declared is how many declarations outside of classes have a name.
func (c *Cutter) declared(n string) int {
	count := 0
	for _, text := range c.files {
		m := mask(text)
		m.each(0, len(text), func(u unit) {
			if name(string(m.header(u))) == n {
				count++
			}
		})
	}
	return count
}

// reaches reports whether the kernel may use a name: it is one of the words of its text, or of the text of what has one of
// these for its name, and so on.
func (c *Cutter) reaches(n string) bool {
	if n == "operator" {
		return true
	}
	uses := map[string][]string{} // the words of what a name stands for
	var next []string
	for _, text := range c.files {
		for _, d := range defined.FindAllSubmatch(text, -1) {
			uses[string(d[1])] = append(uses[string(d[1])], words.FindAllString(string(d[2]), -1)...)
		}
		m := mask(text)
		m.each(0, len(text), func(u unit) {
			all := words.FindAllString(string(m.text[u.start:u.end]), -1)
			of := name(string(m.header(u)))
			uses[of] = append(uses[of], all...)
			if h := m.header(u); c.device.Match(h) && c.called.Match(h) {
				next = append(next, all...)
			}
		})
	}
	next = append(next, uses["operator"]...)
	reached := map[string]bool{}
	for len(next) > 0 {
		w := next[len(next)-1]
		next = next[:len(next)-1]
		if !reached[w] {
			reached[w] = true
			next = append(next, uses[w]...)
		}
	}
	return reached[n]
}

// header is a declaration up to its body, or all of it.
func (m *masked) header(u unit) []byte {
	if u.open >= 0 {
		return m.text[u.start:u.open]
	}
	return m.text[u.start:u.end]
}

// each visits the declarations from lo to hi that are in no class.
func (m *masked) each(lo, hi int, visit func(unit)) {
	for _, u := range m.units(lo, hi) {
		if u.kind == container {
			m.each(u.open+1, u.shut, visit)
			continue
		}
		visit(u)
	}
}
