package ideal

import (
	"maps"

	"github.com/warptune/warptune/simengine/arch"
)

// none is a latency that is taken for nothing, cycles.
const none = 1

// memoryLatencies and dependencies are what Latency and Dependency set to none.
var (
	memoryLatencies = []string{
		arch.LatencyShared, arch.LatencyL1, arch.LatencyL2, arch.LatencyL2Far, arch.LatencyDRAM, arch.LatencyConstant,
		arch.LatencyConstantL15, arch.LatencyConstantMiss, arch.LatencyAtomicShared, arch.LatencyAtomicL2,
	}
	dependencies = []string{
		arch.LatencyALU, arch.LatencyFMA, arch.LatencyIMAD, arch.LatencyFP64, arch.LatencyHalf, arch.LatencyMUFU, arch.LatencyXU,
		arch.LatencyPredicate, arch.LatencyUniform, arch.LatencyShuffle, arch.LatencyVote, arch.LatencyS2R,
	}
	pipes = []string{
		arch.LaneFP32, arch.LaneInt32, arch.LaneShift, arch.LaneIMAD, arch.LaneFP64, arch.LaneHalf, arch.LaneMUFU, arch.LaneXU,
		arch.LaneUniform,
	}
)

// fast is how many times as fast a memory or unit is that takes nothing.
const fast = 1000

// warpSize is the lanes that a scheduler issues an instruction for in a cycle.
const warpSize = 32

// Machine is a GPU on which the mechanisms cost nothing, d itself where none of them is one of the machine.
func (s Set) Machine(d *arch.Descriptor) *arch.Descriptor {
	if s&(Latency|Dependency|DRAM|Launch|Pipes|L1Bandwidth|L2Bandwidth|CTAWork) == 0 {
		return d
	}
	m := *d
	m.Latency, m.Lanes = maps.Clone(d.Latency), maps.Clone(d.Lanes)
	set := func(keys []string) {
		for _, key := range keys {
			m.Latency[key] = min(m.Latency[key], none)
		}
	}
	if s.Has(DRAM) {
		m.DRAMBytesPerSecond *= fast
		m.DRAMOpening = 0
		m.Latency[arch.LatencyDRAM] = m.Latency[arch.LatencyL2]
		for i := range m.DRAMWaits {
			m.DRAMWaits[i] = 1
		}
	}
	if s.Has(Latency) {
		set(memoryLatencies)
		m.BulkLatency, m.BulkStoreLatency = min(m.BulkLatency, none), min(m.BulkStoreLatency, none)
		m.ClusterLoadLatency = min(m.ClusterLoadLatency, none)
	}
	if s.Has(Dependency) {
		set(dependencies)
		m.TensorLatency, m.TensorShortLatency, m.TensorDoubleLatency = min(m.TensorLatency, none), min(m.TensorShortLatency, none), min(m.TensorDoubleLatency, none)
		m.WgmmaLatencyShared, m.WgmmaLatencyRegisters = min(m.WgmmaLatencyShared, none), min(m.WgmmaLatencyRegisters, none)
	}
	if s&(Launch|CTAWork) != 0 {
		m.CTALaunchRate = 0
		m.CTATurnaround, m.CTATurnaroundEmpty, m.CTATurnaroundWarp = 0, 0, 0
		m.Latency[arch.LatencyConstantMiss] = none
	}
	s.bandwidths(&m)
	return &m
}

// bandwidths raises what the units of a machine do in a cycle.
func (s Set) bandwidths(m *arch.Descriptor) {
	times := func(all ...*float64) {
		for _, v := range all {
			*v *= fast
		}
	}
	if s.Has(Pipes) {
		for _, key := range pipes {
			m.Lanes[key] = max(m.Lanes[key], float64(warpSize*m.SubPartitions))
		}
		times(&m.TensorRate, &m.TensorShortRate, &m.TensorDoubleRate, &m.WgmmaColumns)
	}
	if s.Has(L1Bandwidth) {
		times(&m.L1BytesPerCycle, &m.L1TagsPerCycle, &m.SharedBytesPerCycle)
		m.Lanes[arch.LaneLSU] *= fast
		m.StoreLineCycles = 0
	}
	if s.Has(L2Bandwidth) {
		times(&m.L2BytesPerCycle, &m.L2MergedBytesPerCycle, &m.L2WriteBytesPerCycle, &m.L2LookupBytesPerCycle, &m.BulkBytesPerCycle)
	}
}
