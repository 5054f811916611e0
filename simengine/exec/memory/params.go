package memory

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// Arg is one kernel argument: the address of a buffer when Buffer is set, the
// bytes of what is passed by value when Bytes is, else a scalar.
type Arg struct {
	Buffer string
	Offset int64 // bytes from the start of Buffer
	Bytes  []byte
	Elem   ir.Type // type of Scalar, or of the one number in Bytes; TypeInvalid where they are no number
	Scalar float64
}

// ArgumentError says that what a launch passes is not what its kernel takes.
type ArgumentError struct {
	Kernel, Param string
	Index         int           // of the parameter; -1: there are more or fewer
	Passed        string        // what is: "a buffer", "a scalar of 8 bytes"
	Given, Want   int           // how many there are, else bytes; those of a buffer are none
	Taken         ir.NumberKind // what the kernel takes the bytes for, where that is what is wrong
}

func (e *ArgumentError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("kernel %s takes %d arguments, got %d", e.Kernel, e.Want, e.Given)
	}
	if e.Taken != ir.NumberUnknown {
		return fmt.Sprintf("kernel %s argument %d (%s): %s, which the kernel takes for %s", e.Kernel, e.Index, e.Param, e.Passed, e.Taken)
	}
	return fmt.Sprintf("kernel %s argument %d (%s): %s for a parameter of %d bytes", e.Kernel, e.Index, e.Param, e.Passed, e.Want)
}

// VariableError says that a variable of the module cannot be filled.
type VariableError struct {
	Variable   string
	Count      int64
	Elem, Size int // bytes of each of Count elements, and of the variable; 0: there is none
}

func (e *VariableError) Error() string {
	if e.Size == 0 {
		return fmt.Sprintf("the module has no variable %q", e.Variable)
	}
	return fmt.Sprintf("variable %s: %d elements of %d bytes do not fit its %d bytes", e.Variable, e.Count, e.Elem, e.Size)
}

// BindParams lays the arguments out in the kernel's parameter space.
// Buffers must have been allocated. A scalar must be as wide as its parameter. What does
// not fit, or is a number of another kind than PTX says, is an *ArgumentError.
func (m *Device) BindParams(k *ir.Kernel, args []Arg) ([]byte, error) {
	if len(args) != len(k.Params) {
		return nil, &ArgumentError{Kernel: k.Name, Index: -1, Given: len(args), Want: len(k.Params)}
	}
	out := make([]byte, ParamBytes(k))
	for i, p := range k.Params {
		a := &args[i]
		dst := out[p.Offset : p.Offset+p.Size]
		switch {
		case a.Buffer != "":
			addr, ok := m.Address(a.Buffer)
			if !ok {
				return nil, fmt.Errorf("kernel %s argument %d (%s): no buffer %q", k.Name, i, p.Name, a.Buffer)
			}
			if p.Size != 8 {
				return nil, &ArgumentError{Kernel: k.Name, Param: p.Name, Index: i, Passed: "a buffer", Want: p.Size}
			}
			element.Store(dst, addr+uint64(a.Offset), 8)
		case a.Bytes != nil:
			if len(a.Bytes) != p.Size {
				return nil, &ArgumentError{Kernel: k.Name, Param: p.Name, Index: i, Passed: fmt.Sprintf("%d bytes", len(a.Bytes)), Given: len(a.Bytes), Want: p.Size}
			}
			copy(dst, a.Bytes)
		default:
			if element.Size(a.Elem) != p.Size {
				return nil, &ArgumentError{Kernel: k.Name, Param: p.Name, Index: i, Passed: fmt.Sprintf("a scalar of %d bytes", element.Size(a.Elem)), Given: element.Size(a.Elem), Want: p.Size}
			}
			element.Store(dst, element.Encode(a.Elem, a.Scalar), p.Size)
		}
		if taken := k.ParamKind(i); a.Buffer == "" && taken != ir.NumberUnknown && a.Elem != ir.TypeInvalid && taken != a.Elem.NumberKind() {
			return nil, &ArgumentError{Kernel: k.Name, Param: p.Name, Index: i, Passed: a.Elem.NumberKind().String(), Given: p.Size, Want: p.Size, Taken: taken}
		}
	}
	return out, nil
}

