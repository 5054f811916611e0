// Package option reads compiler options as definitions give them
// (CompilerOptions), in the spelling of nvcc and NVRTC: which there are, what
// they are for clang, and which belong elsewhere.
//
// It accepts what changes the code made from this source and what changes
// nothing here. Plug-ins, linker options, and include paths that lead out of the
// definition's folder are refused by name. It is pure.
package option

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Set is what a list of options comes to.
type Set struct {
	Options      []string // one argument each, without blanks and shell syntax: what nvcc is to be given
	Macros       []Macro  // -D, the last of a name
	MaxRegisters int      // -maxrregcount; 0: none
	Notes        []Note
}

// Macro is one -D.
type Macro struct{ Name, Value string }

// Note is something to tell who wrote an option.
type Note struct {
	Index   int // in the list
	Message string
}

// Error is an option that is not accepted.
type Error struct {
	Index   int // in the list
	Message string
}

func (e *Error) Error() string { return e.Message }

// rule is what is done with options of a kind.
type rule struct {
	match  *regexp.Regexp // of the normal form: one dash, and a value after =
	clang  []string       // what it is for clang; $1 is the first group
	drop   bool           // it changes nothing here: no compiler is given it
	note   string
	refuse string
}

func matching(pattern string) *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")$") }

// host are options of the host's compiler that cannot change a kernel.
const host = `-(?:W[A-Za-z0-9=+-]*|w|O[0-9a-z]*|g[0-9]?|fPIC|fpic|fopenmp|pthread|pipe|m64|march=[a-z0-9-]+|mtune=[a-z0-9-]+|fno-strict-aliasing)`

// ptxas are its options that say what is the default, or print.
const ptxas = `-{1,2}(?:v|verbose|warn-spills|warn-lmem-usage|warn-double-usage|O3|opt-level=3|(?:dlcm|def-load-cache)=ca)`

// inFolder is a path that stays in the definition's folder: letters of any language, digits
// and blanks between them, and nothing that a shell or a compiler reads.
const inFolder = `(?:\./)*` + inFolderName + `(?:/` + inFolderName + `)*/?`

const inFolderName = `(?:\.?[\p{L}\p{N}_](?:[\p{L}\p{N}_.+@,= -]*[\p{L}\p{N}_+@=-])?)`

// rules in order: the first that matches decides.
var rules = []rule{
	{match: matching(`-std=(c\+\+(?:11|14|17|20|23))`), clang: []string{"-std=$1"}},
	{match: matching(`-O([0-3])`), clang: []string{"-O$1"}},
	{match: matching(`-use_fast_math`), clang: []string{"-ffast-math", "-fcuda-flush-denormals-to-zero", "-DWARPTUNE_FTZ", "-DWARPTUNE_FAST_MATH"}},
	{match: matching(`-fmad=false`), clang: []string{"-ffp-contract=off"}},
	{match: matching(`-ftz=true`), clang: []string{"-fcuda-flush-denormals-to-zero", "-DWARPTUNE_FTZ"}},
	{match: matching(`-prec-div=false`), clang: []string{"-mllvm", "-nvptx-prec-divf32=1"}}, // div.full
	{match: matching(`-prec-sqrt=false`), clang: []string{"-DWARPTUNE_APPROX_SQRT"}},
	{match: matching(`-(?:fmad=true|ftz=false|prec-div=true|prec-sqrt=true)`)},
	{match: matching(`-U([A-Za-z_][A-Za-z0-9_]*)`), clang: []string{"-U$1"}},
	{match: matching(`-(?:lineinfo|generate-line-info|restrict|disable-warnings|w)`), clang: []string{"-w"}},
	{match: matching(`-(?:expt-relaxed-constexpr|expt-extended-lambda|extended-lambda)`)},
	{match: matching(`-extra-device-vectorization`), note: "clang has no such option: PTX that it makes is made without"},
	{match: matching(`-(?:default-device|device-as-default-execution-space)`), drop: true, note: "is NVRTC's: functions without __device__ are the host's here, and kernels cannot call them"},
	{match: matching(`-(?:arch|gpu-architecture|code|gpu-code|gencode|generate-code)=[A-Za-z0-9_=,."\[\]-]+`), drop: true, note: "left out: --arch says what is compiled for"},
	{match: matching(`-(?:Xptxas|ptxas-options)=` + ptxas + `(?:,` + ptxas + `)*`), drop: true},
	{match: matching(`-(?:Xptxas|ptxas-options)=.*`), refuse: "it is for ptxas, which is simulated; of its options -v, -O3 and -dlcm=ca are the default, and -maxrregcount is MaxRegisters"},
	{match: matching(`-(?:Xcompiler|compiler-options)=` + host + `(?:,` + host + `)*`), drop: true},
	{match: matching(`-(?:v|verbose|g|debug|m64|machine=64|x=cu|rdc=false|relocatable-device-code=false|res-usage|resource-usage|allow-unsupported-compiler|dlto=false)`), drop: true},
	{match: matching(`-W(?:no-)?[a-z][A-Za-z0-9=-]*|-Werror`), drop: true},
	{match: matching(`-(?:diag-suppress|diag-error|diag-warn|Xcudafe)=.*`), drop: true},
	{match: matching(`-(?:ccbin|compiler-bindir)=.*`), drop: true, note: "left out: the host's compiler makes no device code"},
	{match: matching(`-I\./?`), drop: true},
	{match: matching(`-I(` + inFolder + `)`), clang: []string{"-I", "$1"}},
	{match: matching(`-isystem=(` + inFolder + `)`), clang: []string{"-isystem", "$1"}},
	{match: matching(`-include=(` + inFolder + `)`), clang: []string{"-include", "$1"}},
	{match: matching(`-(?:I|isystem=|include=).*`), refuse: "headers are looked for in the definition's own folder only: put them there, and name them by their path from it"},
	{match: matching(`-(?:G|device-debug)`), refuse: "debug code is not the code that is tuned: leave it out"},
	{match: matching(`-(?:rdc|relocatable-device-code)=true|-dc`), refuse: "functions of other files cannot be linked in: #include their source"},
	{match: matching(`-cl-.*`), refuse: "it is OpenCL's; CUDA's is -use_fast_math"},
}

