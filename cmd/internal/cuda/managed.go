//go:build linux

package cuda

import "unsafe"

// Attributes of a device (CUdevice_attribute) that its managed memory needs.
const (
	attrManaged           = 83
	attrConcurrentManaged = 89
)

// UnmanagedError is of a GPU whose pages of managed memory cannot be moved one by one: all are
// on the device while anything runs there, so a launch has no first one of its own.
type UnmanagedError struct{ GPU string }

func (e *UnmanagedError) Error() string {
	return "the GPU here, " + e.GPU + ", has no concurrent managed access (a GPU from before Pascal, Windows, WSL, Tegra and some virtual GPUs have none), so pages of managed memory cannot be put where the launch has them: " +
		"measure on a GPU that has it, under Linux, or leave out the argument's Managed and measure with ordinary device memory"
}

// Managed allocates managed memory, whose pages are nowhere until they are touched. Release frees it.
func (v *Device) Managed(bytes int64) (Address, error) {
	for _, attr := range []int{attrManaged, attrConcurrentManaged} {
		var has int32
		if err := v.call("cuDeviceGetAttribute", ptr(&has), attr, int(v.id)); err != nil {
			return 0, err
		}
		if has == 0 {
			return 0, &UnmanagedError{v.Name}
		}
	}
	const global = 1 // CU_MEM_ATTACH_GLOBAL
	var a Address
	err := v.call("cuMemAllocManaged", ptr(&a), int(max(bytes, 1)), global)
	return a, err
}

// ToDevice moves pages of managed memory to the device, in the order of a stream.
func (v *Device) ToDevice(at Address, bytes int64, s Stream) error {
	return v.call("cuMemPrefetchAsync", at, int(max(bytes, 1)), int(v.id), s)
}

// HostWrites has the host write to managed memory. Nothing may run on the device.
func HostWrites(at Address, from []byte) {
	memory := *(*unsafe.Pointer)(unsafe.Pointer(&at)) // it is not Go's: the driver gave its address
	copy(unsafe.Slice((*byte)(memory), len(from)), from)
}
