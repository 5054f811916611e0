//go:build linux

package cuda

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// LibraryName is the driver's library, as its package installs it.
const LibraryName = "libcuda.so.1"

// Driver is the loaded library.
type Driver struct {
	handle uintptr
	calls  map[string]uintptr
	held   []any  // arguments of the last call
	log    []byte // of its compiler
	// Version is that of CUDA which the driver is for, as 1000 x major + 10 x minor.
	Version int
}

// since says which version of CUDA brought a call that an old driver may lack.
var since = map[string]string{
	"cuLaunchKernelEx":            "11.8",
	"cuTensorMapEncodeTiled":      "12.0",
	"cuGraphInstantiateWithFlags": "11.4",
	"cuFuncGetParamInfo":          "12.4",
	"cuLaunchCooperativeKernel":   "9.0",
	"cuMemPrefetchAsync":          "8.0",
}

// MissingError is that the driver has not a call.
type MissingError struct {
	Call  string
	Has   int    // Driver.Version
	Since string // the version of CUDA that brought the call; "": not known
}

func (e *MissingError) Error() string {
	text := "the driver has no " + e.Call
	if e.Since != "" {
		text += fmt.Sprintf(", which came with CUDA %s; this one is of CUDA %d.%d", e.Since, e.Has/1000, e.Has%1000/10)
	}
	return text + ": install a newer driver"
}

// Open loads the driver's library and initialises it. path is LibraryName or a file.
func Open(path string) (*Driver, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("there is no NVIDIA driver (%w): run it on a machine with a GPU and its driver", err)
	}
	d := &Driver{handle: handle, calls: map[string]uintptr{}, log: make([]byte, 8192)}
	if err := d.call("cuInit", 0); err != nil {
		return nil, err
	}
	var version int32
	if err := d.call("cuDriverGetVersion", ptr(&version)); err != nil {
		return nil, err
	}
	d.Version = int(version)
	return d, nil
}

// ptr is the address of a value, for call.
func ptr[T any](p *T) unsafe.Pointer { return unsafe.Pointer(p) }

// find returns the address of a call.
func (d *Driver) find(name string) (uintptr, error) {
	if fn, ok := d.calls[name]; ok {
		return fn, nil
	}
	fn, err := purego.Dlsym(d.handle, name)
	if err != nil {
		return 0, &MissingError{name, d.Version, since[name]}
	}
	d.calls[name] = fn
	return fn, nil
}

// Has reports whether the driver has a call.
func (d *Driver) Has(name string) bool {
	_, err := d.find(name)
	return err == nil
}

// call calls the driver. args are numbers, and addresses as unsafe.Pointer: what these
// point to is on the heap, where nothing moves, and is held until the next call.
func (d *Driver) call(name string, args ...any) error {
	fn, err := d.find(name)
	if err != nil {
		return err
	}
	d.held = args
	status, _, _ := purego.SyscallN(fn, words(args)...)
	if code := int32(status); code != 0 {
		return d.failure(name, code)
	}
	return nil
}

// words are the arguments of a call as C takes them.
func words(args []any) []uintptr {
	out := make([]uintptr, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case unsafe.Pointer:
			out[i] = uintptr(v)
		case int:
			out[i] = uintptr(v)
		case uintptr:
			out[i] = v
		case Address:
			out[i] = uintptr(v)
		case Array:
			out[i] = uintptr(v)
		case Stream:
			out[i] = uintptr(v)
		case Event:
			out[i] = uintptr(v)
		default:
			panic(fmt.Sprintf("argument %d of a call is a %T", i, a))
		}
	}
	return out
}

// text reads a C string that the driver owns.
func text(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// until0 is a C string in a buffer.
func until0(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
