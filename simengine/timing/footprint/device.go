package footprint

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
)

// Device is what the estimate needs to know of the device and the launch.
type Device struct {
	Grid [3]int
	// L2Bytes is the second-level cache, EffectiveBytes the part of it that
	// data touched by all SMs can use (less than L2Bytes where halves of the
	// cache keep copies).
	L2Bytes, EffectiveBytes int
	// Kept is the share of L2Bytes up to which a launch finds everything that the
	// previous one touched, KeptUntil that from which it finds nothing.
	Kept, KeptUntil float64
	// Scratch is further data that lives in L2 (local memory), bytes.
	Scratch float64
	// Extents are the buffers in device memory; nil when they are not known,
	// and then the range of addresses surveyed stands for them.
	Extents []timing.Extent
	// Copies says by instruction that it copies tiles to shared memory: it is no gather, however its addresses spread;
	// nil: nothing is said.
	Copies []bool
	// Ahead says by instruction that it copies to shared memory, in any kernel; nil: nothing is said.
	Ahead []bool
	// ByIndex says by instruction that it reads at places that no data gives: it is no gather either; nil: nothing is
	// said.
	ByIndex []bool
	// Cold reports whether no earlier launch of the kernel left data behind. Repeated reports whether an
	// earlier one stored what this one stores all the same: a profiler restores only what is updated.
	Cold, Repeated bool
	// Updates says by instruction that it adds to what is there, which no earlier launch left as this one does.
	Updates []bool
	// Streaming says by instruction that it marks lines to be evicted first; nil: none does.
	Streaming []bool
	// Looks and Adds say by instruction that it looks for what other CTAs write, or is another atomic; nil: none looks.
	Looks, Adds []bool
	// Resident is the CTAs that the device runs at a time, 0 for few of many, and
	// CTAsPerSM those of an SM.
	Resident, CTAsPerSM float64
	// PerGPC is the SMs of a GPC, 0 where it is not known.
	PerGPC float64
	// L1Lines is the lines of an SM's L1.
	L1Lines float64
}

// holds is the granules of the buffers that a range of lines lies in, 0 when
// none is known to hold it.
func (d *Device) holds(low, high, perLine uint64) float64 {
	var lines uint64
	for _, e := range d.Extents {
		if e.First <= high && low <= e.Last {
			lines += e.Last - e.First + 1
		}
	}
	return float64(lines * perLine)
}

// extents is the bytes of all buffers, 0 where they are not known.
func (d *Device) extents() (bytes float64) {
	for _, e := range d.Extents {
		bytes += float64(e.Last-e.First+1) * lineBytes
	}
	return bytes
}

// inStep reports whether SMs stay in step: none has two CTAs at a time. They begin together and, with as much work each,
// load a tile and multiply it at the same moments. Where an SM has several CTAs, these come to load at moments of their own.
// A product whose CTAs take a whole SM, with two tiles of 98 KB, was predicted at 0.73 of its time (conv3x3_nhwc, H200).
func (d *Device) inStep(ctas float64) bool {
	return d.Resident > 0 && math.Min(d.Resident, ctas)*d.CTAsPerSM <= d.Resident
}
