package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/internal/code"
)

// frame is one entry of a warp's reconvergence stack: the lanes in mask are at
// the start of block and leave the stack when they reach rpc.
type frame struct {
	block, rpc int32
	mask       uint32
	gone       uint32 // lanes that have exited, of those that were in mask
	since      uint32 // warp tick at which the frame last was on top
	// fresh are those of the lanes that wait here for others which have just left a loop whose lanes
	// yield to each other.
	fresh uint32
	// waits says that the lanes stand before a barrier that other lanes of the warp may still make
	// complete by exiting (see letOthersExit).
	waits bool
}

// state is what a warp is doing.
type state uint8

const (
	ready state = iota
	waiting
	done
)

// warp is the state of 32 threads.
type warp struct {
	id    int
	first int // linear index of lane 0's thread
	state state
	ip    int32 // next instruction of the top frame's block, -1 at its start

	live   uint32 // lanes that exist and have not exited
	r32    []alu.Vec32
	r64    []alu.Vec64
	pred   []uint32
	carry  uint32
	stack  []frame
	groups []laneGroup // other lanes, which go their own way
	whole  uint32      // the tick at which all lanes last were on one stack
	spare  [][]frame   // stacks to use again
	passed passed
	steps  int64
	tick   uint32 // counts basic blocks, for the race checker

	barrier  int // where it waits
	barrierI *code.Instr
	asyncWarp
	loops    []loopRun
	inLoops  []int32 // loops that are being sampled, outermost first
	passages int     // long loops with operations on mbarriers that were entered
	meets    bool    // such loops were entered at all
	exits    []bool  // Program.exits
	awaiting
}

// thread is the linear thread index of a lane.
func (w *warp) thread(lane int) int { return w.first + lane }

func (w *warp) top() *frame { return &w.stack[len(w.stack)-1] }

// diverged reports whether not all lanes are together.
func (w *warp) diverged() bool { return len(w.stack) > 1 || len(w.groups) > 0 }

// guarded is the lanes of mask that a guard lets through.
func (w *warp) guarded(mask uint32, guard int32, not bool) uint32 {
	p := w.pred[guard]
	if not {
		p = ^p
	}
	return mask & p
}

// exitLanes takes lanes off every frame.
func (w *warp) exitLanes(mask uint32) {
	w.live &^= mask
	for i := range w.stack {
		w.stack[i].gone |= w.stack[i].mask & mask
		w.stack[i].mask &^= mask
	}
}

// settle pops frames that are empty or have reconverged, and reports whether any lane is left. Lanes
// exit at once where nothing but the exit is left for them.
func (w *warp) settle() bool {
	for n := len(w.stack); n > 0; n = len(w.stack) {
		t := &w.stack[n-1]
		if t.mask != 0 && (t.block != t.rpc || t.block < 0) {
			w.ip, t.fresh = -1, 0
			return true
		}
		w.stack = w.stack[:n-1]
		w.arrived(t)
	}
	return false
}

// diverge splits the top frame between two blocks. Lanes that stay at the reconvergence point wait
// in the frame below. They are fresh if the branch leaves a loop whose lanes yield.
func (w *warp) diverge(rpc int32, targets [2]int32, masks [2]uint32, leaves bool) {
	t := w.top()
	if t.rpc == rpc {
		// The frame below already waits there.
		w.stack = w.stack[:len(w.stack)-1]
		if n := len(w.stack); n > 0 {
			w.stack[n-1].since = w.tick
		}
	} else {
		t.block, t.since = rpc, w.tick
	}
	waits := len(w.stack) - 1
	for i := range targets {
		if targets[i] == rpc && leaves && waits >= 0 {
			w.stack[waits].fresh |= masks[i]
		}
		if targets[i] != rpc || rpc < 0 {
			w.stack = append(w.stack, frame{block: targets[i], rpc: rpc, mask: masks[i], since: w.tick})
		}
	}
	for i := range targets {
		if targets[i] == rpc && targets[0] != targets[1] && w.exitsAt(rpc) {
			w.exitLanes(masks[i])
		}
	}
}

// blend copies the lanes in mask.
func blend[T alu.Word](d, s *[WarpSize]T, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (WarpSize - 1)
		d[l] = s[l]
	}
}
