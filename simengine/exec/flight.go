package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// Bulk copies and warpgroup MMAs move their data when they are executed. What they read and
// write is noted, by 16 bytes, until the kernel has waited for it:
//
//   - What a copy writes to shared memory is in flight until a thread of the CTA has seen that the
//     phase of its mbarrier is complete.
//   - What a copy or an MMA reads there must not be written until its thread has waited for its
//     group.
//   - What threads write there must not be read by either until a fence of the asynchronous proxy has
//     been executed, by a warp that wrote it or by the one that reads it.
const tileBits = 4

// flights is what is in flight in the shared memory of a CTA.
type flights struct {
	tiles   []tile // by 16 bytes; nil: nothing was noted yet
	copies  []flight
	readers []asyncRead
	uses    []use
	unused  uint32 // list of uses to use again
}

// tile is 16 bytes of shared memory.
type tile struct {
	copies uint32 // list of the copies that write it, by index in flights.copies
	reads  uint32 // list of the asynchronous reads, by index in flights.readers
	at     uint32 // Runner.seq when a thread wrote it last; 0: none since a copy did, bulk or not
	pc     int32  // by which instruction
	thread uint16
}

// use is an element of a list of copies or reads. Lists are named by the number of their first element, from 1; 0 is
// the empty one.
type use struct {
	of   uint32
	next uint32
}

// flight is a copy to shared memory, or a reduction there.
type flight struct {
	pc      int32
	thread  int32
	cta     int64
	bar     *phases
	phase   uint64 // in which its bytes are counted
	reduces bool
}

// asyncRead is a read by a copy, of a group of a thread, or by an MMA.
type asyncRead struct {
	pc    int32
	warp  int16
	lane  int8 // -1: the warp's MMAs
	group int32
}

func (f *flights) reset() {
	f.tiles, f.copies, f.readers, f.uses, f.unused = f.tiles[:0], f.copies[:0], f.readers[:0], f.uses[:0], 0
}

// push puts a copy or read in front of a list.
func (f *flights) push(list *uint32, of uint32) {
	n := f.unused
	if n == 0 {
		f.uses = append(f.uses, use{})
		n = uint32(len(f.uses))
	} else {
		f.unused = f.uses[n-1].next
	}
	f.uses[n-1] = use{of, *list}
	*list = n
}

// pop takes the first element off a list.
func (f *flights) pop(list *uint32) {
	n := *list
	u := &f.uses[n-1]
	*list, u.next, f.unused = u.next, f.unused, n
}

// noted returns the tiles of the bytes from addr on.
func (c *ctaState) noted(addr, bytes uint64) []tile {
	if n := (len(c.shared) + 1<<tileBits - 1) >> tileBits; len(c.tiles) < n {
		if cap(c.tiles) < n {
			c.tiles = make([]tile, n)
		}
		c.tiles = c.tiles[:n]
		clear(c.tiles)
	}
	return c.tiles[addr>>tileBits : (addr+bytes+1<<tileBits-1)>>tileBits]
}

// pending reports whether a read is not waited for.
func (c *ctaState) pending(x *asyncRead) bool {
	w := &c.warps[x.warp]
	if x.lane < 0 {
		return x.group >= w.wgmma.waited
	}
	return x.group >= w.bulk[x.lane].waited
}

// landing returns a copy that is in flight to a tile, nil if none. Those that have landed leave the list. With besides
// it is one that is no reduction: two of these may be in flight to a tile, as their operations are atomic.
func (f *flights) landing(t *tile, besides bool) *flight {
	for at := &t.copies; *at != 0; {
		u := &f.uses[*at-1]
		switch x := &f.copies[u.of]; {
		case x.bar.observed > x.phase:
			f.pop(at)
		case besides && x.reduces:
			at = &u.next
		default:
			return x
		}
	}
	return nil
}

// reading returns an asynchronous read of a tile that is not waited for, nil if none. Those that are leave the list.
func (c *ctaState) reading(t *tile) *asyncRead {
	for t.reads != 0 {
		if x := &c.readers[c.uses[t.reads-1].of]; c.pending(x) {
			return x
		}
		c.pop(&t.reads)
	}
	return nil
}

// noteCopy notes that a copy is in flight to a tile. It stands for an earlier one to the same phase.
func (f *flights) noteCopy(t *tile, number uint32) {
	x := &f.copies[number]
	for at := t.copies; at != 0; at = f.uses[at-1].next {
		u := &f.uses[at-1]
		if y := &f.copies[u.of]; y.bar == x.bar && y.phase == x.phase && y.reduces == x.reduces {
			u.of = number
			return
		}
	}
	f.push(&t.copies, number)
}

// noteRead notes an asynchronous read of a tile. It stands for an earlier one of the same thread, or of the same
// warp's MMAs: who waits for a group has waited for those before it.
func (f *flights) noteRead(t *tile, number uint32) {
	x := &f.readers[number]
	for at := t.reads; at != 0; at = f.uses[at-1].next {
		u := &f.uses[at-1]
		if y := &f.readers[u.of]; y.warp == x.warp && y.lane == x.lane {
			u.of = number
			return
		}
	}
	f.push(&t.reads, number)
}

