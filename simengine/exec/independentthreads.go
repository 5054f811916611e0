package exec

import "slices"

// Independent thread scheduling (Volta and later), as far as a kernel can tell: lanes of a warp in a
// loop that waits for other threads yield to the lanes that have left it. Each group of lanes has a
// reconvergence stack of its own and runs in turn. Groups meet where the instruction set has lanes
// execute an instruction together, such as a barrier or a shuffle.
//
// A laneGroup is lanes of a warp that do not run at the moment.
type laneGroup struct {
	stack []frame
	waits bool // at an instruction that lanes of a warp execute together
}

// passed is which of the stops before a block a warp has been through.
type passed uint8

const (
	passedNone passed = iota
	passedYield
	passedAll
)

// yieldLanes has the lanes of the top frame yield at the head of a loop (ir.Kernel.Yields) if others
// can go on. It reports whether these run first.
//
// Lanes that have left the loop do not wait for those in it where their paths would meet, only for others that wait
// there already. A convergence barrier waits for no lane that has yielded ("Execution of divergent threads using a
// convergence barrier", US 2016/0019066). On an H100 the code after such a loop is executed once for each group of
// lanes that leave it together, by Nsight Compute's counts per instruction of label_tiles and spgemm_hash
// (deploy/calibrate/datasets/h100-2026-11-26-independent-c).
func (w *warp) yieldLanes() bool {
	if !w.othersReady() {
		if !slices.ContainsFunc(w.groups, func(s laneGroup) bool { return !s.waits }) {
			return false
		}
		w.suspend(w.stack)
		w.stack = nil
		return w.resume()
	}
	lanes, own := w.top().mask, w.newStack()
	for i := range w.stack {
		f := &w.stack[i]
		own = append(own, frame{block: f.block, rpc: f.rpc, mask: f.mask & lanes, since: f.since})
		f.mask &^= lanes
		f.fresh = 0
	}
	w.suspend(own)
	return w.settle() || w.resume()
}

// othersReady reports whether lanes below the top frame could run: they have a block of their own to
// run, or have just left the loop.
func (w *warp) othersReady() bool {
	top := w.top()
	for i := range w.stack[:len(w.stack)-1] {
		f := &w.stack[i]
		if f.fresh&^top.mask != 0 || f.block != w.stack[i+1].rpc && f.mask&^w.stack[i+1].mask != 0 {
			return true
		}
	}
	return false
}

// suspend adds the lanes of a stack to the groups that do not run.
func (w *warp) suspend(stack []frame) {
	if len(w.groups) == 0 {
		w.whole = w.tick
	}
	w.groups = append(w.groups, laneGroup{stack: stack})
}

// newStack returns an empty stack, one used before if there is any.
func (w *warp) newStack() []frame {
	n := len(w.spare)
	if n == 0 {
		return nil
	}
	s := w.spare[n-1][:0]
	w.spare = w.spare[:n-1]
	return s
}

// resume goes on with the group that has been suspended longest. If all groups wait at an
// instruction that lanes execute together, those at one place go on together. It reports whether
// there is any group.
func (w *warp) resume() bool {
	if len(w.groups) == 0 {
		return false
	}
	if w.stack != nil {
		w.spare = append(w.spare, w.stack)
	}
	w.ip = -1
	if i := slices.IndexFunc(w.groups, func(s laneGroup) bool { return !s.waits }); i >= 0 {
		w.stack = w.groups[i].stack
		w.groups = slices.Delete(w.groups, i, i+1)
		w.passed = passedYield
		return true
	}
	w.passed = passedAll
	w.stack = w.groups[0].stack
	at, met := w.top().block, w.top().mask
	w.groups = slices.DeleteFunc(w.groups, func(s laneGroup) bool {
		t := s.stack[len(s.stack)-1]
		if t.block == at {
			met |= t.mask
		}
		return t.block == at
	})
	if met == w.live {
		w.stack = append(w.stack[:0], frame{block: at, rpc: -1, gone: ^w.live})
	}
	for i := range w.stack {
		w.stack[i].mask |= met
	}
	w.top().since = w.tick
	return true
}

// await suspends the running group before a block that lanes execute together, if there are other
// groups. It reports whether another one runs.
func (w *warp) await() bool {
	if len(w.groups) == 0 {
		return false
	}
	w.groups = append(w.groups, laneGroup{w.stack, true})
	w.stack = nil
	return w.resume()
}
