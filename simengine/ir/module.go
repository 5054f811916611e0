package ir

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/warptune/warptune/simengine/ir/demangle"
	"github.com/warptune/warptune/simengine/ptx"
)

// refusal is an entry that cannot be simulated.
type refusal struct {
	name string
	err  *UnsupportedError
}

// Refuse notes that an entry of the module cannot be simulated.
func (m *Module) Refuse(name string, err *UnsupportedError) {
	m.refused = append(m.refused, refusal{name, err})
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
		if f, ok := demangle.Parse(n); name == "" || ok && f.Called(name) {
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
	f, _ := demangle.Parse(mangled)
	return len(f.Scopes) == strings.Count(base, "::")+1
}

// UnsupportedError names an instruction (or another feature of PTX) that the
// simulator does not model. It belongs to the kernel that uses it.
type UnsupportedError struct {
	Kernel string
	Instr  string // as written, e.g. "wmma.load.a.sync..." or "call through a register"
	Pos    ptx.Pos
}

// Error says which instruction, where, and in which kernel.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: kernel %s uses %s, which the simulator does not model", e.Pos, e.Kernel, e.Instr)
}
