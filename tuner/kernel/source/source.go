// Package source says from a kernel's text alone what compiling it depends on: the
// bundle's files it includes and the macros it can see. It refuses what reaches
// outside the bundle.
//
// It is pure, and no preprocessor: what an #if leaves out counts too.
package source

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/warptune/warptune/tuner/kernel"
)

// Source is everything of a bundle that a compilation reads. Two with equal Digest
// and Macros give the same PTX from the same compiler under the same options.
type Source struct {
	Main   string            // the kernel file's name
	Files  map[string][]byte // Main and every bundle file it includes, by name
	Digest string            // sha-256 over Files, Main's name left out, hex
	// Macros are the macros given that the text can depend on, in the order
	// given: a macro that the text never names costs no compilation.
	Macros []kernel.Macro
}

// maxSource bounds the bytes read for one compilation.
const maxSource = 16 << 20

// Error is a text or a macro that cannot be compiled anywhere: it belongs to the
// kernel, not to the machine.
type Error struct {
	File    string // the kernel file
	Message string
}

func (e *Error) Error() string { return e.File + ": " + e.Message }

// Read collects the files that c's source includes and the macros that matter to
// them. What the source itself does wrong is an *Error; other errors come from
// reading files.
func Read(c kernel.Compile) (*Source, error) {
	s := &Source{Main: c.SourceFile, Files: map[string][]byte{}}
	fail := func(format string, args ...any) error {
		return &Error{File: c.SourceFile, Message: fmt.Sprintf(format, args...)}
	}
	if err := checkPath(c.SourceFile); err != nil {
		return nil, fail("%v", err)
	}
	if err := checkMacros(c.Macros); err != nil {
		return nil, fail("%v", err)
	}
	names, pasted, size := map[string]bool{}, false, 0
	s.Files[c.SourceFile] = c.Source
	for queue := []string{c.SourceFile}; len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		sc := scan(s.Files[name])
		for id := range sc.identifiers {
			names[id] = true
		}
		pasted = pasted || sc.pastes
		if size += len(s.Files[name]); size > maxSource {
			return nil, fail("the source and its headers exceed %d MiB", maxSource>>20)
		}
		for _, inc := range sc.includes {
			found, err := s.resolve(c.Files, name, inc)
			var refused *Error
			if errors.As(err, &refused) {
				return nil, fail("%s:%d: %s", name, inc.line, refused.Message)
			} else if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, inc.line, err)
			}
			if found != "" {
				queue = append(queue, found)
			}
		}
	}
	s.Macros = relevant(c.Macros, names, pasted)
	s.Digest = s.digest()
	return s, nil
}

// resolve adds the bundle file an #include means and returns its name; "" when
// it is read already or is left to the compiler's own headers.
func (s *Source) resolve(files kernel.Files, from string, inc include) (string, error) {
	if inc.name == "" {
		return "", &Error{Message: "#include and #embed need a literal file name"}
	}
	if path.IsAbs(inc.name) {
		return "", &Error{Message: fmt.Sprintf("#include %q leaves the bundle", inc.name)}
	}
	candidates := []string{path.Clean(inc.name)}
	if !inc.angled {
		candidates = []string{path.Join(path.Dir(from), inc.name), path.Clean(inc.name)}
	}
	for _, name := range candidates {
		if !fs.ValidPath(name) {
			return "", &Error{Message: fmt.Sprintf("#include %q leaves the bundle", inc.name)}
		}
		if _, done := s.Files[name]; done {
			return "", nil
		}
		if files == nil {
			continue
		}
		b, err := files.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return "", err
		}
		if err := checkPath(name); err != nil {
			return "", &Error{Message: err.Error()}
		}
		s.Files[name] = b
		return name, nil
	}
	return "", nil
}

func (s *Source) digest() string {
	h := sha256.New()
	// JSON of a map sorts its keys: canonical. Where the kernel file lies does not
	// matter, so that a copy of a built-in kernel is known as that kernel.
	files := map[string][]byte{}
	for name, b := range s.Files {
		if name == s.Main {
			name = ""
		}
		files[name] = b
	}
	if err := json.NewEncoder(h).Encode(files); err != nil {
		panic(err) // strings and byte slices always encode
	}
	return hex.EncodeToString(h.Sum(nil))
}

// MacroKey is the canonical text of the macros that matter, e.g.
// {"BLOCK_SIZE":"256","ITEMS":"4"}.
func (s *Source) MacroKey() string {
	m := make(map[string]string, len(s.Macros))
	for _, x := range s.Macros {
		m[x.Name] = x.Value
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}

// relevant keeps the macros whose name the text, or a relevant macro's value,
// spells; all of them when the text pastes tokens and might build any name.
func relevant(macros []kernel.Macro, names map[string]bool, pastes bool) []kernel.Macro {
	if pastes {
		return macros
	}
	keep := make([]bool, len(macros))
	for again := true; again; {
		again = false
		for i, m := range macros {
			if keep[i] || !names[m.Name] {
				continue
			}
			keep[i], again = true, true
			for _, id := range identifier.FindAllString(m.Value, -1) {
				names[id] = true
			}
		}
	}
	var out []kernel.Macro
	for i, m := range macros {
		if keep[i] {
			out = append(out, m)
		}
	}
	return out
}

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	macroName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// safePath has no character that a compiler driver's own sub-processes could
	// take for an option or for shell syntax.
	safePath = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$`)
)

func checkPath(name string) error {
	if !fs.ValidPath(name) || !safePath.MatchString(name) {
		return fmt.Errorf("file name %q: use letters, digits and _.+- inside the definition's folder", name)
	}
	return nil
}

func checkMacros(macros []kernel.Macro) error {
	seen := map[string]bool{}
	for _, m := range macros {
		switch {
		case !macroName.MatchString(m.Name):
			return fmt.Errorf("macro %q: not an identifier", m.Name)
		case seen[m.Name]:
			return fmt.Errorf("macro %s is defined twice", m.Name)
		case strings.ContainsAny(m.Value, "\n\r\x00") || strings.HasSuffix(m.Value, `\`):
			return fmt.Errorf("macro %s: its value %q must be one line", m.Name, m.Value)
		}
		seen[m.Name] = true
	}
	return nil
}
