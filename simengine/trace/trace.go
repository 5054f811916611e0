// Package trace is the record of what the warps of a CTA did, as the levels of package timing replay it. It has the
// basic blocks that each warp executed and, for every memory instruction, the memory lines, sectors and bank passes
// that its lanes touched.
//
// It is data only. Package exec runs a kernel and reports to an observer,
// package timing/coalesce is the observer that builds these records, and
// packages timing/footprint, timing/clock and timing/analytic read them.
package trace

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// CTA is the trace of one CTA.
type CTA struct {
	ID    int64 // linear index in the grid, x fastest
	Warps []Warp
}

// Warp is the trace of one warp.
type Warp struct {
	Steps    []Step
	Accesses []Access // in execution order
	Lines    []Line   // backing store of Access.Lines
	Asyncs   []Async  // in execution order
}

// Step is one execution of a basic block by the lanes in Mask.
type Step struct {
	Block  int32  // index in ir.Kernel.Blocks
	Mask   uint32 // active lanes
	Access int32  // index of the step's first Access in Warp.Accesses
	Async  int32  // index of the step's first Async in Warp.Asyncs
	// Repeat is the number of further iterations of the loop headed by Block
	// that sampled execution left out at this point, each like the iterations
	// recorded just before; 0 for an ordinary step. A Repeat step executes
	// nothing itself and has no accesses.
	Repeat int64
	// Period is, of a Repeat step, within how many iterations what the loop goes through in turns, such as
	// the stages of a ring, comes round; 0 and 1: each iteration is like the one before.
	Period int32
}

// Access is one memory instruction executed by one warp: one request. cp.async
// makes two, Global and then Shared, of the same PC; a generic access makes
// one for each state space its lanes fall in. Lines of Local accesses start at
// coalesce.LocalBase in every CTA.
type Access struct {
	PC    int32    // index in ir.Kernel.Instrs
	Space ir.Space // resolved: never Generic
	Width uint8    // bytes per lane
	Mask  uint32   // lanes that performed it (guard applied)
	// Passes is the number of data-stage wavefronts the request needs: shared
	// memory bank conflicts, or the same for global data in the L1 data banks;
	// for Const the number of distinct words.
	Passes uint16
	// Ideal is what Passes would be without conflicts, for the same width.
	Ideal uint16
	// Wavefronts, for loads and atomics of Global and for fetches, is Passes as counters have them: lines as well as words wait
	// for each other. 0 says that they are Passes.
	Wavefronts uint16
	// First and NLines delimit the request's lines in Warp.Lines
	// (Global and Local; none for Shared). For Const First is the offset in the
	// constant bank that the first lane reads at.
	First  int32
	NLines uint16
	// Sectors is the number of distinct 32-byte sectors over all lines. For SharedCluster it is what the request
	// sends to other CTAs: sectors, and with atomics one for each lane that waits for another at its word.
	Sectors uint16
	// MaxSame is the largest number of lanes that address the same word,
	// what atomics serialise on.
	MaxSame uint8
	// Words, for atomics, is the number of distinct words that the lanes address.
	Words uint8
	// Turns is what Passes would be if lanes that address the same word did not share it: what atomics on
	// shared memory take.
	Turns uint8
	// Visits, for Const, is how often the lanes, one after another, come to another line of 64 bytes; for
	// SharedCluster it is the lines of 128 bytes in other CTAs.
	Visits uint8
	// Drawn, for Const, says that they do not come through the table in order.
	Drawn bool
	// Texels, for what goes through the texture unit, is how many texels the unit blends for each lane: 1, or 2, 4 or
	// 8. 0: it does not go there. Passes are then the quads of lanes that fetch.
	Texels uint8
	// OneDimension says that a fetch has one coordinate, Gather that it gathers a channel of four texels.
	OneDimension, Gather bool
}

// Again is the sectors that a copy fetches of the line beside the first fetch of each.
func (l *Line) Again() int {
	return min(bits.OnesCount8(l.Twice)*max(int(l.Times)-1, 1), MostFetches-bits.OnesCount8(l.Sectors))
}

// MostFetches is the most sectors that a copy fetches of a line: each lane's may go to another sector.
const MostFetches = 32

// Place is an instruction of a warp.
type Place struct {
	Warp, Step int32 // Step is an index in Warp.Steps
	PC         int32
}

// Handover is the end of a warp's wait for others by a word of shared memory (ir.Kernel.SharedSpins): the look that found it
// written, the write of another warp, and what the warp wrote there itself before it looked (Warp -1: nothing).
type Handover struct{ Look, Write, Arrival Place }

// WordRole is what an Async that stands for such a wait is.
type WordRole uint8

// Roles. A wait goes on once the write and all arrivals have been: who wrote last here need not be last there.
const (
	NoWord      WordRole = iota
	WordWrite            // it writes what ends waits
	WordArrival          // it is a write without which that would not have ended them
	WordWait             // it waits
)

// WordBarrier is Async.Barrier of the first such wait of a CTA; others follow.
const WordBarrier = 1 << 31

// Async is one operation on an mbarrier, one bulk copy, or a barrier of the CTA whose number is in a register, executed by a thread of a warp or, where all lanes
// of Lanes did the same to the same mbarrier, by so many. A bulk copy that reads or writes device memory has an
// Access of the same PC besides, with the lines (Space Global, no Passes).
type Async struct {
	PC int32 // index in ir.Kernel.Instrs
	// Barrier is the mbarrier's address in the shared memory of its CTA; NoBarrier where there is none
	// (bulk groups).
	Barrier uint32
	// CTA is the rank of the mbarrier's CTA in the cluster, -1 the warp's own.
	CTA int16
	// Lanes is how many threads did it.
	Lanes uint8
	// Parity is the phase's that a wait waits for: it goes on once a phase of that parity has completed.
	// It is 0 or 1.
	Parity uint8
	Count  int32 // arrivals of each thread; MbarInit: expected arrivals; Bar whose number is in a register: the number
	Bytes  int32 // that each thread expects (MbarExpect, MbarArrive with ModTx), or copied to each CTA
	// Word is what stands for a wait by a word of shared memory instead, at Barrier.
	Word WordRole
	// To is the CTAs of the cluster that a multicast copy goes to, by rank; 0: as CTA says.
	To uint16
}

// NoBarrier is Async.Barrier where there is none.
const NoBarrier = ^uint32(0)

// Range is bytes of device memory.
type Range struct {
	Addr  uint64
	Bytes int
}

// Line is one 128-byte memory line touched by a request.
type Line struct {
	Addr    uint64 // line address: byte address / 128
	Sectors uint8  // bit i: sector i (bytes 32i to 32i+31) is touched
	// Full has bit i set when every byte of sector i is written by this
	// request (stores), so that the sector needs no fill.
	Full uint8
	// Twice has bit i set when the halves of sector i go to different sectors of
	// shared memory (cp.async.cg), for each of which the sector is fetched.
	Twice uint8
	// Times is how many sectors of shared memory the sector goes to that goes to most, 0 where none goes to two.
	Times uint8
	// Words has bit i set when an atomic updates any of bytes 4i to 4i+3; 0 for all else.
	Words uint32
}
