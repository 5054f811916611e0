//go:build linux

package nvml

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// LibraryName is the library, as the driver's package installs it.
const LibraryName = "libnvidia-ml.so.1"

// Library is the loaded library.
type Library struct {
	handle uintptr
	held   []any // arguments of the last call
}

// Open loads and starts the library.
func Open(path string) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("no NVML: %w", err)
	}
	l := &Library{handle: handle}
	return l, l.call("nvmlInit_v2")
}

// call calls the library. Addresses in args are of what is on the heap, where nothing
// moves, and is held until the next call.
func (l *Library) call(name string, args ...any) error {
	fn, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return fmt.Errorf("NVML has no %s", name)
	}
	l.held = args
	words := make([]uintptr, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case unsafe.Pointer:
			words[i] = uintptr(v)
		case int:
			words[i] = uintptr(v)
		case uintptr:
			words[i] = v
		}
	}
	if status, _, _ := purego.SyscallN(fn, words...); int32(status) != 0 {
		return fmt.Errorf("%s: NVML error %d", name, int32(status))
	}
	return nil
}

func ptr[T any](p *T) unsafe.Pointer { return unsafe.Pointer(p) }

// DriverVersion is the driver's, e.g. "580.159.04".
func (l *Library) DriverVersion() (string, error) {
	b := make([]byte, 96)
	err := l.call("nvmlSystemGetDriverVersion", ptr(&b[0]), len(b))
	for i, c := range b {
		if c == 0 {
			return string(b[:i]), err
		}
	}
	return string(b), err
}

// Device is a GPU.
type Device struct {
	library *Library
	handle  uintptr
}

// Device finds a GPU by its PCI bus id.
func (l *Library) Device(bus string) (*Device, error) {
	text := append([]byte(bus), 0)
	d := &Device{library: l}
	return d, l.call("nvmlDeviceGetHandleByPciBusId_v2", ptr(&text[0]), ptr(&d.handle))
}

// State is what a GPU is doing at a time.
type State struct {
	SM, Memory  int    // clocks, MHz
	MaxSM       int    // highest SM clock, MHz
	Temperature int    // degrees Celsius
	Power       int    // watts
	Reasons     uint64 // why clocks are not higher (nvmlClocksEventReasons)
}

// State reads what it can; a value that the GPU does not tell is 0.
func (d *Device) State() State {
	var s State
	number := func(name string, args ...int) int {
		var n uint32
		all := []any{d.handle}
		for _, a := range args {
			all = append(all, a)
		}
		if d.library.call(name, append(all, ptr(&n))...) != nil {
			return 0
		}
		return int(n)
	}
	const smClock, memoryClock = 1, 2
	s.SM, s.Memory = number("nvmlDeviceGetClockInfo", smClock), number("nvmlDeviceGetClockInfo", memoryClock)
	s.MaxSM = number("nvmlDeviceGetMaxClockInfo", smClock)
	s.Temperature, s.Power = number("nvmlDeviceGetTemperature", 0), number("nvmlDeviceGetPowerUsage")/1000
	if d.library.call("nvmlDeviceGetCurrentClocksEventReasons", d.handle, ptr(&s.Reasons)) != nil {
		_ = d.library.call("nvmlDeviceGetCurrentClocksThrottleReasons", d.handle, ptr(&s.Reasons)) // its name before 12.2
	}
	return s
}

// process is nvmlProcessInfo_v2_t.
type process struct {
	pid uint32
	_   uint64    // bytes of memory that it uses
	_   [2]uint32 // instances of a GPU that is divided
}

// Users are the processes that compute on the GPU.
func (d *Device) Users() ([]int, error) {
	list := make([]process, 64)
	n := uint32(len(list))
	if err := d.library.call("nvmlDeviceGetComputeRunningProcesses_v3", d.handle, ptr(&n), ptr(&list[0])); err != nil {
		return nil, err
	}
	var out []int
	for _, p := range list[:min(int(n), len(list))] {
		out = append(out, int(p.pid))
	}
	return out, nil
}
