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
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/include"
	"github.com/warptune/warptune/tuner/kernel/option"
)

// Source is everything of a bundle that a compilation reads. Two with equal Digest
// and Macros give the same PTX from the same compiler under the same options.
type Source struct {
	Main   string            // the kernel file's name
	Files  map[string][]byte // Main and every bundle file it includes, by name
	Digest string            // sha-256 over Files, Main's name left out, hex
	// Macros are the macros given that the text can depend on, in the order
	// given: a macro that the text never names costs no compilation.
	Macros []call.Macro
}

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
func Read(c call.Compile) (*Source, error) {
	s := &Source{Main: c.SourceFile}
	fail := func(format string, args ...any) error {
		return &Error{File: c.SourceFile, Message: fmt.Sprintf(format, args...)}
	}
	if err := checkPath(c.SourceFile); err != nil {
		return nil, fail("%v", err)
	}
	if err := checkMacros(c.Macros); err != nil {
		return nil, fail("%v", err)
	}
	found, err := include.Collect(root(c))
	if err != nil {
		return nil, err
	}
	if len(found.Refused) > 0 {
		return nil, fail("%v", found.Refused[0])
	}
	for name := range found.Files {
		if err := checkPath(name); err != nil {
			return nil, fail("%v", err)
		}
	}
	s.Files = found.Files
	s.Macros = relevant(c.Macros, found.Identifiers, found.Pastes)
	s.Digest = s.digest()
	return s, nil
}

// root is where the files that a compilation reads are looked for.
func root(c call.Compile) include.Root {
	r := include.Root{Main: c.SourceFile, Text: c.Source, Macros: map[string][]string{}, Extra: c.Entry}
	if c.Files != nil {
		r.Read = c.Files.ReadFile
	}
	r.Dirs, r.First = option.Includes(c.Options)
	for _, m := range c.Macros {
		r.Macros[m.Name] = []string{m.Value}
	}
	return r
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
func relevant(macros []call.Macro, names map[string]bool, pastes bool) []call.Macro {
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
	var out []call.Macro
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
)

// checkPath refuses names that compilers, or what they run, could take for something else
// than a file of the bundle. Blanks and letters of any language are fine: no shell sees
// them (a source has another name where nvcc runs: see package compile).
func checkPath(name string) error {
	odd := func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsPrint(r) || strings.ContainsRune("\"'`$\\<>|&;*?!:%#{}[]~^", r)
	}
	hidden := func(part string) bool { return strings.HasPrefix(part, "-") || strings.TrimSpace(part) != part }
	if !fs.ValidPath(name) || strings.ContainsFunc(name, odd) || slices.ContainsFunc(strings.Split(name, "/"), hidden) {
		return fmt.Errorf("file name %q: use letters, digits, blanks inside and _.,+=@()- inside the definition's folder, no - first", name)
	}
	return nil
}

func checkMacros(macros []call.Macro) error {
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
