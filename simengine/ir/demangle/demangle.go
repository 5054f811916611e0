// Package demangle reads names that a C++ compiler mangled, as far as kernels have them.
package demangle

import (
	"slices"
	"strconv"
	"strings"
)

// Function is a name mangled by the Itanium C++ ABI, read as far as is needed to find a kernel by
// the name in its source.
type Function struct {
	Scopes []string // namespaces and the function's own name; unnamed namespaces are left out
	args   []string // of its template; "" is one that was not read
	is     bool     // it is an instance of a template
}

// Parse reads a mangled name. It reports whether it is that of a function and has no parts that
// kernels do not have.
func Parse(name string) (Function, bool) {
	d := demangler{text: name}
	var f Function
	if !d.take("_Z") {
		return f, false
	}
	nested := d.take("N")
	for !d.failed {
		d.take("L") // of internal linkage
		if c := d.peek(); c < '0' || c > '9' {
			break
		}
		if id := d.identifier(); id != "_GLOBAL__N_1" {
			f.Scopes = append(f.Scopes, id)
		}
		if d.take("I") {
			f.is, f.args = true, d.arguments()
		}
		if !nested {
			break
		}
	}
	return f, len(f.Scopes) > 0 && !d.failed
}

type demangler struct {
	text   string
	failed bool
}

func (d *demangler) take(prefix string) bool {
	rest, ok := strings.CutPrefix(d.text, prefix)
	if ok {
		d.text = rest
	}
	return ok
}

func (d *demangler) peek() byte {
	if d.text == "" {
		return 0
	}
	return d.text[0]
}

// identifier reads its length, then it.
func (d *demangler) identifier() string {
	digits := len(d.text) - len(strings.TrimLeft(d.text, "0123456789"))
	n, err := strconv.Atoi(d.text[:digits])
	if err != nil || n > len(d.text)-digits {
		d.failed = true
		return ""
	}
	id := d.text[digits : digits+n]
	d.text = d.text[digits+n:]
	return id
}

// builtins are the types with a letter of their own.
var builtins = map[byte]string{
	'v': "void", 'b': "bool", 'c': "char", 'a': "signed char", 'h': "unsigned char", 's': "short", 't': "unsigned short",
	'i': "int", 'j': "unsigned int", 'l': "long", 'm': "unsigned long", 'x': "long long", 'y': "unsigned long long",
	'f': "float", 'd': "double",
}

// arguments reads template arguments up to their E. It stops before anything but a builtin type, a
// user's type or a number.
func (d *demangler) arguments() []string {
	var args []string
	for !d.take("E") {
		c := d.peek()
		switch {
		case builtins[c] != "":
			d.text = d.text[1:]
			args = append(args, builtins[c])
		case c >= '0' && c <= '9':
			args = append(args, d.identifier())
		case c == 'L' && len(d.text) > 2 && builtins[d.text[1]] != "":
			value, rest, ok := strings.Cut(d.text[2:], "E")
			if !ok {
				d.failed = true
				return args
			}
			if d.text[1] == 'b' {
				value = map[string]string{"0": "false", "1": "true"}[value]
			}
			args, d.text = append(args, strings.Replace(value, "n", "-", 1)), rest
		default:
			return append(args, "")
		}
		if d.failed {
			return args
		}
	}
	return args
}

// Called reports whether a source may call the function so: by its name with all its namespaces or
// the last of them, and by its template arguments where they are given and known.
func (f *Function) Called(name string) bool {
	base, list, given := strings.Cut(strings.TrimPrefix(strings.TrimSpace(name), "::"), "<")
	scopes := strings.Split(strings.ReplaceAll(base, " ", ""), "::")
	if n := len(f.Scopes) - len(scopes); n < 0 || !slices.Equal(f.Scopes[n:], scopes) {
		return false
	}
	if !given {
		return true
	}
	list = strings.TrimSuffix(strings.TrimSpace(list), ">")
	for i, want := range strings.Split(list, ",") {
		if !f.is || i < len(f.args) && !mayBe(strings.TrimSpace(want), f.args[i]) {
			return false
		}
	}
	return true
}

// mayBe reports whether a template argument as written may be one that was read. Builtin types and
// numbers are compared; expressions and names may be anything.
func mayBe(written, read string) bool {
	if read == "" || written == read {
		return true
	}
	if written == "unsigned" {
		return read == "unsigned int"
	}
	if n, err := strconv.ParseInt(strings.TrimRight(written, "uUlL"), 0, 64); err == nil {
		return strconv.FormatInt(n, 10) == read
	}
	if written == "true" || written == "false" {
		return false
	}
	for _, t := range builtins {
		if written == t {
			return false
		}
	}
	return true
}
