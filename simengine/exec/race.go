package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
)

// raceChecker finds data races on shared memory: two threads of a CTA access one byte, at least one
// of them writes, and nothing orders the accesses. It keeps one vector clock for each warp (C.
// Fidge; F. Mattern, 1988). A warp's component of it is its tick, which advances with every basic
// block and every barrier.
//
// Between warps, barriers order accesses, and so do atomics and volatile or ordered accesses to one
// address: each releases what its warp did before and acquires what the others released there.
// Within a warp, lanes that run together are in order. Lanes on different sides of a branch are not,
// until they reconverge. Lanes of one store that write different values to one byte race. Writes of
// the value that is already there do not race with other writes.
type raceChecker struct {
	granule  int // bytes of a cell, a power of two
	shift    uint
	cells    []cell
	known    [MaxThreads / WarpSize]racecheck.Clock // by warp: ticks of others it is after
	arriving [16]racecheck.Clock                    // by barrier
	atomics  map[uint64]*racecheck.Clock            // by address, shared addresses in their window
	copies   [MaxThreads / WarpSize]asyncGroups
}

// touch is one access to a cell. A zero tick means none.
type touch struct {
	tick   uint32
	pc     int32
	thread uint16
	strong bool // atomic, volatile or ordered
	async  bool // written by cp.async, in group
	group  int32
}

// cell is the last write and up to two later reads of warps that are not
// ordered with each other: enough to notice an unordered write by any warp.
type cell struct {
	write touch
	reads [2]touch
}

func (c *raceChecker) reset(warps, bytes, granule int) {
	c.granule, c.shift = granule, uint(bits.TrailingZeros(uint(granule)))
	n := (bytes + granule - 1) / granule
	if cap(c.cells) < n {
		c.cells = make([]cell, n)
	}
	c.cells = c.cells[:n]
	clear(c.cells)
	clear(c.known[:])
	clear(c.arriving[:])
	if c.atomics == nil {
		c.atomics = map[uint64]*racecheck.Clock{}
	}
	clear(c.atomics)
	for i := range c.copies {
		c.copies[i].reset()
	}
}

// arrive gives a warp's clock to a barrier.
func (c *raceChecker) arrive(w *warp, id int) {
	c.known[w.id][w.id] = w.tick
	c.arriving[id].Join(&c.known[w.id])
	w.tick++
}

// release gives a barrier's clock to the warps that waited.
func (c *raceChecker) release(id int, waiting uint32) {
	for m := waiting; m != 0; m &= m - 1 {
		c.known[bits.TrailingZeros32(m)].Join(&c.arriving[id])
	}
	c.arriving[id] = racecheck.Clock{}
}

// exchange orders a warp after earlier strong accesses to an address and
// later ones after it.
func (c *raceChecker) exchange(w *warp, addr uint64) {
	at := c.atomics[addr]
	if at == nil {
		at = new(racecheck.Clock)
		c.atomics[addr] = at
	}
	c.known[w.id].Join(at)
	c.known[w.id][w.id] = w.tick
	at.Join(&c.known[w.id])
}

// raceCheck checks and notes an access to shared memory. It also notes the order that strong
// accesses to any memory bring.
func (r *Runner) raceCheck(w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32) signal {
	c := r.races
	strong := code.IsStrong(&r.p.Kernel.Instrs[in.PC])
	if strong {
		for m := mask; m != 0; m &= m - 1 {
			base, _ := code.WindowBase(space)
			addr := r.addr[bits.TrailingZeros32(m)] + base
			c.exchange(w, addr)
			if r.series != nil {
				r.series.Exchange(addr, w.id, w.tick, &c.known[w.id])
			}
		}
		w.tick++
	}
	if space != ir.Shared {
		if r.series != nil && space == ir.Global {
			return r.globalRaces(w, in, a, mask, strong)
		}
		return next
	}
	now := touch{tick: w.tick, pc: in.PC, strong: strong}
	if a.Op == ir.CpAsync {
		now.async, now.group = true, c.copies[w.id].committed
	}
	if a.Write {
		return r.raceLanes(w, in, a, now, mask)
	}
	for m := mask; m != 0; {
		// Lanes that follow each other and read the same are looked at together.
		same := uint32(0)
		for addr := r.addr[bits.TrailingZeros32(m)]; m != 0 && r.addr[bits.TrailingZeros32(m)&(WarpSize-1)] == addr; m &= m - 1 {
			same |= m & -m
		}
		if !r.quickReads(w, a, now, 31-bits.LeadingZeros32(same)) {
			if s := r.raceLanes(w, in, a, now, same); s != next {
				return s
			}
		}
	}
	return next
}

// quickReads notes a lane's read if quickRead can for all its cells, and reports whether it did. If
// not, raceLanes notes it again.
func (r *Runner) quickReads(w *warp, a *code.Access, now touch, lane int) bool {
	c := r.races
	now.thread = uint16(w.thread(lane))
	addr := int(r.addr[lane])
	for b := addr >> c.shift; b<<c.shift < addr+a.Width; b++ {
		if !c.cells[b].quickRead(&now, &c.known[w.id], w.id, !w.diverged()) {
			return false
		}
	}
	return true
}

// raceLanes checks and notes what lanes do, one by one.
func (r *Runner) raceLanes(w *warp, in *code.Instr, a *code.Access, now touch, mask uint32) signal {
	c := r.races
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		now.thread = uint16(w.thread(l))
		addr := int(r.addr[l])
		for b := addr >> c.shift; b<<c.shift < addr+a.Width; b++ {
			var other *touch
			switch cell := &c.cells[b]; {
			case a.Write:
				other = r.writeCell(w, in, cell, now, l, b<<c.shift)
			default:
				other = r.readCell(w, cell, now, l)
			}
			if other == nil {
				continue
			}
			if s := r.raceFault(w, in, a, l, *other, b*c.granule); s != next {
				return s
			}
		}
	}
	return next
}

// asyncCommit is cp.async.commit_group.
func (r *Runner) asyncCommit(w *warp, in *code.Instr, mask uint32) signal {
	if r.filter != nil {
		r.filter.copies.groups[w.id].committed++
	}
	if r.races != nil {
		r.races.copies[w.id].committed++
	}
	return next
}

// asyncWait is cp.async.wait_group and wait_all.
func (r *Runner) asyncWait(w *warp, in *code.Instr, mask uint32) signal {
	ki := &r.p.Kernel.Instrs[in.PC]
	if r.filter != nil {
		r.filter.copies.groups[w.id].wait(ki, r.filter.copies.phase)
	}
	if r.races != nil {
		r.races.copies[w.id].wait(ki, w.tick)
		w.tick++
	}
	return next
}
