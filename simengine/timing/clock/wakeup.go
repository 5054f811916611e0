package clock

import (
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// wakeup is a slot and the cycle at which its warp can issue by scoreboard and
// fetch; it orders by cycle, then by slot.
type wakeup int64

func newWakeup(at int64, slot int32) wakeup { return wakeup(at*timing.MaxSlots | int64(slot)) }

// split takes it apart again.
func (u wakeup) split() (at int64, slot int) {
	return int64(u) / timing.MaxSlots, int(u & (timing.MaxSlots - 1))
}

// port is what an op whose operands are ready may still wait for: its issue port and, behind
// that of memory, one of two queues. PipeMemory stands for the queue that is not for global and
// local memory.
type port uint8

const (
	portLG   = port(cost.NumPipes) // pipeMemory and the queue of global and local memory
	numPorts = cost.NumPipes + 1
)

// throttles is the stall that a warp shows while its op waits for a port.
var throttles = func() (out [numPorts]timing.StallReason) {
	for g := range out {
		out[g] = timing.MathPipeThrottle
	}
	out[cost.PipeMemory], out[cost.PipeXU], out[portLG] = timing.MIOThrottle, timing.MIOThrottle, timing.LGThrottle
	return out
}()

// freeAt is the first cycle at which a port takes an op.
func (p *subPartition) freeAt(g port) int64 {
	switch g {
	case portLG:
		return max(p.free[cost.PipeMemory]/dram.Fraction, p.lg.free())
	case port(cost.PipeMemory):
		return max(p.free[cost.PipeMemory]/dram.Fraction, p.mio.free())
	}
	return p.free[g] / dram.Fraction
}

// await puts a slot among those that will be eligible at their ready cycle.
func (p *subPartition) await(slot int32) {
	u := newWakeup(p.ready[slot], slot)
	p.pending = append(p.pending, u)
	i := len(p.pending) - 1
	for ; i > 0 && p.pending[i-1] < u; i-- {
		p.pending[i] = p.pending[i-1]
	}
	p.pending[i] = u
}

// leave takes a slot that issues out of the eligible ones.
func (p *subPartition) leave(slot int) {
	p.could &^= 1 << slot
	p.due[p.port[slot]] &^= 1 << slot
}

// park leaves a slot out of the schedule: its warp waits at a barrier, or is no more.
func (p *subPartition) park(slot int32, why timing.StallReason) {
	p.ready[slot], p.why[slot] = never, why
}

// eligible is the set of the slots whose ready cycle has come.
func (p *subPartition) eligible(now int64) uint64 {
	n := len(p.pending)
	for due := newWakeup(now+1, 0); n > 0 && p.pending[n-1] < due; n-- {
		i := p.pending[n-1] & (timing.MaxSlots - 1)
		p.could |= 1 << i
		p.due[p.port[i]] |= 1 << i
		p.since[i] = p.busyUntil(p.port[i], p.ready[i])
	}
	p.pending = p.pending[:n]
	return p.could
}

// cover counts the cycles after now that a port is busy. It is called after each issue, which makes ports busy.
func (p *subPartition) cover(g port, now int64) {
	if g == port(cost.PipeNone) {
		return
	}
	from := max(now+1, p.covered[g])
	if until := p.freeAt(g); until > from {
		if from > p.covered[g] {
			p.opened[g] = from
		}
		p.busy[g] += until - from
		p.covered[g] = until
	}
}

// busyUntil is for how many cycles before a cycle a port was busy, no issue being between that and now.
func (p *subPartition) busyUntil(g port, at int64) int64 {
	return p.busy[g] - max(p.covered[g]-max(at, p.opened[g]), 0)
}

// blocked is for how many cycles since a slot is eligible its port was busy.
func (p *subPartition) blocked(slot int, now int64) int64 {
	return p.busyUntil(p.port[slot], now) - p.since[slot]
}

// throttle is the stall that a slot's warp shows while its port is busy: Wait where its own instructions have taken
// the port last, since that is in the stall counts that the compiler gave them. A tensor core that works on products of
// other warpgroups shows like a wait for products.
func (p *subPartition) throttle(slot int) timing.StallReason {
	g := p.port[slot]
	switch {
	case p.taken[g] == int32(slot):
		return timing.Wait
	case g == port(cost.PipeTensor) && p.product > 0:
		return timing.Products
	}
	return throttles[g]
}
