package lower

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// declType is the element type of a declaration and its size with .v2 or .v4.
func declType(d *ptx.VarDecl) (t ir.Type, size int) {
	t = registerType(trimDot(d.Type))
	size = t.Size()
	switch d.Vector {
	case ".v2":
		size *= 2
	case ".v4":
		size *= 4
	case ".v8":
		size *= 8
	}
	return t, size
}

func trimDot(s string) string {
	if s != "" && s[0] == '.' {
		return s[1:]
	}
	return s
}

var spaceByName = map[string]ir.Space{
	".global": ir.Global, ".shared": ir.Shared, ".shared::cta": ir.Shared, ".local": ir.Local,
	".const": ir.Const, ".param": ir.ParamSpace,
}

// maxVarBytes bounds one variable: more than any GPU has would only exhaust
// the machine that simulates it.
const maxVarBytes = 1 << 32

// newVar makes a Var of one declarator, without its place.
func (mb *moduleBuilder) newVar(d *ptx.VarDecl, n *ptx.Declarator) (ir.Var, bool) {
	t, elem := declType(d)
	v := ir.Var{Name: n.Name, Space: spaceByName[d.Space], Elem: t, Align: max(d.Align, elem), Offset: -1}
	if t == ir.TypeInvalid || t == ir.Pred || v.Space == ir.Generic {
		return v, false // .texref and others: refused where they are used
	}
	if d.Align > 0 {
		v.Align = d.Align
	}
	size := int64(elem)
	for i, dim := range n.Dims {
		if dim < 0 {
			if i > 0 {
				mb.errorf(n.At, "%s: only the first dimension may be empty", n.Name)
			}
			if dim = 0; len(n.Init) > 0 {
				dim = int64(len(n.Init[0].Elems))
			}
		}
		if dim > 0 && size > maxVarBytes/dim {
			mb.errorf(n.At, "%s is larger than %d bytes", n.Name, int64(maxVarBytes))
			return v, false
		}
		size *= dim
	}
	v.Size = int(size)
	return v, true
}

// variable declares a module-scope variable.
func (mb *moduleBuilder) variable(d *ptx.VarDecl) {
	for i := range d.Names {
		n := &d.Names[i]
		v, ok := mb.newVar(d, n)
		if !ok {
			continue
		}
		if old, dup := mb.vars[n.Name]; dup {
			// A declaration and its definition are one variable.
			if d.Linkage == "" && len(n.Init) == 0 {
				mb.errorf(n.At, "%s is declared twice", n.Name)
			}
			if o := &mb.out.Vars[old]; v.Size > o.Size {
				// An unsized declaration took no room; its definition does.
				if o.Size = v.Size; o.Space != ir.Shared {
					o.Offset = mb.area.take(o.Space, o.Size, o.Align)
				}
			}
			mb.initialise(old, d, n)
			continue
		}
		index := int32(len(mb.out.Vars))
		mb.vars[n.Name] = index
		if v.Space != ir.Shared {
			v.Offset = mb.area.take(v.Space, v.Size, v.Align)
		}
		mb.out.Vars = append(mb.out.Vars, v)
		mb.initialise(index, d, n)
	}
}

// area is the bytes taken in each state space.
type area [ir.RegSpace + 1]int

// take reserves room for a variable and returns where it starts.
func (a *area) take(s ir.Space, size, align int) int {
	at := alignUp(a[s], align)
	a[s] = at + size
	return at
}

func alignUp(n, align int) int {
	if align <= 1 {
		return n
	}
	return (n + align - 1) &^ (align - 1)
}

// pendingInit is an address in an initialiser, resolved once all variables
// are known.
type pendingInit struct {
	index  int32
	offset int
	size   int
	place  initAddress
}

// initAddress is an address in an initialiser: name, name+4, generic(name)+4, or one
// byte of it, as in 0xFF00(generic(name)+4).
type initAddress struct {
	name    ptx.Operand
	addend  int64
	generic bool
	shift   int // bits from the lowest of the byte; only with byte
	byte    bool
}

// maxInitialised bounds the bytes of a module's variables with an initial value.
const maxInitialised = 64 << 20

// initialise computes the initial bytes of a variable.
func (mb *moduleBuilder) initialise(index int32, d *ptx.VarDecl, n *ptx.Declarator) {
	if len(n.Init) == 0 {
		return
	}
	v := &mb.out.Vars[index]
	if v.Space != ir.Global && v.Space != ir.Const {
		mb.errorf(n.At, "%s: a .%s variable cannot be initialised", n.Name, v.Space)
		return
	}
	if mb.initialised += int64(v.Size); mb.initialised > maxInitialised {
		mb.errorf(n.At, "%s: initialised variables of more than %d MiB together", n.Name, maxInitialised>>20)
		return
	}
	v.Init = make([]byte, v.Size)
	w := initWriter{mb: mb, index: index, v: v}
	dims := make([]int, 0, len(n.Dims)+1)
	for _, dim := range n.Dims {
		dims = append(dims, int(max(dim, 0)))
	}
	if elem := v.Elem.Size(); d.Vector != "" {
		_, size := declType(d)
		dims = append(dims, size/elem)
	}
	if len(dims) > 0 && n.Dims != nil && n.Dims[0] < 0 {
		dims[0] = len(n.Init[0].Elems)
	}
	w.write(&n.Init[0], 0, dims)
}

