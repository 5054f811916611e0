package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/include"
	"github.com/warptune/warptune/tuner/kernel/option"
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
	owns     map[string]bool   // parameters and launchMacros that name something else in text or headers
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
	} else if err := d.collect(&s); err != nil {
		r.fail(field.path, "%v", err)
	}
	d.source = s
}

var (
	word       = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	unrollLine = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*pragma[ \t]+unroll[ \t]*\(?[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\)?[ \t]*$`)
)

// collect finds the files that the source includes and that lie beside the definition,
// for any configuration, and the identifiers in all of them. What would reach outside is
// left to compilations, which refuse it.
func (d *Definition) collect(s *sourceSpec) error {
	root := include.Root{Main: s.file, Text: s.text, Read: d.files.ReadFile, Macros: map[string][]string{}, Extra: d.KernelName}
	root.Dirs, root.First = option.Includes(d.Options)
	for _, m := range d.defines {
		root.Macros[m.Name] = []string{m.Value}
	}
	for _, p := range d.params {
		for _, v := range p.Values {
			root.Macros[p.Name] = append(root.Macros[p.Name], v.String())
		}
	}
	found, err := include.Collect(root)
	if err != nil {
		return err
	}
	s.pastes = found.Pastes
	s.words = map[string]bool{}
	for _, w := range word.FindAllString(d.KernelName, -1) {
		s.words[w] = true
	}
	for _, text := range found.Files { // comments too: one too many only costs a compilation
		for _, w := range word.FindAll(text, -1) {
			s.words[string(w)] = true
		}
	}
	if !s.words["kernel_tuner"] {
		s.owns = owned(found.Files, d.defaults.Names)
	}
	delete(found.Files, s.file)
	s.headers = found.Files
	return nil
}

// jinja is what a template of Jinja has and C++ has not: a name in double braces before a declarator, or a statement by
// its keyword: inline assembly has {%0, %1}.
var jinja = regexp.MustCompile(`\{\{\s*[A-Za-z_]\w*\s*\}\}\s*(?:[*&]|\w)|\{%-?\s*(?:if|elif|else|endif|for|endfor|set|macro|endmacro|call|filter|block|endblock|extends|include|import|from|raw|endraw|with)\b`)

// checkTemplate refuses a source that is a template of text.
func (d *Definition) checkTemplate() error {
	if d.Language != CUDA {
		return nil
	}
	if m := jinja.Find(remark.ReplaceAll(d.source.text, nil)); m != nil {
		return fmt.Errorf("%s: the file is a template of Jinja (%s): render it, for each value that chooses its text, and give the result", d.source.path, m)
	}
	return nil
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
