package include

import (
	"regexp"
	"slices"
	"strings"
)

// definition is a #define: of an object, or with parameters.
type definition struct {
	function bool
	params   []string
	body     string
}

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	defineLine = regexp.MustCompile(`^[ \t]*([A-Za-z_][A-Za-z0-9_]*)(\(([^)]*)\))?(.*)$`)
	comments   = regexp.MustCompile(`/\*.*?\*/|//.*`)
	pasting    = regexp.MustCompile(`[ \t]*##[ \t]*`)
	stringised = regexp.MustCompile(`#[ \t]*([A-Za-z_][A-Za-z0-9_]*)`)
)

func withoutComments(text string) string {
	return strings.TrimSpace(comments.ReplaceAllString(strings.TrimRight(text, "\r"), " "))
}

// define reads what follows #define on its line.
func define(line string) (name string, d definition, ok bool) {
	m := defineLine.FindStringSubmatch(withoutComments(line))
	if m == nil {
		return "", d, false
	}
	d = definition{function: m[2] != "", body: strings.TrimSpace(m[4])}
	for _, p := range strings.Split(m[3], ",") {
		d.params = append(d.params, strings.TrimSpace(p))
	}
	return m[1], d, true
}

// variants bounds how often a macro may be defined, for #if to choose, and expansions how
// deep macros may name macros, themselves too.
const (
	variants   = 64
	expansions = 16
	most       = 1000 // macros expanded for one text
	longest    = 4096 // bytes that one comes to
)

// expand gives what a computed #include may come to: one text for each choice among the
// definitions of the macros, the same for all of them.
func expand(text string, macros map[string][]definition) []string {
	var all []string
	for v := range variants {
		again, left := false, most
		choose := func(name string) (definition, bool) {
			list := macros[name]
			if len(list) == 0 || left == 0 {
				return definition{}, false
			}
			left--
			again = again || v+1 < len(list)
			return list[min(v, len(list)-1)], true
		}
		if got := expanded(text, choose, expansions); !slices.Contains(all, got) {
			all = append(all, got)
		}
		if !again {
			break
		}
	}
	return all
}

// expanded replaces macros in a text, those in what they come to too.
func expanded(text string, choose func(string) (definition, bool), depth int) string {
	if depth == 0 || len(text) > longest {
		return text[:min(len(text), longest)]
	}
	var out strings.Builder
	for rest := text; rest != "" && out.Len() < longest; {
		at := identifier.FindStringIndex(rest)
		if at == nil {
			out.WriteString(rest)
			break
		}
		name := rest[at[0]:at[1]]
		before, after := rest[:at[0]], rest[at[1]:]
		out.WriteString(before)
		d, ok := choose(name)
		var args []string
		if ok && d.function {
			args, after, ok = arguments(after)
			ok = ok && len(args) == len(d.params)
		}
		if !ok || strings.Count(before, `"`)%2 == 1 { // in a text
			out.WriteString(name)
			rest = rest[at[1]:]
			continue
		}
		out.WriteString(expanded(substitute(d, args, choose, depth-1), choose, depth-1))
		rest = after
	}
	return out.String()
}

// substitute puts arguments in the place of a macro's parameters.
func substitute(d definition, args []string, choose func(string) (definition, bool), depth int) string {
	given := func(name string) (string, bool) {
		i := slices.Index(d.params, name)
		if !d.function || i < 0 || i >= len(args) {
			return "", false
		}
		return strings.TrimSpace(args[i]), true
	}
	body := stringised.ReplaceAllStringFunc(pasting.ReplaceAllString(d.body, "\x00"), func(s string) string {
		if arg, ok := given(strings.TrimSpace(s[1:])); ok {
			return `"` + arg + `"`
		}
		return s
	})
	var out strings.Builder
	end := 0
	for _, at := range identifier.FindAllStringIndex(body, -1) {
		if out.Len() > longest {
			break
		}
		arg, ok := given(body[at[0]:at[1]])
		if !ok || strings.Count(body[:at[0]], `"`)%2 == 1 {
			continue
		}
		pasted := at[0] > 0 && body[at[0]-1] == 0 || at[1] < len(body) && body[at[1]] == 0
		if !pasted {
			arg = expanded(arg, choose, depth)
		}
		out.WriteString(body[end:at[0]] + arg)
		end = at[1]
	}
	return strings.ReplaceAll(out.String()+body[end:], "\x00", "")
}

// arguments splits "(a, f(b, c)) rest".
func arguments(text string) (args []string, rest string, ok bool) {
	open := strings.TrimLeft(text, " \t")
	if !strings.HasPrefix(open, "(") {
		return nil, text, false
	}
	depth, begin := 0, 1
	for i := range len(open) {
		switch open[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return append(args, open[begin:i]), open[i+1:], true
			}
		case ',':
			if depth == 1 {
				args = append(args, open[begin:i])
				begin = i + 1
			}
		}
	}
	return nil, text, false
}