// initWriter stores an initialiser's values into a variable's bytes.
type initWriter struct {
	mb    *moduleBuilder
	index int32
	v     *ir.Var
}

// write stores o at byte off; dims are the dimensions o spans.
func (w *initWriter) write(o *ptx.Operand, off int, dims []int) {
	elem := w.v.Elem.Size()
	if o.Kind != ptx.Vector {
		w.scalar(o, off)
		return
	}
	step, inner := elem, []int(nil)
	count := 1
	if len(dims) > 0 {
		count, inner = dims[0], dims[1:]
	}
	for _, n := range inner {
		step *= n
	}
	for i := range o.Elems {
		if i >= count {
			w.mb.errorf(o.Elems[i].At, "%s has more initial values than its %d elements", w.v.Name, count)
			return
		}
		// A flat list may fill an array of several dimensions.
		if o.Elems[i].Kind != ptx.Vector && len(inner) > 0 {
			w.flat(o, off)
			return
		}
		w.write(&o.Elems[i], off+i*step, inner)
	}
}

func (w *initWriter) flat(o *ptx.Operand, off int) {
	elem := w.v.Elem.Size()
	for i := range o.Elems {
		if off+(i+1)*elem > len(w.v.Init) {
			w.mb.errorf(o.Elems[i].At, "%s has more initial values than elements", w.v.Name)
			return
		}
		w.scalar(&o.Elems[i], off+i*elem)
	}
}

func (w *initWriter) scalar(o *ptx.Operand, off int) {
	size := w.v.Elem.Size()
	if off+size > len(w.v.Init) {
		w.mb.errorf(o.At, "%s has more initial values than elements", w.v.Name)
		return
	}
	if a, ok := addressConst(o); ok {
		w.mb.inits = append(w.mb.inits, pendingInit{index: w.index, offset: off, size: size, place: a})
		return
	}
	c, err := evalConst(o)
	if err != "" {
		w.mb.errorf(o.At, "%s", err)
		return
	}
	bits, err := c.as(w.v.Elem)
	if err != "" {
		w.mb.errorf(o.At, "%s", err)
		return
	}
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], bits)
	copy(w.v.Init[off:off+min(size, 8)], buf[:])
}

// addressConst reads an address.
func addressConst(o *ptx.Operand) (a initAddress, ok bool) {
	switch {
	case o.Kind == ptx.Name && o.Text != "WARP_SZ":
		return initAddress{name: *o}, true
	case o.Kind == ptx.Unary && o.Text == "generic":
		a, ok = addressConst(&o.Elems[0])
		a.generic = true
		return a, ok
	case o.Kind == ptx.Unary && len(o.Text) > 2 && strings.EqualFold(o.Text[:2], "0x"): // nvcc writes 0XFF, LLVM 0xFF
		mask, err := strconv.ParseUint(o.Text[2:], 16, 64)
		a, ok = addressConst(&o.Elems[0])
		a.byte, a.shift = true, bits.TrailingZeros64(mask)
		return a, ok && err == nil && a.shift%8 == 0 && mask>>a.shift == 0xff
	case o.Kind == ptx.Sum:
		a, ok = addressConst(&o.Elems[0])
		c, err := evalConst(&o.Elems[1])
		if !ok || err != "" || c.float {
			return a, false
		}
		if o.Text == "-" {
			c.bits = -c.bits
		}
		a.addend += int64(c.bits)
		return a, true
	}
	return a, false
}

// relocate turns the addresses in initialisers into relocations.
func (mb *moduleBuilder) relocate() {
	for _, p := range mb.inits {
		a := &p.place
		target, ok := mb.vars[a.name.Text]
		switch {
		case !ok && mb.funcs[a.name.Text] != nil:
			mb.errorf(a.name.At, "address of function %s in an initialiser is not modelled", a.name.Text)
			continue
		case !ok:
			mb.errorf(a.name.At, "%s is not declared", a.name.Text)
			continue
		case mb.out.Vars[target].Space != ir.Global && mb.out.Vars[target].Space != ir.Const:
			mb.errorf(a.name.At, "the address of .%s variable %s is not the same for all CTAs: it cannot be an initial value", mb.out.Vars[target].Space, a.name.Text)
			continue
		case p.size < 4 && !a.byte:
			mb.errorf(a.name.At, "an address does not fit %d bytes", p.size)
			continue
		}
		v := &mb.out.Vars[p.index]
		r := ir.Reloc{Offset: p.offset, Size: p.size, Var: target, Addend: a.addend, Generic: a.generic}
		if a.byte {
			r.Size, r.Shift = 1, a.shift
		}
		v.Relocs = append(v.Relocs, r)
	}
}