// registerCap are the spellings of a register cap.
var registerCap = matching(`-(?:maxrregcount=|(?:Xptxas|ptxas-options)=-{1,2}maxrregcount=)([0-9]{1,6})`)

const accepted = "accepted are -std=, -O0 to -O3, -use_fast_math, -fmad=, -ftz=, -prec-div=, -prec-sqrt=, -DNAME=VALUE, -UNAME, -I, -isystem and -include of the definition's folder, -maxrregcount=, -lineinfo, -w, and what changes nothing here"

// Parse reads a list of options. An entry may hold several, an option's value may
// be the next entry, as on a command line, and an empty entry is none. The error
// is an *Error.
func Parse(given []string) (Set, error) {
	var s Set
	all := split(given)
	for i := 0; i < len(all); i++ {
		p := all[i]
		name, value, has := p.parts()
		if !has && takes[name] && i+1 < len(all) {
			i++
			value, has = all[i].text, true
			p.text += " " + value
		}
		if err := s.add(p.index, p.text, name, value, has); err != nil {
			return Set{}, &Error{p.index, err.Error()}
		}
	}
	return s, nil
}

// add adds an option: as it was written, and its name and value.
func (s *Set) add(index int, written, name, value string, has bool) error {
	switch name {
	case "-D":
		return s.define(value)
	case "-U", "-O":
		name += value
	case "-I":
		name += value
		written = name
	case "-isystem", "-include":
		name += "=" + value
		written = name
	default:
		if has {
			name += "=" + value
		}
	}
	if m := registerCap.FindStringSubmatch(name); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > 255 {
			return fmt.Errorf("compiler option %q is not accepted: a thread has up to 255 registers", written)
		}
		s.MaxRegisters = n
		return nil
	}
	r := find(name)
	switch {
	case r == nil, attachedToLong(written):
		return fmt.Errorf("compiler option %q is not accepted; %s", written, accepted)
	case r.refuse != "":
		return fmt.Errorf("compiler option %q is not accepted: %s", written, r.refuse)
	case r.note != "":
		s.Notes = append(s.Notes, Note{index, fmt.Sprintf("%s: %s", name, r.note)})
	}
	if !r.drop {
		// As it was written, where it is one argument: what is compiled is known by that.
		if strings.ContainsAny(written, " \t") || !strings.HasSuffix(written, value) {
			written = name
		}
		s.Options = append(s.Options, written)
	}
	return nil
}

