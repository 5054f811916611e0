// Package lower makes kernels of PTX: it decodes opcodes by a table of what ptxas takes, resolves names and operands,
// inlines device functions and expands wmma instructions. What PTX has and the simulator does not model is refused by name.
package lower

import (
	"fmt"
	"sort"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// Build gives meaning to a parsed module: it builds every kernel. Wrong
// operands, undeclared names and the like are a ptx.ErrorList with positions.
// A kernel that uses what is not modelled is left out of Kernels, and
// Module.Kernel returns its *UnsupportedError.
func Build(src *ptx.Module) (*ir.Module, error) {
	mb := &moduleBuilder{
		src:    src,
		out:    &ir.Module{Name: src.File, Version: src.Version(), Target: src.Target()},
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
			mb.out.Refuse(f.Name, unsupported)
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

// moduleBuilder is the state of one Build.
type moduleBuilder struct {
	src    *ptx.Module
	out    *ir.Module
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
