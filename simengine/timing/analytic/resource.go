package analytic

import (
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// resource is a unit that warps queue for. The first are the issue slot and the issue ports of
// a sub-partition, numbered as cost.ClassFigures.Port is.
type resource int

const (
	issueSlot resource = 0
	// lsu is the load/store unit with L1's tags and data banks, idc the
	// indexed constant cache; both the SM's.
	lsu = resource(cost.NumPorts) + iota - 1
	idc
	texels   // the SM's texture unit
	l2Slices // this SM's share of the L2 slices
	inPort   // from L2 into the SM
	outWay   // from the SM to L2
	dramBus
	hotSlices    // the L2 slices that atomics on a buffer fall on, by buffer
	numResources = hotSlices + dram.AtomicBuffers
)

// ofSub reports whether every sub-partition has the resource.
func (r resource) ofSub() bool { return r < lsu }

// shared reports whether it is a share of something that other SMs use, too.
func (r resource) shared() bool { return r >= l2Slices && r != inPort }

// work is what a warp does in a phase: how long it takes alone and how long it
// keeps each resource busy, cycles.
type work struct {
	time   float64
	issued float64 // instructions
	tensor float64 // of those, the ones that tensor cores execute
	turns  float64 // of L1's data stage that are no request's: shuffles, thread indexes and warpgroup MMAs
	// waits is how often the warp stands still for a result of memory, fromL2
	// and fromDRAM how often for one from there, and contended the expected
	// number of mean contention delays of DRAM in that.
	waits, fromL2, fromDRAM, contended float64
	// staged is the busy time of the busiest part of the memory system beyond
	// L1, taken for each stage between waits for it by itself.
	staged  float64
	spilled [2]float64 // sectors of spilled registers, loaded and stored
	busy    [numResources]float64
	// blocking is the part of busy that the warp waits for: loads, not stores.
	blocking [numResources]float64
}

// add adds n times o.
func (w *work) add(o *work, n float64) {
	w.time += n * o.time
	w.issued += n * o.issued
	w.tensor += n * o.tensor
	w.turns += n * o.turns
	w.waits += n * o.waits
	w.fromL2 += n * o.fromL2
	w.fromDRAM += n * o.fromDRAM
	w.contended += n * o.contended
	w.staged += n * o.staged
	w.spilled[0] += n * o.spilled[0]
	w.spilled[1] += n * o.spilled[1]
	for r := range w.busy {
		w.busy[r] += n * o.busy[r]
		w.blocking[r] += n * o.blocking[r]
	}
}
