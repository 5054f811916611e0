package cost

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// Async is what the asynchronous units of an SM take; see arch.Asynchronous. Cycles, and steps where it says so.
type Async struct {
	wgmmaColumns, wgmmaLeast                  float64
	wgmmaLatencyShared, wgmmaLatencyRegisters float64
	sharedBytes                               float64 // of shared memory's banks in a cycle
	// BulkIssue is what a thread takes to issue a copy in a LaneLoop, BulkStoreIssue a store. BulkExtra is what a copy's
	// data takes until the mbarrier knows of it, more than a load's way from L2, or less. BulkStored is what a store takes
	// from L2's taking it until its thread knows.
	BulkIssue, BulkStoreIssue, BulkExtra, BulkStored int64
	BulkSector                                       int64 // steps of the copy engine for a sector
	// Arrive is from an arrival to its effect, Remote that of another CTA's. Wake is from a phase's end until a warp
	// that waits for it goes on. Wait is what a wait takes for a phase that has ended, Arrival what an arrival takes
	// of its thread.
	Arrive, Remote, Wake, Wait, Arrival int64
	FenceProxy, Setmaxnreg, WgmmaFence  int64
	// UniformResult is the latency of the uniform datapath's results, in kernels of which Specific holds.
	UniformResult                  int64
	ClusterBarrier, ClusterRelease int64
	ClusterLoad                    int64
	ClusterStorePass               int64   // steps of the network of a cluster for a line of 128 bytes
	remoteLoad, remoteStore        float64 // cycles for a sector
}

func asyncOf(d *arch.Descriptor, l2 int64) Async {
	whole := func(v float64) int64 { return int64(math.Round(v)) }
	per := func(bytes, rate float64) int64 {
		if rate <= 0 {
			return 0
		}
		return dram.Ticks(bytes / rate)
	}
	a := Async{
		wgmmaColumns: d.WgmmaColumns, wgmmaLeast: d.WgmmaLeast,
		wgmmaLatencyShared: d.WgmmaLatencyShared, wgmmaLatencyRegisters: d.WgmmaLatencyRegisters,
		sharedBytes: math.Max(d.SharedBytesPerCycle, 1),
		BulkIssue:   whole(d.BulkIssue), BulkStoreIssue: whole(d.BulkStoreIssue), BulkSector: per(32, d.BulkBytesPerCycle),
		Wake: whole(d.MbarrierHandover / 2), Wait: whole(d.MbarrierWait), Arrival: whole(d.MbarrierArrive),
		UniformResult: max(whole(d.UniformResult), 1),
		FenceProxy:    whole(d.FenceProxy), Setmaxnreg: whole(d.Setmaxnreg), WgmmaFence: wgmmaFence,
		ClusterBarrier: whole(d.ClusterBarrier), ClusterRelease: whole(d.ClusterBarrierRelease), ClusterLoad: whole(d.ClusterLoadLatency),
		ClusterStorePass: per(128, d.ClusterStoreBytesPerCycle),
	}
	if d.ClusterLoadBytesPerCycle > 0 && d.ClusterStoreBytesPerCycle > 0 {
		a.remoteLoad = math.Max(128/d.ClusterLoadBytesPerCycle-remoteLine, 0) / 4
		a.remoteStore = 32 / d.ClusterStoreBytesPerCycle
	}
	a.Arrive = whole(d.MbarrierHandover) - a.Wake
	a.Remote = max(whole(d.MbarrierRemote)-a.Wake, a.Arrive)
	a.BulkExtra = whole(d.BulkLatency) - l2 - a.Wake
	a.BulkStored = max(whole(d.BulkStoreLatency)-a.BulkStoreIssue, 0)
	return a
}

// wgmmaBytes is the bytes of a row of A or a column of B in one product, of whatever type.
const wgmmaBytes = 32

// QueuedProducts is how many warpgroup MMAs wait at a tensor core, beside the one that it is at work on, without
// their warps standing still, of one warpgroup or of two. Of 64 in a row (m64n128k16) a warp issues the first seven 12
// cycles apart and the others as the tensor core gets them done; with two warpgroups it is three of each (deploy/calibrate
// queued, an H100; 8, 64, 128 and 256 columns).
const QueuedProducts = 6

// wgmmaFence is how many cycles after WARPGROUP.ARRIVE ptxas issues the MMA behind it (stall counts, sm_90a).
const wgmmaFence = 6

// issueApart is how many cycles after a warpgroup MMA its warp issues the next one at the earliest, in code of ptxas 12.8 and
// 13.0: 4, 4, 12 and 28 with 8, 64, 128 and 256 columns (ibid.; stall counts of 4, 4, 12 and 15). ptxas 13.5 has 4 for all.
func issueApart(columns float64) int64 { return int64(math.Max(columns/8-4, 4)) }

// Products of a warpgroup whose sums are of 32 bits read and write these in registers all the time. What other warps of
// the sub-partition execute meanwhile is slowed; with sums of halves it is not. Measured of m64n128k16 beside one and two
// warps of a sub-partition (deploy/calibrate wgmma.others and wgmma.slowed, an H200): LOP3 and IMAD come at 0.42 to 0.50
// of the rate that they have alone, MUFU at 0.72, and products take no longer. FFMA comes at 0.55 to 0.68, and with the
// products that are left a cycle takes one or the other (0.37 and 0.64, 0.57 and 0.43).
//
// SlowedBeside is how many times as long an instruction holds its pipe, DelaysProduct the steps for which one of
// single-precision arithmetic keeps the tensor core from its product.
func SlowedBeside(p Pipe) float64 {
	switch p {
	case PipeALU, PipeFMA, PipeIMAD, PipeHalf:
		return 2
	case PipeXU:
		return 1.4
	}
	return 1
}

