package lower

import (
	"strconv"
	"strings"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// symbolKind says what a name in a function stands for.
type symbolKind uint8

const (
	symNone   symbolKind = iota
	symReg               // a register: index
	symVector            // a register declared .v2 or .v4: index of its first element
	symVar               // a variable: index into Kernel.Vars
	symParam             // a kernel parameter: index into Kernel.Params
)

type symbol struct {
	kind  symbolKind
	index int32
	n     int // elements of a symVector
}

// regRange is %r<N> before its registers are used.
type regRange struct {
	prefix string
	n      int
	typ    ir.Type
}

// scope is the names of one { } of a function. An inlined function's outermost
// scope has no parent.
type scope struct {
	parent *scope
	names  map[string]symbol
	ranges []regRange
	labels map[string]int // label number
	lists  map[string]*ptx.Directive
	suffix string // added to register names of an inlined function
}

func newScope(parent *scope) *scope {
	s := &scope{parent: parent}
	if parent != nil {
		s.suffix = parent.suffix
	}
	return s
}

func (s *scope) set(name string, sym symbol) {
	if s.names == nil {
		s.names = map[string]symbol{}
	}
	s.names[name] = sym
}

// lookup finds a name, in this scope or those around it, then in the module.
func (b *kernelBuilder) lookup(name string) (symbol, bool) {
	for s := b.scope; s != nil; s = s.parent {
		if sym, ok := s.names[name]; ok {
			return sym, true
		}
		for _, r := range s.ranges {
			if inRange(name, r.prefix, r.n) {
				sym := symbol{kind: symReg, index: int32(b.newReg(name+s.suffix, r.typ))}
				s.set(name, sym)
				return sym, true
			}
		}
	}
	if i, ok := b.mb.vars[name]; ok {
		b.name(i)
		return symbol{kind: symVar, index: i}, true
	}
	return symbol{}, false
}

// inRange reports whether name is prefix followed by a number below n.
func inRange(name, prefix string, n int) bool {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || digits == "" || digits[0] == '0' && len(digits) > 1 || len(digits) > 9 {
		return false
	}
	v := 0
	for i := 0; i < len(digits); i++ {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
		v = v*10 + int(digits[i]-'0')
	}
	return v < n
}

func (b *kernelBuilder) newReg(name string, t ir.Type) ir.Reg {
	b.k.Regs = append(b.k.Regs, ir.RegInfo{Name: name, Type: t})
	return ir.Reg(len(b.k.Regs) - 1)
}

// declareRegs adds the registers of a .reg directive.
func (b *kernelBuilder) declareRegs(d *ptx.VarDecl) {
	t := registerType(trimDot(d.Type))
	if t == ir.TypeInvalid {
		b.errorf(d.At, "registers of type %s are not modelled", d.Type)
		return
	}
	for i := range d.Names {
		n := &d.Names[i]
		switch {
		case len(n.Dims) > 0 || len(n.Init) > 0:
			b.errorf(n.At, "register %s cannot be an array or have a value", n.Name)
		case n.Count >= 0:
			b.scope.ranges = append(b.scope.ranges, regRange{n.Name, n.Count, t})
		case b.declared(n.Name):
			b.errorf(n.At, "%s is declared twice", n.Name)
		case d.Vector != "":
			b.declareVector(d, n.Name, t)
		default:
			r := b.newReg(n.Name+b.scope.suffix, t)
			b.scope.set(n.Name, symbol{kind: symReg, index: int32(r)})
		}
	}
}

// declared reports a name of this very scope.
func (b *kernelBuilder) declared(name string) bool {
	_, ok := b.scope.names[name]
	return ok
}

// declareVector makes a .v2 or .v4 register: elements .x .y .z .w, or .r .g .b .a.
func (b *kernelBuilder) declareVector(d *ptx.VarDecl, name string, t ir.Type) {
	n, _ := strconv.Atoi(d.Vector[2:])
	if n > 4 {
		b.errorf(d.At, "registers have at most 4 elements")
		return
	}
	for i := range n {
		r := b.newReg(name+"."+"xyzw"[i:i+1]+b.scope.suffix, t)
		sym := symbol{kind: symReg, index: int32(r)}
		if i == 0 {
			b.scope.set(name, symbol{kind: symVector, index: int32(r), n: n})
		}
		b.scope.set(name+"."+"xyzw"[i:i+1], sym)
		b.scope.set(name+"."+"rgba"[i:i+1], sym)
	}
}