// ParamBytes is the size of the kernel's parameter space.
func ParamBytes(k *ir.Kernel) int {
	n := 0
	for _, p := range k.Params {
		n = max(n, p.Offset+p.Size)
	}
	return n
}

// LoadModule places the .global variables the kernel can name and sets up its
// constant bank, with fills replacing the initial contents of the variables
// they name. It must be called once, before SetVar and the first run.
func (m *Device) LoadModule(k *ir.Kernel) error {
	for _, v := range k.Vars {
		v.Init = relocated(k, &v)
		switch v.Space {
		case ir.Global:
			b := Buffer{Name: v.Name, Elem: ir.B8, Count: int64(v.Size), Fill: Bytes(v.Init)}
			if err := m.place(b, StaticBase+uint64(v.Offset)); err != nil {
				return fmt.Errorf("module variable: %w", err)
			}
		case ir.Const:
			if v.Offset < 0 || v.Size < 0 || v.Offset+v.Size > maxConst {
				return fmt.Errorf("constant variable %s: %d bytes at offset %d, the constant bank has %d", v.Name, v.Size, v.Offset, maxConst)
			}
			if n := v.Offset + v.Size; n > len(m.constants) {
				m.constants = append(m.constants, make([]byte, n-len(m.constants))...)
			}
			copy(m.constants[v.Offset:v.Offset+v.Size], v.Init)
		default:
			continue
		}
		m.vars[v.Name] = v
	}
	m.pristine = append(m.pristine[:0], m.constants...)
	if k.Cooperative() {
		return m.place(Buffer{Name: "the grid's workspace", Elem: ir.B8, Count: workspaceBytes}, GridWorkspace)
	}
	return nil
}

// workspaceBytes is the size of the workspace of a cooperative launch's grid.
const workspaceBytes = 64

// relocated is the initial contents of a variable, with the addresses in them.
func relocated(k *ir.Kernel, v *ir.Var) []byte {
	if len(v.Relocs) == 0 {
		return v.Init
	}
	init := slices.Clone(v.Init)
	for _, r := range v.Relocs {
		target := &k.Vars[r.Var]
		address := uint64(target.Offset) + uint64(r.Addend)
		if target.Space == ir.Global {
			address += StaticBase
		} else if r.Generic {
			address += ConstWindow
		}
		element.Store(init[r.Offset:], address>>r.Shift, r.Size)
	}
	return init
}

// maxConst is the size of the constant bank of every CUDA device.
const maxConst = 64 << 10

// SetVar replaces the contents of a .const or .global variable before the
// first run; the buffer's name is the variable's. One that is not there, or too small, is
// a *VariableError.
func (m *Device) SetVar(b Buffer) error {
	v, ok := m.vars[b.Name]
	if !ok {
		return &VariableError{Variable: b.Name}
	}
	size := element.Size(b.Elem)
	if size == 0 || b.Count < 0 || b.Count > int64(v.Size/size) {
		return &VariableError{b.Name, b.Count, size, v.Size}
	}
	if err := b.Fill.validate(b.Elem); err != nil {
		return fmt.Errorf("variable %s: %w", b.Name, err)
	}
	data := make([]byte, b.Bytes())
	b.Fill.write(b.Elem, 0, data)
	if v.Space == ir.Const {
		copy(m.constants[v.Offset:], data)
		copy(m.pristine[v.Offset:], data)
		return nil
	}
	r := m.byName[b.Name]
	init := make([]byte, v.Size)
	copy(init, v.Init)
	copy(init, data)
	r.Fill = Bytes(init)
	m.drop(func(*Page) bool { return true })
	return nil
}
