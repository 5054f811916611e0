package exec

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// Arg is one kernel argument: the address of a buffer when Buffer is set, the
// bytes of a by-value structure when Bytes is, else a scalar.
type Arg struct {
	Buffer string
	Bytes  []byte
	Elem   ir.Type // type of Scalar
	Scalar float64
}

// BindParams lays the arguments out in the kernel's parameter space.
// Buffers must have been allocated. A scalar must be as wide as its parameter.
func (m *Memory) BindParams(k *ir.Kernel, args []Arg) ([]byte, error) {
	if len(args) != len(k.Params) {
		return nil, fmt.Errorf("kernel %s takes %d arguments, got %d", k.Name, len(k.Params), len(args))
	}
	out := make([]byte, paramBytes(k))
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
				return nil, fmt.Errorf("kernel %s argument %d (%s): a buffer for a parameter of %d bytes", k.Name, i, p.Name, p.Size)
			}
			putBits(dst, addr, 8)
		case a.Bytes != nil:
			if len(a.Bytes) != p.Size {
				return nil, fmt.Errorf("kernel %s argument %d (%s): %d bytes for a parameter of %d", k.Name, i, p.Name, len(a.Bytes), p.Size)
			}
			copy(dst, a.Bytes)
		default:
			if elemSize(a.Elem) != p.Size {
				return nil, fmt.Errorf("kernel %s argument %d (%s): a scalar of %d bytes for a parameter of %d", k.Name, i, p.Name, elemSize(a.Elem), p.Size)
			}
			putBits(dst, encode(a.Elem, a.Scalar), p.Size)
		}
	}
	return out, nil
}

// paramBytes is the size of the kernel's parameter space.
func paramBytes(k *ir.Kernel) int {
	n := 0
	for _, p := range k.Params {
		n = max(n, p.Offset+p.Size)
	}
	return n
}

// LoadModule places the .global variables the kernel can name and sets up its
// constant bank, with fills replacing the initial contents of the variables
// they name. It must be called once, before SetVar and the first run.
func (m *Memory) LoadModule(k *ir.Kernel) error {
	for _, v := range k.Vars {
		switch v.Space {
		case ir.Global:
			b := Buffer{Name: v.Name, Elem: ir.B8, Count: int64(v.Size), Fill: Bytes(v.Init)}
			if err := m.place(b, staticBase+uint64(v.Offset)); err != nil {
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
	return nil
}

// maxConst is the size of the constant bank of every CUDA device.
const maxConst = 64 << 10

// SetVar replaces the contents of a .const or .global variable before the
// first run; the buffer's name is the variable's.
func (m *Memory) SetVar(b Buffer) error {
	v, ok := m.vars[b.Name]
	if !ok {
		return fmt.Errorf("the module has no variable %q", b.Name)
	}
	size := elemSize(b.Elem)
	if size == 0 || b.Count < 0 || b.Count > int64(v.Size/size) {
		return fmt.Errorf("variable %s: %d elements of %d bytes do not fit its %d bytes", b.Name, b.Count, size, v.Size)
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
	m.drop(func(*page) bool { return true })
	return nil
}
