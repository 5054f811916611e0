//go:build linux

package cuda

// Device is one GPU with its primary context, current on this thread.
type Device struct {
	*Driver
	id      int32
	context uintptr
	Name    string // e.g. "NVIDIA H100 80GB HBM3"
	CC      [2]int // compute capability
	SMs     int
	L2      int    // bytes
	Memory  uint64 // bytes
	// SharedSM is the shared memory of an SM, SharedOptIn the most that a CTA gets, bytes.
	SharedSM, SharedOptIn int
	// MemoryClock is in kHz, BusWidth in bits; 0: the driver does not tell.
	MemoryClock, BusWidth int
	Bus                   string // PCI bus id, by which NVML knows it
}

// Device attributes (CUdevice_attribute).
const (
	attrMultiprocessors = 16
	attrMemoryClock     = 36
	attrBusWidth        = 37
	attrL2Bytes         = 38
	attrMajor           = 75
	attrMinor           = 76
	attrSharedSM        = 81
	attrSharedOptIn     = 97
)

// Count is how many GPUs are visible.
func (d *Driver) Count() (int, error) {
	var n int32
	err := d.call("cuDeviceGetCount", ptr(&n))
	return int(n), err
}

// Describe says what GPU number ordinal is, without a context on it.
func (d *Driver) Describe(ordinal int) (*Device, error) {
	v := &Device{Driver: d}
	if err := d.call("cuDeviceGet", ptr(&v.id), ordinal); err != nil {
		return nil, err
	}
	name, bus := make([]byte, 256), make([]byte, 64)
	if err := d.call("cuDeviceGetName", ptr(&name[0]), 256, int(v.id)); err != nil {
		return nil, err
	}
	if err := d.call("cuDeviceGetPCIBusId", ptr(&bus[0]), 64, int(v.id)); err != nil {
		return nil, err
	}
	if err := d.call("cuDeviceTotalMem_v2", ptr(&v.Memory), int(v.id)); err != nil {
		return nil, err
	}
	v.Name, v.Bus = until0(name), until0(bus)
	for _, a := range []struct {
		id int
		to *int
	}{
		{attrMajor, &v.CC[0]}, {attrMinor, &v.CC[1]}, {attrMultiprocessors, &v.SMs}, {attrL2Bytes, &v.L2},
		{attrSharedSM, &v.SharedSM}, {attrSharedOptIn, &v.SharedOptIn}, {attrMemoryClock, &v.MemoryClock}, {attrBusWidth, &v.BusWidth},
	} {
		var n int32
		if err := d.call("cuDeviceGetAttribute", ptr(&n), a.id, int(v.id)); err != nil {
			return nil, err
		}
		*a.to = int(n)
	}
	return v, nil
}

// Use makes the device's primary context and makes it this thread's.
func (v *Device) Use() error {
	if err := v.call("cuDevicePrimaryCtxRetain", ptr(&v.context), int(v.id)); err != nil {
		return err
	}
	return v.call("cuCtxSetCurrent", v.context)
}

// Synchronize waits until everything has ended that was begun.
func (v *Device) Synchronize() error { return v.call("cuCtxSynchronize") }

// Free is how many bytes of the device's memory are free.
func (v *Device) Free() (uint64, error) {
	var free, total uint64
	err := v.call("cuMemGetInfo_v2", ptr(&free), ptr(&total))
	return free, err
}

// Address is one of device memory; 0 is none.
type Address uint64

// Alloc allocates device memory.
func (v *Device) Alloc(bytes int64) (Address, error) {
	var a Address
	err := v.call("cuMemAlloc_v2", ptr(&a), int(max(bytes, 1)))
	return a, err
}

// Release frees what Alloc allocated.
func (v *Device) Release(a Address) error { return v.call("cuMemFree_v2", int(a)) }

// Write copies to the device.
func (v *Device) Write(to Address, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	return v.call("cuMemcpyHtoD_v2", to, ptr(&from[0]), len(from))
}

// Read copies from the device.
func (v *Device) Read(to []byte, from Address) error {
	if len(to) == 0 {
		return nil
	}
	return v.call("cuMemcpyDtoH_v2", ptr(&to[0]), from, len(to))
}

// Copy copies within the device, in the order of a stream.
func (v *Device) Copy(to, from Address, bytes int64, s Stream) error {
	if bytes == 0 {
		return nil
	}
	return v.call("cuMemcpyDtoDAsync_v2", to, from, int(bytes), s)
}

// Set fills words of device memory, in the order of a stream.
func (v *Device) Set(to Address, word uint32, words int64, s Stream) error {
	return v.call("cuMemsetD32Async", to, int(word), int(words), s)
}
