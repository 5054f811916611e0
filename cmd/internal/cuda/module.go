//go:build linux

package cuda

import (
	"bytes"
	"errors"
	"strings"
	"unsafe"
)

// Module is loaded code.
type Module struct {
	device *Device
	handle uintptr
}

// Options of the driver's compiler (CUjit_option).
const (
	jitMaxRegisters = 0
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

// Load loads PTX, which the driver compiles, or a cubin. maxRegisters caps the
// registers a thread of what it compiles; 0: no cap.
func (v *Device) Load(image []byte, maxRegisters int) (*Module, error) {
	image = append(bytes.Clone(image), 0)
	log := v.log
	log[0] = 0
	options := []uint32{jitErrorLog, jitErrorLogSize}
	// Values are passed as pointers, numbers in their low bits (cuda.h, cuModuleLoadDataEx).
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	if maxRegisters > 0 {
		options, values = append(options, jitMaxRegisters), append(values, uintptr(maxRegisters))
	}
	m := &Module{device: v}
	err := v.call("cuModuleLoadDataEx", ptr(&m.handle), ptr(&image[0]), len(options), ptr(&options[0]), ptr(&values[0]))
	var failed *Error
	if errors.As(err, &failed) {
		failed.Log = strings.Join(strings.Fields(until0(log)), " ")
	}
	return m, err
}

// Unload unloads a module.
func (m *Module) Unload() error { return m.device.call("cuModuleUnload", m.handle) }

// Global finds a variable.
func (m *Module) Global(name string) (at Address, size int64, err error) {
	text := append([]byte(name), 0)
	err = m.device.call("cuModuleGetGlobal_v2", ptr(&at), ptr(&size), m.handle, ptr(&text[0]))
	return at, size, err
}

// Function is a kernel.
type Function struct {
	device *Device
	handle uintptr
}

// Function finds a kernel.
func (m *Module) Function(name string) (*Function, error) {
	text := append([]byte(name), 0)
	f := &Function{device: m.device}
	return f, m.device.call("cuModuleGetFunction", ptr(&f.handle), m.handle, ptr(&text[0]))
}

// Attribute is one of a kernel (CUfunction_attribute).
type Attribute int

// Attributes.
const (
	MaxThreads         Attribute = 0
	StaticShared       Attribute = 1 // bytes
	ConstBytes         Attribute = 2
	LocalBytes         Attribute = 3 // a thread
	Registers          Attribute = 4 // a thread
	MaxDynamicShared   Attribute = 8 // bytes
	CarveOut           Attribute = 9 // percent, -1: the driver's choice
	NonPortableCluster Attribute = 14
)

// Get reads an attribute.
func (f *Function) Get(a Attribute) (int, error) {
	var n int32
	err := f.device.call("cuFuncGetAttribute", ptr(&n), int(a), f.handle)
	return int(n), err
}

// Put sets an attribute.
func (f *Function) Put(a Attribute, value int) error {
	return f.device.call("cuFuncSetAttribute", f.handle, int(a), int(uint32(int32(value))))
}

// ParamSizes are the bytes of the kernel's parameters. ok is false where the driver
// does not tell.
func (f *Function) ParamSizes() (sizes []int64, ok bool) {
	if !f.device.Has("cuFuncGetParamInfo") {
		return nil, false
	}
	for i := 0; ; i++ {
		var offset, size int64
		if err := f.device.call("cuFuncGetParamInfo", f.handle, i, ptr(&offset), ptr(&size)); err != nil {
			return sizes, true // there is no such parameter
		}
		sizes = append(sizes, size)
	}
}

// pointers are the addresses of parameters' bytes, as a launch takes them. A tensor
// map must lie at a multiple of 64 bytes.
func pointers(params [][]byte) []unsafe.Pointer {
	out := make([]unsafe.Pointer, len(params)+1)
	for i, p := range params {
		out[i] = unsafe.Pointer(unsafe.SliceData(Aligned(p)))
	}
	return out
}

// Aligned copies bytes to a multiple of 64.
func Aligned(b []byte) []byte {
	room := make([]byte, len(b)+64)
	skip := int(-uintptr(unsafe.Pointer(&room[0])) & 63)
	copy(room[skip:], b)
	return room[skip : skip+len(b)]
}
