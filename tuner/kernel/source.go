package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
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
	if d.Language == call.PTX {
		s.template = d.template(r, field)
		s.file = ""
		d.source = s
		return
	}
	if err := call.Inside(s.file); err != nil {
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
	if d.Language != call.CUDA {
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
		if err := call.Inside(clean(t.expand(d.defaults))); err != nil {
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

var remark = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)

// directive is a line in which a macro is asked for or made.
var directive = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|define|undef)\b(?:[^\n\\]|\\.|\\\n)*`)

// declaration finds where a source declares one of the names, as a variable, a parameter or a template's, or a
// structure has it: a word before it is a type's.
func declaration(names []string) *regexp.Regexp {
	name := `(` + strings.Join(names, "|") + `)`
	return regexp.MustCompile(`\b(?:int|unsigned|long|short|uint|size_t|auto|u?int(?:8|16|32|64)_t|dim3|float|double|bool|char|half|typename|class)[ \t\n*&]+` +
		name + `\b|(?:\.|->)[ \t]*` + name + `\b`)
}

// owned are the macros of the launch and the tuning parameters that the texts use otherwise, and that must not be macros
// for them. What a directive names is a macro in any case.
func owned(files map[string][]byte, parameters []string) map[string]bool {
	declares := declaration(slices.Concat(launchMacros, parameters))
	owns, macros := map[string]bool{}, map[string]bool{}
	for _, text := range files {
		text = remark.ReplaceAll(text, nil)
		for _, line := range directive.FindAll(text, -1) {
			for _, w := range word.FindAll(line, -1) {
				macros[string(w)] = true
			}
		}
		for _, m := range declares.FindAllSubmatch(directive.ReplaceAll(text, nil), -1) {
			owns[string(m[1])+string(m[2])] = true
		}
	}
	for name := range macros {
		delete(owns, name)
	}
	return owns
}

// entry is KernelName with the values of the parameters that are no macros in the source.
func (d *Definition) entry(cfg search.Config) string {
	if len(d.source.owns) == 0 {
		return d.KernelName
	}
	return word.ReplaceAllStringFunc(d.KernelName, func(name string) string {
		if v, ok := cfg.Get(name); ok && d.source.owns[name] {
			return v.String()
		}
		return name
	})
}

// fixedMacros are the parameters and the launch's own names that are macros in the source.
func (d *Definition) fixedMacros(parameters []string) []string {
	return slices.DeleteFunc(slices.Concat(parameters, launchMacros), func(name string) bool { return d.source.owns[name] })
}
