package clock

import (
	"math"

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
	// before is, where the kernel uses the asynchronous units, how the last iterations of each loop began.
	before *[cost.MaxHeads]beginnings
	begun  [cost.MaxHeads]int
}

// beginnings is when the last iterations of a loop began, and what the warp had waited for until then, by the numbers of
// the iterations modulo mostPeriod and modulo mostMarks.
type beginnings struct {
	at      [mostPeriod]int64
	stalled [mostMarks][timing.NumStallReasons]int64
}

// mostPeriod is the longest period of a loop that is told, one less.
const mostPeriod = 64

// mostMarks is of how many iterations what the warp waited for is told apart: of longer periods the last so many stand
// for all, less one.
const mostMarks = 16

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
			l.began(i)
			return
		}
	}
	if l.n < cost.MaxHeads {
		l.head[l.n], l.at[l.n], l.mark[l.n] = block, now+l.extra, l.stalled
		l.begun[l.n] = 0
		l.began(l.n)
		l.n++
	}
}

// began notes when an iteration of the i-th loop began.
func (l *loopClock) began(i int) {
	if l.before != nil {
		b := &l.before[i]
		b.at[l.begun[i]%mostPeriod], b.stalled[l.begun[i]%mostMarks] = l.at[i], l.stalled
		l.begun[i]++
	}
}

// each is how long an iteration of the i-th loop takes: the last one or, where it is known within how many iterations
// what they do in turns comes round, the mean of so many.
func (l *loopClock) each(now int64, i int, k *trace.Step) (whole, parts int64) {
	n := min(int(k.Period), l.begun[i], mostPeriod-1)
	if l.before == nil || n < 2 {
		return now + l.extra - l.at[i], 1
	}
	return now + l.extra - l.before[i].at[(l.begun[i]-n)%mostPeriod], int64(n)
}

// skip charges k.Repeat iterations like the last ones.
func (l *loopClock) skip(now int64, k *trace.Step) {
	for i := range l.n {
		if l.head[i] == k.Block {
			whole, parts := l.each(now, i, k)
			charged := k.Repeat * whole / parts
			l.chargeStalls(now, i, int(parts), k.Repeat, charged)
			l.extra += charged
			return
		}
	}
}

// chargeStalls charges what the warp waits for in n skipped iterations of the i-th loop, which take so many cycles
// together: as in the iterations that they are like.
func (l *loopClock) chargeStalls(now int64, i, period int, n, cycles int64) {
	if period < 2 {
		for r, v := range l.stalled {
			l.stalled[r] = v + n*(v-l.mark[i][r])
		}
		return
	}
	b, first := &l.before[i], l.begun[i]-min(period, mostMarks-1)
	scale := float64(cycles) / math.Max(float64(now+l.extra-b.at[first%mostPeriod]), 1)
	for r, v := range l.stalled {
		l.stalled[r] = v + int64(math.Round(scale*float64(v-b.stalled[first%mostMarks][r])))
	}
}

// waitUntil charges what a warp waits for others that leave out more iterations: it can go on at a cycle, and would at
// another with all iterations.
func (l *loopClock) waitUntil(all, now int64) {
	if wait := all - now - l.extra; wait > 0 {
		l.extra += wait
		l.stalled[timing.Barrier] += wait
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