const DelaysProduct = dram.Fraction

// LaneLoop reports whether the instruction of a block is one that ptxas has lanes take turns at, in a loop whose branch is of
// the same PTX instruction. The branch waits until the uniform registers have been read. A bulk copy by itself takes its
// thread no longer than any instruction (stall count 1 of UTMALDG, ptxas 12.8).
func LaneLoop(block []assemble.Instr, i int) bool {
	for k := i + 1; k < len(block) && block[k].Source == block[i].Source; k++ {
		if block[k].Class == assemble.Branch {
			return true
		}
	}
	return false
}

// SlowsOthers reports whether a warpgroup MMA slows what other warps execute.
func SlowsOthers(in *ir.Instr) bool { return in.Matrix == nil || in.Matrix.D != ir.F16 }

// WgmmaCost is what a warp's part of a warpgroup MMA takes.
type WgmmaCost struct {
	Hold    int64 // steps of its sub-partition's tensor core
	Shared  int64 // steps of the banks of shared memory
	Latency int64 // cycles from its start to its result
	Next    int64 // cycles until its warp issues again
}

// Wgmma is the cost of a warpgroup MMA. A quarter of what it reads of shared memory counts for each warp.
func (m *Machine) Wgmma(in *ir.Instr) WgmmaCost {
	n, a := 8.0, &m.Async
	if in.Matrix != nil {
		n = math.Max(float64(in.Matrix.N), n)
	}
	alone := n / math.Max(a.wgmmaColumns, 0.01)
	read := n * wgmmaBytes / a.sharedBytes
	least, latency := a.wgmmaLeast, a.wgmmaLatencyRegisters
	if in.Matrix != nil && in.Matrix.FromShared {
		read += 64 * wgmmaBytes / a.sharedBytes
		least, latency = read, a.wgmmaLatencyShared
	}
	return WgmmaCost{
		Hold: dram.Ticks(math.Max(alone, least)), Shared: dram.Ticks(read / 4),
		Latency: int64(math.Round(latency + alone)), Next: issueApart(n),
	}
}

// CheckClass reports what an instruction needs that the GPU has no figures of.
func CheckClass(d *arch.Descriptor, c assemble.Class) error {
	lacks := ""
	switch c {
	case assemble.Wgmma:
		if d.WgmmaColumns == 0 {
			lacks = "warpgroup MMAs (wgmma)"
		}
	case assemble.Bulk:
		if d.BulkBytesPerCycle == 0 {
			lacks = "bulk copies (cp.async.bulk)"
		}
	case assemble.Mbarrier, assemble.MbarWait:
		if d.MbarrierHandover == 0 {
			lacks = "mbarriers"
		}
	case assemble.ClusterBarrier:
		if d.ClusterBarrier == 0 {
			lacks = "clusters of CTAs"
		}
	}
	if lacks != "" {
		return fmt.Errorf("timing: there are no figures of %s of %q", lacks, d.Name)
	}
	return nil
}

// IsAsync reports whether a class is one of the asynchronous units'.
func IsAsync(c assemble.Class) bool {
	return c == assemble.Wgmma || c == assemble.Bulk || c == assemble.Mbarrier || c == assemble.MbarWait || c == assemble.ClusterBarrier
}

// UsesAsync reports whether a program has an instruction of the asynchronous units.
func UsesAsync(p *assemble.Program) bool {
	for i := range p.Blocks {
		for k := range p.Blocks[i].Instrs {
			if IsAsync(p.Blocks[i].Instrs[k].Class) {
				return true
			}
		}
	}
	return false
}

// WaitsByWords reports whether warps of a kernel wait for each other by words of shared memory (trace.Handover).
func WaitsByWords(k *ir.Kernel) bool { return k.SharedSpins() != nil }

// MayHandOver reports whether a PTX instruction may look at such a word or write it.
func MayHandOver(in *ir.Instr) bool {
	return (in.Op == ir.Ld || in.Op.WritesMemory()) && (in.Space == ir.Shared || in.Space == ir.Generic)
}

// WordWake is from a write to a word of shared memory until a warp goes on that looks at it again and again: the look that
// finds it, and half a round of looks before. A round is a load, a test and a branch. WordArrival is what a write that must
// come before takes until the last warp knows of it. Not measured.
func (m *Machine) WordWake() int64 { return m.LatShared + (m.LatShared+m.roundRest)/2 }

// WordArrival is described there.
func (m *Machine) WordArrival() int64 { return m.LatAtomicShared + m.roundRest }

// Copies reports whether an instruction copies to shared memory without L1.
func Copies(in *ir.Instr) bool {
	return in.Op == ir.BulkCopy || in.Op == ir.BulkPrefetch || in.Op == ir.CpAsync && BypassesL1(in)
}

// Arrivals is how many arrivals at a CTA's own mbarrier an operation of one of its warps stands for. Every CTA of its
// cluster is taken to do the same at the same time: one that arrives at another CTA's is met by one from there.
func Arrivals(lanes uint8, count int32) int32 { return int32(max(lanes, 1)) * max(count, 1) }

// Expected is the bytes that an operation of so many alike threads expects, each as many.
func Expected(a *trace.Async) int64 { return int64(a.Bytes) * int64(max(a.Lanes, 1)) }
