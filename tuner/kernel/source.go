package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
)

// sourceSpec is the kernel's source and what its text says.
type sourceSpec struct {
	path     string // of the field KernelFile
	file     string
	template template // PTX only
	text     []byte
	headers  map[string][]byte // included, directly or not, by name
	missing  error             // why there is no text
	words    map[string]bool   // identifiers in text and headers
	pastes   bool              // ## may build any identifier
}

// mentions reports whether the source may name an identifier.
func (s *sourceSpec) mentions(name string) bool { return s.words[name] || s.pastes }

// readSource reads KernelFile. A source that is not there is a warning: the
// space can be used without it.
func (d *Definition) readSource(r *reader, k *record) {
	field, ok := k.need("KernelFile")
	if !ok {
		return
	}
	s := sourceSpec{path: field.path, file: clean(r.text(field))}
	if r.err != nil {
		return
	}
	if d.Language == PTX {
		s.template = d.template(r, field)
		s.file = ""
		d.source = s
		return
	}
	if err := inside(s.file); err != nil {
		r.fail(field.path, "%v", err)
		return
	}
	s.text, s.missing = d.files.ReadFile(s.file)
	if s.missing != nil {
		r.warn(field.path, "no source, so nothing can be compiled: %v", s.missing)
	} else if err := s.readHeaders(d.files); err != nil {
		r.fail(field.path, "%v", err)
	}
	s.scan()
	d.source = s
}

// maxHeaders bounds the files that one source includes.
const maxHeaders = 1000

var (
	includeLine = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)`)
	word        = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	unrollLine  = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*pragma[ \t]+unroll[ \t]*\(?[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\)?[ \t]*$`)
)

// readHeaders collects the files that the source includes and that lie beside the
// definition; others are left to the compiler. Its folder is searched for angled
// names too, as compilers are told to.
func (s *sourceSpec) readHeaders(files Files) error {
	s.headers = map[string][]byte{}
	type file struct {
		name string
		text []byte
	}
	for queue := []file{{s.file, s.text}}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, m := range includeLine.FindAllSubmatch(from.text, -1) {
			included := string(m[1]) + string(m[2])
			names := []string{path.Join(path.Dir(from.name), included), path.Clean(included)}
			if len(m[1]) == 0 {
				names = names[1:]
			}
			for _, name := range names {
				if _, done := s.headers[name]; done || name == s.file {
					break
				}
				if inside(name) != nil {
					continue
				}
				text, err := files.ReadFile(name)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				} else if err != nil {
					return fmt.Errorf("#include %q in %s: %w", included, from.name, err)
				}
				if len(s.headers) == maxHeaders {
					return fmt.Errorf("%s includes more than %d files", s.file, maxHeaders)
				}
				s.headers[name] = text
				queue = append(queue, file{name, text})
				break
			}
		}
	}
	return nil
}

// scan finds the identifiers, those in comments and texts too: one too many
// only costs a compilation.
func (s *sourceSpec) scan() {
	s.words = map[string]bool{}
	for _, text := range append(mapValues(s.headers), s.text) {
		for _, w := range word.FindAll(text, -1) {
			s.words[string(w)] = true
		}
		s.pastes = s.pastes || strings.Contains(string(text), "##")
	}
}

func mapValues(m map[string][]byte) [][]byte {
	var list [][]byte
	for _, name := range sortedKeys(m) {
		list = append(list, m[name])
	}
	return list
}

// withoutUnroll returns the source without "#pragma unroll NAME" for
// loop_unroll_factor parameters that are 0, which in Kernel Tuner means to
// leave the loop to the compiler. Lines keep their numbers.
func (d *Definition) withoutUnroll(cfg search.Config) []byte {
	zero := func(name string) bool {
		v, ok := cfg.Get(name)
		return ok && strings.Contains(name, "loop_unroll_factor") && v == search.OfInt(0)
	}
	if !slices.ContainsFunc(cfg.Names, zero) {
		return d.source.text
	}
	return unrollLine.ReplaceAllFunc(d.source.text, func(line []byte) []byte {
		if zero(string(unrollLine.FindSubmatch(line)[1])) {
			return nil
		}
		return line
	})
}

// template is a path with parameters in braces: texts and names alternate,
// starting with a text.
type template []string

var hole = regexp.MustCompile(`\{([^{}]*)\}`)

func (d *Definition) template(r *reader, field document) template {
	text := r.text(field)
	var t template
	end := 0
	for _, m := range hole.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		if !slices.Contains(d.defaults.Names, name) {
			r.fail(field.path, "%q uses the unknown parameter %s; there are %s", text, name, d.parameterNames())
		}
		t = append(t, text[end:m[0]], name)
		end = m[1]
	}
	t = append(t, text[end:])
	if strings.ContainsAny(strings.Join(t, ""), "{}") {
		r.fail(field.path, "%q has a brace without its partner", text)
	}
	if r.err == nil {
		if err := inside(clean(t.expand(d.defaults))); err != nil {
			r.fail(field.path, "%v", err)
		}
	}
	return t
}

// names returns the parameters in the template, each once.
func (t template) names() []string {
	var names []string
	for i := 1; i < len(t); i += 2 {
		if !slices.Contains(names, t[i]) {
			names = append(names, t[i])
		}
	}
	return names
}

func (t template) expand(cfg search.Config) string {
	var b strings.Builder
	for i, s := range t {
		if i%2 == 0 {
			b.WriteString(s)
		} else if v, ok := cfg.Get(s); ok {
			b.WriteString(v.String())
		}
	}
	return b.String()
}
