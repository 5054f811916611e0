//go:build linux

package cuda

import (
	"sync/atomic"
	"unsafe"
)

// Managed allocates managed memory, whose pages are nowhere until they are touched. Release frees it.
func (v *Device) Managed(bytes int64) (Address, error) {
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

// hostPage is the bytes of the smallest page of the host's.
const hostPage = 4096

// ToHost moves pages of managed memory to the host, which then writes to each of them what it holds.
// Nothing may run on the device.
func (v *Device) ToHost(at Address, bytes int64, s Stream) error {
	const host = 0xffff_ffff // CU_DEVICE_CPU, -1 as a C int
	if err := v.call("cuMemPrefetchAsync", at, int(max(bytes, 1)), host, s); err != nil {
		return err
	}
	if err := v.Wait(s); err != nil {
		return err
	}
	memory := *(*unsafe.Pointer)(unsafe.Pointer(&at)) // it is not Go's: the driver gave its address
	for i := int64(0); i < bytes; i += hostPage {
		atomic.AddUint32((*uint32)(unsafe.Add(memory, i)), 0) // a store that no compiler leaves out
	}
	return nil
}
