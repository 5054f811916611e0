package footprint

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
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

// scratch is the local memory of all resident threads of the device, bytes.
func scratch(in *timing.Input) float64 {
	threads := float64(in.CTAsPerSM * in.WarpsPerCTA * 32 * in.ActiveSMs())
	return float64(in.Program.LocalBytes) * threads
}

// TrafficOf is what the cost of DRAM's traffic depends on, by a plan.
func TrafficOf(p *Plan) cost.Traffic {
	return cost.Traffic{WriteShare: p.WriteShare(), RowSegmentShare: p.RowSegmentShare, WriteBack: p.WriteBack.Time, Apart: p.WriteBack.Apart * (1 - p.dirty), Uneven: p.Uneven, InStep: p.InStep}
}

// DeviceOf is what a plan needs to know of the GPU and the launch.
func DeviceOf(in *timing.Input) Device {
	d, look := in.Arch, looks(in.Program.Kernel)
	return Device{
		Grid: in.Grid, L2Bytes: d.L2Bytes, EffectiveBytes: d.L2EffectiveBytes,
		Kept: d.L2Kept, KeptUntil: d.L2KeptUntil,
		Scratch: scratch(in), Extents: in.Extents, Cold: in.Cold, Repeated: in.Repeated, Updates: updates(in.Program.Kernel), Streaming: Streaming(in.Program.Kernel),
		Copies: copies(in.Program.Kernel), Ahead: ahead(in.Program.Kernel), Looks: look, Adds: adds(in.Program.Kernel, look), ByIndex: byIndex(in.Program.Kernel),
		Resident: float64(in.CTAsPerSM * in.ActiveSMs()), CTAsPerSM: float64(in.CTAsPerSM), L1Lines: float64(in.L1Lines()),
		PerGPC: float64(d.SMs) / math.Max(d.L2MergingGroups, 1),
	}
}

// copies reports, by instruction, whether a kernel for one architecture alone copies to shared memory with it; nil for
// others.
func copies(k *ir.Kernel) (by []bool) {
	if !k.Specific() {
		return nil
	}
	return ahead(k)
}

// ahead reports, by instruction, whether it copies to shared memory.
func ahead(k *ir.Kernel) []bool {
	by := make([]bool, len(k.Instrs))
	for pc := range by {
		by[pc] = cost.Copies(&k.Instrs[pc])
	}
	return by
}

// looks reports, by instruction, whether it is the look of a wait for other CTAs (ir.Kernel.Spins); nil where none is.
func looks(k *ir.Kernel) (by []bool) {
	for b, spins := range k.Spins() {
		if !spins {
			continue
		}
		if by == nil {
			by = make([]bool, len(k.Instrs))
		}
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			by[pc] = k.Instrs[pc].Op == ir.Ld || k.Instrs[pc].Op == ir.Atom
		}
	}
	return by
}

// adds reports, by instruction, whether it is an atomic on device memory and no look; nil where looks is.
func adds(k *ir.Kernel, looks []bool) (by []bool) {
	if looks == nil {
		return nil
	}
	all := updates(k)
	by = make([]bool, len(k.Instrs))
	for pc := range by {
		by[pc] = all[pc] && !looks[pc]
	}
	return by
}

// updates reports, by instruction, whether it is an atomic on device memory.
func updates(k *ir.Kernel) []bool {
	by := make([]bool, len(k.Instrs))
	for pc := range by {
		in := &k.Instrs[pc]
		by[pc] = (in.Op == ir.Atom || in.Op == ir.Red) && in.Space != ir.Shared
	}
	return by
}

// byIndex reports, by instruction, whether it reads at places that come of the thread's index and parameters alone, not of
// what was read from memory; nil for kernels without such reads. It says so of fetches of texels, and of loads of kernels
// for one architecture alone.
//
// Such a read gathers nothing, although it may look as scattered as a gather: a row of 256 threads reads 16 of every 512
// bytes of an array in tiles, which the next rows of CTAs read on in, and tiles of a matrix go round at its edge. With
// loads taken for gathers linear_relu2 of h100-2026-11-27-triton-wgmma-c reads 30.9 MB, with such as these 16; measured 8.3.
func byIndex(k *ir.Kernel) (by []bool) {
	var read ir.BitSet
	for pc := range k.Instrs {
		in := &k.Instrs[pc]
		if in.Op != ir.Tex && in.Op != ir.Suld && !(in.Op == ir.Ld && in.Space == ir.Global && k.Specific()) {
			continue
		}
		if by == nil {
			by, read = make([]bool, len(k.Instrs)), fromMemory(k)
		}
		by[pc] = !in.ReadsAny(read)
	}
	return by
}

// fromMemory is the registers that depend on what was read from memory, parameters and constants aside.
func fromMemory(k *ir.Kernel) ir.BitSet {
	set := ir.NewBitSet(len(k.Regs))
	var buf [8]ir.Reg
	for changed := true; changed; {
		changed = false
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			if !readsMemory(in) && !in.ReadsAny(set) {
				continue
			}
			for _, r := range in.AppendDefs(buf[:0]) {
				if !set.Has(r) {
					set.Add(r)
					changed = true
				}
			}
		}
	}
	return set
}

func readsMemory(in *ir.Instr) bool {
	switch in.Op {
	case ir.Ld, ir.Ldu:
		return in.Space != ir.ParamSpace && in.Space != ir.Const
	case ir.Atom, ir.Tex, ir.Suld:
		return true
	}
	return false
}
