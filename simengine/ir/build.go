package ir

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/warptune/warptune/simengine/ptx"
)

// Build gives meaning to a parsed module: it builds every kernel. Wrong
// operands, undeclared names and the like are a ptx.ErrorList with positions.
// A kernel that uses what is not modelled is left out of Kernels, and
// Module.Kernel returns its *UnsupportedError.
func Build(src *ptx.Module) (*Module, error) {
	mb := &moduleBuilder{
		src:    src,
		out:    &Module{Name: src.File, Version: src.Version(), Target: src.Target()},
		funcs:  map[string]*ptx.Func{},
		vars:   map[string]int32{},
		shapes: decoder{},
		seen:   map[ptx.Pos]bool{},
	}
	mb.sourceFiles()
	var entries []*ptx.Func
	for _, it := range src.Items {
		switch it := it.(type) {
		case *ptx.VarDecl:
			mb.variable(it)
		case *ptx.Func:
			if old := mb.funcs[it.Name]; old != nil && old.Body != nil && it.Body != nil {
				mb.errorf(it.NameAt, "%s is defined twice", it.Name)
			}
			if old := mb.funcs[it.Name]; old == nil || old.Body == nil {
				mb.funcs[it.Name] = it
			}
			if it.Entry && it.Body != nil {
				entries = append(entries, it)
			}
		}
	}
	mb.aliases()
	mb.relocate()
	for _, f := range entries {
		k, unsupported := mb.kernel(f)
		if unsupported != nil {
			mb.out.refused = append(mb.out.refused, refusal{f.Name, unsupported})
			continue
		}
		mb.out.Kernels = append(mb.out.Kernels, k)
	}
	if len(mb.errs) > 0 {
		sort.SliceStable(mb.errs, func(i, j int) bool {
			a, b := mb.errs[i].Pos, mb.errs[j].Pos
			return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
		})
		return nil, mb.errs
	}
	return mb.out, nil
}

// aliases enters the second names that .alias gives to functions.
func (mb *moduleBuilder) aliases() {
	for _, it := range mb.src.Items {
		d, ok := it.(*ptx.Directive)
		if !ok || d.Name != ".alias" || len(d.Args) != 2 {
			continue
		}
		f := mb.funcs[d.Args[1].Text]
		if f == nil {
			mb.errorf(d.Args[1].At, "function %s is not declared", d.Args[1].Text)
			continue
		}
		mb.funcs[d.Args[0].Text] = f
	}
}

// refusal is an entry that cannot be simulated.
type refusal struct {
	name string
	err  *UnsupportedError
}

// Kernel picks a kernel: by its exact name, by the name that a C++ compiler mangled
// (transpose for _Z9transposePfS_, ns::k or k for _ZN2ns1kEPf, k<float> for _Z1kIfEvPT_), or,
// when name is "", the only one there is.
// The error of a kernel that uses what is not modelled is an *UnsupportedError.
func (m *Module) Kernel(name string) (*Kernel, error) {
	var all []string
	for _, k := range m.Kernels {
		all = append(all, k.Name)
	}
	for _, r := range m.refused {
		all = append(all, r.name)
	}
	pick, err := pickName(m.Name, all, name)
	if err != nil {
		return nil, err
	}
	for _, k := range m.Kernels {
		if k.Name == pick {
			return k, nil
		}
	}
	for _, r := range m.refused {
		if r.name == pick {
			return nil, r.err
		}
	}
	panic("ir: picked kernel vanished")
}

func pickName(file string, all []string, name string) (string, error) {
	var hits []string
	for _, n := range all {
		if n == name {
			return n, nil
		}
		if f, ok := demangle(n); name == "" || ok && f.called(name) {
			hits = append(hits, n)
		}
	}
	if exact := slices.DeleteFunc(slices.Clone(hits), func(n string) bool { return !hasScopesOf(n, name) }); name != "" && len(exact) > 0 {
		hits = exact
	}
	sort.Strings(all)
	list := strings.Join(all, ", ")
	template, _, isTemplate := strings.Cut(name, "<")
	switch {
	case len(hits) == 1:
		return hits[0], nil
	case isTemplate && len(hits) == 0:
		has := "no kernel"
		if list != "" {
			has = list
		}
		return "", fmt.Errorf("%s: no kernel %q, the module has %s: a template is a kernel where the source instantiates it, as in \"template __global__ void %s(…);\", and is named %q, or by its name in the module",
			file, name, has, name, template)
	case len(all) == 0:
		return "", fmt.Errorf("%s: the module has no kernel (.entry)", file)
	case name == "":
		return "", fmt.Errorf("%s: the module has several kernels, name one of %s", file, list)
	case len(hits) > 1:
		return "", fmt.Errorf("%s: kernel %q is ambiguous, name one of %s", file, name, strings.Join(hits, ", "))
	}
	return "", fmt.Errorf("%s: no kernel %q, the module has %s", file, name, list)
}

// hasScopesOf reports whether a mangled name has no more namespaces than a name gives.
func hasScopesOf(mangled, name string) bool {
	base, _, _ := strings.Cut(strings.TrimPrefix(name, "::"), "<")
	f, _ := demangle(mangled)
	return len(f.scopes) == strings.Count(base, "::")+1
}

// moduleBuilder is the state of one Build.
type moduleBuilder struct {
	src    *ptx.Module
	out    *Module
	funcs  map[string]*ptx.Func
	vars   map[string]int32 // module-scope variables by name
	shapes decoder
	inits  []pendingInit
	area   area
	errs   ptx.ErrorList
	seen   map[ptx.Pos]bool // places reported, so that inlining twice reports once
	// initialised is the bytes of variables with an initial value.
	initialised int64
	files       map[uint64]string // of .file, by number
}

func (mb *moduleBuilder) errorf(at ptx.Loc, format string, args ...any) {
	pos := mb.src.Pos(at)
	if mb.seen[pos] || len(mb.errs) >= ptx.MaxErrors {
		return
	}
	mb.seen[pos] = true
	mb.errs = append(mb.errs, &ptx.Error{Pos: pos, Msg: fmt.Sprintf(format, args...)})
}
