package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// Bulk copies and warpgroup MMAs move their data when they are executed. What they read and
// write is noted, by 16 bytes, until the kernel has waited for it:
//
//   - What a copy writes to shared memory is in flight until a thread of the CTA has seen that the
//     phase of its mbarrier is complete.
//   - What a copy or product reads there must not be written until its thread has waited for its
//     group.
//   - What threads write there must not be read by either until a fence of the asynchronous proxy has
//     been executed, by a warp that wrote it or by the one that reads it.
const tileBits = 4

// flights is what is in flight in the shared memory of a CTA.
type flights struct {
	tiles   []tile // by 16 bytes; nil: nothing was noted yet
	copies  []flight
	readers []asyncRead
}

// tile is 16 bytes of shared memory.
type tile struct {
	copied uint32 // number of the copy that wrote it last, plus one
	read   uint32 // of the asynchronous read, plus one
	at     uint32 // Runner.seq when a thread wrote it last; 0: none since a copy did
	pc     int32  // by which instruction
	thread uint16
}

// flight is a copy to shared memory.
type flight struct {
	pc     int32
	thread int32
	cta    int64
	bar    *phases
	phase  uint64 // in which its bytes are counted
}

// asyncRead is a read by a copy, of a group of a thread, or by a product.
type asyncRead struct {
	pc    int32
	warp  int16
	lane  int8 // -1: the warp's products
	group int32
}

func (f *flights) reset() {
	f.tiles, f.copies, f.readers = f.tiles[:0], f.copies[:0], f.readers[:0]
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
		return x.group >= w.products.waited
	}
	return x.group >= w.bulk[x.lane].waited
}

// landing returns the copy that is in flight to a tile, nil if none.
func (c *ctaState) landing(t *tile) *flight {
	if t.copied == 0 {
		return nil
	}
	f := &c.copies[t.copied-1]
	if f.bar.observed > f.phase {
		t.copied = 0
		return nil
	}
	return f
}

// reading returns the asynchronous read of a tile that is not waited for, nil if none.
func (c *ctaState) reading(t *tile) *asyncRead {
	if t.read == 0 {
		return nil
	}
	x := &c.readers[t.read-1]
	if !c.pending(x) {
		t.read = 0
		return nil
	}
	return x
}

// touchTiles checks and notes an access of threads to shared memory.
func (r *Runner) touchTiles(w *warp, in *instr, a *access, mask uint32) signal {
	c := &r.ctaState
	r.seq++
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		addr := r.addr[l]
		list := c.noted(addr, uint64(a.width))
		for i := range list {
			t := &list[i]
			if f := c.landing(t); f != nil {
				if s := r.inFlight(w, in, l, addr, f, a.write); s != next {
					return s
				}
			}
			if !a.write {
				continue
			}
			if x := c.reading(t); x != nil {
				if s := r.stillRead(w, in, l, addr, x); s != next {
					return s
				}
			}
			if a.op != ir.CpAsync {
				t.at, t.pc, t.thread = r.seq, in.pc, uint16(w.thread(l))
			}
		}
	}
	return next
}

// inFlight is the fault of an access to what a copy writes.
func (r *Runner) inFlight(w *warp, in *instr, l int, addr uint64, f *flight, write bool) signal {
	if r.passes(Race) && r.warned(Race, in.pc) {
		return next
	}
	other := r.other(f.pc, f.cta, int(f.thread))
	other.Write = true
	return r.fail(w, in, Fault{Kind: Race, Space: ir.Shared, Address: addr, Thread: w.thread(l), Write: write, Other: other,
		Detail: "no wait for the phase of the copy's mbarrier between"})
}

// stillRead is the fault of a write to what a copy or product reads.
func (r *Runner) stillRead(w *warp, in *instr, l int, addr uint64, x *asyncRead) signal {
	if r.passes(Race) && r.warned(Race, in.pc) {
		return next
	}
	missing := "no cp.async.bulk.wait_group between"
	if x.lane < 0 {
		missing = "no wgmma.wait_group between"
	}
	other := r.other(x.pc, r.cta, int(x.warp)*WarpSize+max(int(x.lane), 0))
	other.Write = false
	return r.fail(w, in, Fault{Kind: Race, Space: ir.Shared, Address: addr, Thread: w.thread(l), Write: true, Other: other, Detail: missing})
}

// readTiles checks and notes that an asynchronous operation of a warp reads bytes of shared memory.
// reader is the number of the read, plus one.
func (r *Runner) readTiles(w *warp, in *instr, l int, addr, bytes uint64, reader uint32) signal {
	c := &r.ctaState
	list := c.noted(addr, bytes)
	for i := range list {
		t := &list[i]
		if f := c.landing(t); f != nil {
			if s := r.inFlight(w, in, l, addr, f, false); s != next {
				return s
			}
		}
		if t.at > w.fenced && t.at > c.warps[int(t.thread)/WarpSize].fenced {
			if s := r.unfenced(w, in, l, addr+uint64(i)<<tileBits, t); s != next {
				return s
			}
		}
		t.read = reader
	}
	return next
}

// unfenced is the fault of an asynchronous read of what a thread wrote.
func (r *Runner) unfenced(w *warp, in *instr, l int, addr uint64, t *tile) signal {
	if r.passes(Race) && r.warned(Race, in.pc) {
		return next
	}
	other := r.other(t.pc, r.cta, int(t.thread))
	other.Write = true
	return r.fail(w, in, Fault{Kind: Race, Space: ir.Shared, Address: addr, Thread: w.thread(l), Other: other, Detail: "no fence.proxy.async between"})
}

// newReader numbers an asynchronous read, plus one.
func (r *Runner) newReader(x asyncRead) uint32 {
	r.readers = append(r.readers, x)
	return uint32(len(r.readers))
}

// landTiles checks and notes that a copy writes bytes of shared memory of a CTA.
func (r *Runner) landTiles(w *warp, in *instr, l int, c *ctaState, addr, bytes uint64, b *phases) signal {
	c.copies = append(c.copies, flight{pc: in.pc, thread: int32(w.thread(l)), cta: r.cta, bar: b, phase: b.Phase})
	number := uint32(len(c.copies))
	list := c.noted(addr, bytes)
	for i := range list {
		t := &list[i]
		at := addr + uint64(i)<<tileBits
		if f := c.landing(t); f != nil {
			if s := r.inFlight(w, in, l, at, f, true); s != next {
				return s
			}
		}
		if x := c.reading(t); x != nil {
			if s := r.stillRead(w, in, l, at, x); s != next {
				return s
			}
		}
		*t = tile{copied: number}
	}
	return next
}

// proxyFence is fence.proxy.async.
func (r *Runner) proxyFence(w *warp, in *instr, mask uint32) signal {
	r.seq++
	w.fenced = r.seq
	return next
}

// bulkCommit is cp.async.bulk.commit_group.
func (r *Runner) bulkCommit(w *warp, in *instr, mask uint32) signal {
	for ; mask != 0; mask &= mask - 1 {
		w.bulk[bits.TrailingZeros32(mask)].committed++
	}
	return next
}

// bulkWait is cp.async.bulk.wait_group.
func (r *Runner) bulkWait(w *warp, in *instr, mask uint32) signal {
	for ; mask != 0; mask &= mask - 1 {
		w.bulk[bits.TrailingZeros32(mask)].wait(in.x.imm)
	}
	return next
}
