package explain

import (
	"slices"

	"github.com/warptune/warptune/simengine/arch"
)

// Peak is what a unit of the whole device does at most.
type Peak struct {
	Unit      string
	PerSecond float64
	Bound     string // the unit, as timing calls it; of memory only
}

// MemoryPeaks are bytes a second of DRAM, of L2, and of L1 and shared memory.
func MemoryPeaks(d *arch.Descriptor) [3]Peak {
	clock := d.ClockMHz * 1e6
	return [3]Peak{
		{"DRAM", d.DRAMBytesPerSecond, "dram"},
		{"L2", max(d.L2BytesPerCycle, d.L2MergedBytesPerCycle) * clock, "l2"},
		{"L1 and shared memory", d.L1BytesPerCycle * float64(d.SMs) * clock, "lsu"},
	}
}

// flopKinds are the kinds of floating-point operations, as rates name them, with the compute capability that first has
// instructions for them (PTX ISA, the target notes of mma).
var flopKinds = []struct {
	name  string
	since [2]int
}{
	{"fp32", [2]int{}}, {"fp64", [2]int{}}, {"half", [2]int{5, 3}}, {"tensor cores, fp16", [2]int{7, 0}}, {"tensor cores, int8", [2]int{7, 2}},
	{"tensor cores, bf16", [2]int{8, 0}}, {"tensor cores, tf32", [2]int{8, 0}}, {"tensor cores, fp64", [2]int{8, 0}}, {"tensor cores, fp8", [2]int{8, 9}},
}

// ComputePeaks are operations a second by kind, of the kinds that there are units for.
func ComputePeaks(d *arch.Descriptor) (all []Peak) {
	for _, k := range flopKinds {
		if v := flopPerSecond(d, k.name); v > 0 && slices.Compare(d.CC[:], k.since[:]) >= 0 {
			all = append(all, Peak{Unit: k.name, PerSecond: v})
		}
	}
	return all
}

// IssuePeak is the machine instructions of warps that are issued in a second at most.
func IssuePeak(d *arch.Descriptor) float64 {
	return float64(d.SMs*d.SubPartitions*max(d.IssueWidth, 1)) * d.ClockMHz * 1e6
}

func flopPerSecond(d *arch.Descriptor, kind string) float64 {
	return peakFLOP(d, kind) * float64(d.SMs) * d.ClockMHz * 1e6
}