var macro = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?$`)

// define adds a macro; without a value it is 1.
func (s *Set) define(text string) error {
	m := macro.FindStringSubmatch(text)
	if m == nil || strings.ContainsAny(text, "\n\r\x00") || strings.HasSuffix(text, `\`) {
		return fmt.Errorf("compiler option %q is not accepted: -DNAME or -DNAME=VALUE is expected, a macro without parameters on one line", "-D"+text)
	}
	value := m[2]
	if !strings.Contains(text, "=") {
		value = "1"
	}
	for i := range s.Macros {
		if s.Macros[i].Name == m[1] {
			s.Macros[i].Value = value
			return nil
		}
	}
	s.Macros = append(s.Macros, Macro{m[1], value})
	return nil
}

// Clang gives Set.Options as clang spells them.
func Clang(options []string) ([]string, error) {
	var out []string
	seen := map[string]bool{} // LLVM refuses what is said twice
	for _, o := range options {
		name, value, has := piece{text: o}.parts()
		if name == "-U" || name == "-O" || name == "-I" {
			name += value
		} else if has {
			name += "=" + value
		}
		r := find(name)
		if r == nil || attachedToLong(o) || r.drop || r.refuse != "" {
			return nil, fmt.Errorf("compiler option %q is not accepted; %s", o, accepted)
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		m := r.match.FindStringSubmatch(name)
		for _, c := range r.clang {
			if len(m) > 1 {
				c = strings.ReplaceAll(c, "$1", m[1])
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// Includes gives the folders that Set.Options have headers looked for in, in order, and
// the files that they have included first.
func Includes(options []string) (dirs, files []string) {
	var system []string
	for _, o := range options {
		name, value, _ := piece{text: o}.parts()
		switch name {
		case "-I":
			dirs = append(dirs, value)
		case "-isystem":
			system = append(system, value)
		case "-include":
			files = append(files, value)
		}
	}
	return append(dirs, system...), files
}

// attachedToLong reports an include folder attached to two dashes: only -I takes it so.
func attachedToLong(written string) bool { return strings.HasPrefix(written, "--I") }

func find(name string) *rule {
	for i := range rules {
		if rules[i].match.MatchString(name) {
			return &rules[i]
		}
	}
	return nil
}

// piece is one option of an entry.
type piece struct {
	index int // of the entry
	text  string
}

// between are blanks before another option of the same entry.
var between = regexp.MustCompile(`[ \t]+(-{1,2}[A-Za-z])`)

func split(given []string) []piece {
	var all []piece
	for i, g := range given {
		for _, text := range strings.Split(between.ReplaceAllString(strings.TrimSpace(g), "\n$1"), "\n") {
			if text = strings.TrimSpace(text); text != "" {
				all = append(all, piece{i, text})
			}
		}
	}
	return all
}

// attached are options whose value follows them at once.
var attached = []string{"-D", "-U", "-I", "-O"}

// long are the other names of those.
var long = map[string]string{"-define-macro": "-D", "-undefine-macro": "-U", "-include-path": "-I", "-optimize": "-O",
	"-system-include": "-isystem", "-pre-include": "-include"}

// takes are the options that have a value, which may be the next argument.
var takes = map[string]bool{
	"-D": true, "-U": true, "-I": true, "-isystem": true, "-include": true, "-std": true, "-arch": true, "-gpu-architecture": true, "-code": true, "-gpu-code": true,
	"-gencode": true, "-generate-code": true, "-Xptxas": true, "-ptxas-options": true, "-Xcompiler": true, "-compiler-options": true,
	"-Xcudafe": true, "-maxrregcount": true, "-ccbin": true, "-compiler-bindir": true, "-x": true, "-machine": true,
	"-diag-suppress": true, "-diag-error": true, "-diag-warn": true, "-fmad": true, "-ftz": true, "-prec-div": true, "-prec-sqrt": true,
	"-rdc": true, "-relocatable-device-code": true,
}

// parts gives the option's name with one dash, and its value if it has one.
func (p piece) parts() (name, value string, has bool) {
	text := p.text
	if strings.HasPrefix(text, "--") {
		text = text[1:]
	}
	for _, a := range attached {
		if v, ok := strings.CutPrefix(text, a); ok && !strings.HasPrefix(p.text, "--") {
			v = strings.TrimLeft(v, " \t")
			if a == "-I" {
				v = strings.TrimPrefix(v, "=")
			}
			return a, v, v != ""
		}
	}
	name = text
	if i := strings.IndexAny(text, "= \t"); i > 0 && (text[i] == '=' || takes[text[:i]] || long[text[:i]] != "") {
		name, value, has = text[:i], strings.TrimSpace(text[i+1:]), true
	}
	if short, ok := long[name]; ok {
		name = short
	}
	return name, value, has
}
