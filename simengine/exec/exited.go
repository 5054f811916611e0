package exec

// Lanes that have exited do not count at barriers (sm_70 and later; an H100 runs `if (i >= n)
// return;` before __syncthreads). Which lanes have exited depends on when the lanes of a diverged
// warp run. Two rules decide that as the hardware does:
//
//   - Lanes do not wait for others at a join that is followed by nothing but the exit, because ptxas
//     puts no convergence barrier there. They exit as they come.
//   - Before a barrier of the CTA, lanes of the warp on other sides of branches run first. If they
//     exit, whatever they did before, the barrier counts without them. If they come to a join or to
//     another barrier instead, the fault is BarrierDivergence: they would wait for the lanes at the
//     barrier.

// exitsAt reports whether lanes that come to a join have nothing left to do but exit.
func (w *warp) exitsAt(join int32) bool { return join >= 0 && w.exits[join] }

// arrived has the lanes of a popped frame exit if nothing but the exit follows the join that they
// came to, and other lanes have still to come there.
func (w *warp) arrived(f *frame) {
	if n := len(w.stack); f.mask != 0 && n > 0 && w.exitsAt(f.rpc) && w.stack[n-1].mask&^f.mask != 0 {
		w.exitLanes(f.mask)
	}
}

// letOthersExit moves lanes on another side of a branch in front of the top frame, which stands
// before a barrier. It reports whether there are any that do not wait themselves.
func (w *warp) letOthersExit() bool {
	n := len(w.stack)
	for i := n - 2; i >= 0; i-- {
		f := w.stack[i]
		if f.waits || f.block == w.stack[i+1].rpc || f.mask&^w.stack[i+1].mask == 0 {
			continue
		}
		w.stack[n-1].waits, f.fresh = true, 0
		copy(w.stack[i:], w.stack[i+1:])
		w.stack[n-1] = f
		return true
	}
	return false
}
