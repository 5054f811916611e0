package timing

import "github.com/warptune/warptune/simengine/trace"

// maxHeads is how many loop headers of a warp are clocked at a time; one beyond
// that is charged with the loop around it only.
const maxHeads = 8

// loopClock times the recorded iterations of a warp's loops, so that skipped
// ones can be charged. Time in it includes what was charged for inner loops.
type loopClock struct {
	head  [maxHeads]int32
	at    [maxHeads]int64 // last arrival at the head
	n     int
	extra int64 // cycles charged to this warp for skipped iterations
	count bool  // the warp is one of the first wave, which is measured
}

// loopStats sums what the loop clocks found.
type loopStats struct {
	launched int64
	dual     int64
	// extra and warps: cycles charged for skipped iterations, and the warps
	// they were charged to.
	extra, warps int64
	largest      int64
	// localShare is the share of local memory traffic that misses L2 (of
	// unit), localAcc its error diffusion.
	localShare, localAcc int32
}

func (l *loopClock) reset(count bool) { l.n, l.extra, l.count = 0, 0, count }

// arrive notes that the warp enters a block that heads a loop.
func (l *loopClock) arrive(now int64, block int32, c *code) {
	if !c.heads[block] {
		return
	}
	for i := range l.n {
		if l.head[i] == block {
			l.at[i] = now + l.extra
			return
		}
	}
	if l.n < maxHeads {
		l.head[l.n], l.at[l.n] = block, now+l.extra
		l.n++
	}
}

// skip charges n iterations like the last one.
func (l *loopClock) skip(now int64, k *trace.Step) {
	for i := range l.n {
		if l.head[i] == k.Block {
			l.extra += k.Repeat * (now + l.extra - l.at[i])
			return
		}
	}
}

// close adds a finished warp to the sums.
func (l *loopClock) close(st *loopStats) {
	if !l.count {
		return
	}
	st.extra += l.extra
	st.largest = max(st.largest, l.extra)
	st.warps++
}