// touchTiles checks and notes an access of threads to shared memory.
func (r *Runner) touchTiles(w *warp, in *code.Instr, a *code.Access, mask uint32) signal {
	c := &r.ctaState
	r.seq++
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		addr := r.addr[l]
		list := c.noted(addr, uint64(a.Width))
		for i := range list {
			t := &list[i]
			if f := c.landing(t, false); f != nil {
				if s := r.inFlight(w, in, l, addr, f, a.Write); s != next {
					return s
				}
			}
			if !a.Write {
				continue
			}
			if x := c.reading(t); x != nil {
				if s := r.stillRead(w, in, l, c, addr, x); s != next {
					return s
				}
			}
			t.at, t.pc, t.thread = r.seq, in.PC, uint16(w.thread(l))
			if a.Op == ir.CpAsync {
				t.at = 0
			}
		}
	}
	return next
}

// inFlight is the fault of an access to what a copy writes.
func (r *Runner) inFlight(w *warp, in *code.Instr, l int, addr uint64, f *flight, write bool) signal {
	if r.passes(fault.Race) && r.warned(fault.Race, in.PC) {
		return next
	}
	other := r.other(f.pc, f.cta, int(f.thread))
	other.Write = true
	return r.fail(w, in, fault.Fault{Kind: fault.Race, Space: ir.Shared, Address: addr, Thread: w.thread(l), Write: write, Other: other,
		Detail: "no wait for the phase of the copy's mbarrier between"})
}

// stillRead is the fault of a write to what a copy or an MMA of a CTA reads.
func (r *Runner) stillRead(w *warp, in *code.Instr, l int, c *ctaState, addr uint64, x *asyncRead) signal {
	if r.passes(fault.Race) && r.warned(fault.Race, in.PC) {
		return next
	}
	missing := "no cp.async.bulk.wait_group between"
	if x.lane < 0 {
		missing = "no wgmma.wait_group between"
	}
	other := r.other(x.pc, c.cta, int(x.warp)*WarpSize+max(int(x.lane), 0))
	other.Write = false
	return r.fail(w, in, fault.Fault{Kind: fault.Race, Space: ir.Shared, Address: addr, Thread: w.thread(l), Write: true, Other: other, Detail: missing})
}

// untracked is the number of a read that nothing is known to wait for.
const untracked = ^uint32(0)

// readTiles checks and notes that an asynchronous operation of a warp reads bytes of shared memory. reader is the
// number of the read.
func (r *Runner) readTiles(w *warp, in *code.Instr, l int, addr, bytes uint64, reader uint32) signal {
	c := &r.ctaState
	list := c.noted(addr, bytes)
	for i := range list {
		t := &list[i]
		if f := c.landing(t, false); f != nil {
			if s := r.inFlight(w, in, l, addr, f, false); s != next {
				return s
			}
		}
		if s := r.checkFenced(w, in, l, c, addr+uint64(i)<<tileBits, t); s != next {
			return s
		}
		if reader != untracked {
			c.noteRead(t, reader)
		}
	}
	return next
}

// checkFenced checks that a fence stands between a thread's write to a tile of a CTA and an asynchronous read of it.
func (r *Runner) checkFenced(w *warp, in *code.Instr, l int, c *ctaState, addr uint64, t *tile) signal {
	if t.at <= w.fenced || t.at <= c.warps[int(t.thread)/WarpSize].fenced || r.passes(fault.Race) && r.warned(fault.Race, in.PC) {
		return next
	}
	other := r.other(t.pc, c.cta, int(t.thread))
	other.Write = true
	return r.fail(w, in, fault.Fault{Kind: fault.Race, Space: ir.Shared, Address: addr, Thread: w.thread(l), Other: other, Detail: "no fence.proxy.async between"})
}

// newReader numbers an asynchronous read.
func (r *Runner) newReader(x asyncRead) uint32 {
	r.readers = append(r.readers, x)
	return uint32(len(r.readers) - 1)
}

// landTiles checks and notes that a copy writes bytes of shared memory of a CTA.
func (r *Runner) landTiles(w *warp, in *code.Instr, l int, c *ctaState, addr, bytes uint64, b *phases) signal {
	reduces := in.X.Async.Bulk.Reduce != ir.AtomNone
	number := uint32(len(c.copies))
	c.copies = append(c.copies, flight{pc: in.PC, thread: int32(w.thread(l)), cta: r.cta, bar: b, phase: b.Phase, reduces: reduces})
	list := c.noted(addr, bytes)
	for i := range list {
		t := &list[i]
		at := addr + uint64(i)<<tileBits
		if f := c.landing(t, reduces); f != nil {
			if s := r.inFlight(w, in, l, at, f, true); s != next {
				return s
			}
		}
		if x := c.reading(t); x != nil {
			if s := r.stillRead(w, in, l, c, at, x); s != next {
				return s
			}
		}
		if reduces {
			if s := r.checkFenced(w, in, l, c, at, t); s != next {
				return s
			}
		}
		c.noteCopy(t, number)
		t.at = 0
	}
	return next
}

// proxyFence is fence.proxy.async.
func (r *Runner) proxyFence(w *warp, in *code.Instr, mask uint32) signal {
	r.seq++
	w.fenced = r.seq
	return next
}

// bulkCommit is cp.async.bulk.commit_group.
func (r *Runner) bulkCommit(w *warp, in *code.Instr, mask uint32) signal {
	for ; mask != 0; mask &= mask - 1 {
		w.bulk[bits.TrailingZeros32(mask)].committed++
	}
	return next
}

// bulkWait is cp.async.bulk.wait_group.
func (r *Runner) bulkWait(w *warp, in *code.Instr, mask uint32) signal {
	for ; mask != 0; mask &= mask - 1 {
		w.bulk[bits.TrailingZeros32(mask)].wait(in.X.Imm)
	}
	return next
}
