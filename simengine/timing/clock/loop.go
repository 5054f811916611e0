package clock

import (
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// loopClock times the recorded iterations of a warp's loops, so that skipped ones can be
// charged. Its times include what was charged for inner loops. Cycles.
type loopClock struct {
	head  [cost.MaxHeads]int32
	at    [cost.MaxHeads]int64 // last arrival at the head
	n     int
	extra int64 // cycles charged to this warp for skipped iterations
	count bool  // the warp is one of the first wave, which is measured
	// stalled is what the warp waited for so far, charged iterations included;
	// mark what that was at the last arrival at each head.
	stalled [timing.NumStallReasons]int64
	mark    [cost.MaxHeads][timing.NumStallReasons]int64
}

// loopStats sums what the loop clocks found.
type loopStats struct {
	launched int64
	dual     int64
	// extra and warps: cycles charged for skipped iterations, and the warps
	// they were charged to.
	extra, warps int64
	// localShare is the share of local memory traffic, loads and stores, that
	// misses L2 (of unit), localAcc its error diffusion.
	localShare, localAcc [2]int32
}

func (l *loopClock) reset(count bool) {
	l.n, l.extra, l.count = 0, 0, count
	l.stalled = [timing.NumStallReasons]int64{}
}

// arrive notes that the warp enters a block that heads a loop.
func (l *loopClock) arrive(now int64, block int32, c *code) {
	if !c.heads[block] {
		return
	}
	for i := range l.n {
		if l.head[i] == block {
			l.at[i], l.mark[i] = now+l.extra, l.stalled
			return
		}
	}
	if l.n < cost.MaxHeads {
		l.head[l.n], l.at[l.n], l.mark[l.n] = block, now+l.extra, l.stalled
		l.n++
	}
}

// skip charges k.Repeat iterations like the last one.
func (l *loopClock) skip(now int64, k *trace.Step) {
	for i := range l.n {
		if l.head[i] == k.Block {
			l.extra += k.Repeat * (now + l.extra - l.at[i])
			for r, v := range l.stalled {
				l.stalled[r] = v + k.Repeat*(v-l.mark[i][r])
			}
			return
		}
	}
}

// close adds a finished warp to the sums; ofCTA: what iterations left out take is its CTA's to add.
func (l *loopClock) close(st *stats, ofCTA bool) {
	for r, v := range l.stalled {
		st.warpTime[r] += v
	}
	if !l.count || ofCTA {
		return
	}
	st.loop.extra += l.extra
	st.loop.warps++
}
