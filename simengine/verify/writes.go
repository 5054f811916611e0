package verify

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// Writes is an observer that notes which bytes of global memory are stored, and whether by plain
// stores or otherwise. NewWrites makes one.
type Writes struct {
	kind  []writeKind // by instruction
	pages map[uint64]*written
	last  *written // the page of lastAt
	at    uint64
	cta   uint32 // number of the CTA that runs, from 1
}

// writeKind is what an instruction does to global memory.
type writeKind uint8

const (
	noWrite writeKind = iota
	plain             // a store
	atomic            // adds up, whatever the order
	chance            // depends on which thread came first: an exchange, or what an atomic's answer goes into
)

const (
	pageBits  = 12
	pageBytes = 1 << pageBits
)

// written is a page of memory, a bit for each byte.
type written struct {
	stored, atomic, chance, shared [pageBytes / 64]uint64 // shared: by more than one CTA
	own                            [pageBytes / 64]uint64 // by the CTA in by
	by                             [pageBytes / 64]uint32 // the CTA that stored last in these 64 bytes
}

// NewWrites returns an observer for runs of a kernel.
func NewWrites(k *ir.Kernel) *Writes {
	w := &Writes{kind: make([]writeKind, len(k.Instrs)), pages: map[uint64]*written{}}
	free := answered(k)
	for pc := range k.Instrs {
		switch in := &k.Instrs[pc]; in.Op {
		case ir.St:
			w.kind[pc] = plain
			if uses(in, free) {
				w.kind[pc] = chance
			}
		case ir.Sust:
			w.kind[pc] = plain
			if uses(in, free) {
				w.kind[pc] = chance
			}
		case ir.BulkCopy:
			if in.Bulk.To == ir.Global {
				w.kind[pc] = plain
				if in.Bulk.Reduce != ir.AtomNone {
					w.kind[pc] = atomic
				}
			}
		case ir.Atom, ir.Red:
			w.kind[pc] = atomic
			if in.Atom == ir.AtomExch || in.Atom == ir.AtomCAS || uses(in, free) {
				w.kind[pc] = chance
			}
		}
	}
	return w
}

// uses reports whether an instruction's address or value is in a set.
func uses(in *ir.Instr, set ir.BitSet) bool {
	for i := range in.Src {
		if o := &in.Src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && set.Has(o.Reg) {
			return true
		}
	}
	return false
}

// Next begins the next CTA.
func (w *Writes) Next() { w.cta++ }

// Step is of exec.Observer.
func (w *Writes) Step(int, int, uint32) {}

// Repeat is of exec.Observer.
func (w *Writes) Repeat(int, int, int64) {}

// Access is of exec.Observer.
func (w *Writes) Access(_ int, pc int, space ir.Space, width int, mask uint32, addr *[exec.WarpSize]uint64) {
	kind := w.kind[pc]
	if kind == noWrite || space != ir.Global {
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		w.note(addr[bits.TrailingZeros32(m)], width, kind)
	}
}

// Texture is of exec.TextureObserver.
func (w *Writes) Texture(_ int, t *exec.TextureRequest) {
	kind := w.kind[t.PC]
	if kind == noWrite {
		return
	}
	for m := t.Mask[0]; m != 0; m &= m - 1 {
		at := t.At[bits.TrailingZeros32(m)]
		for width, n := t.Width, 0; width > 0; width -= n { // rows need not be multiples of the width
			n = min(width, 1<<bits.TrailingZeros64(at|1<<4))
			w.note(at, n, kind)
			at += uint64(n)
		}
	}
}

// Async is of exec.AsyncObserver.
func (w *Writes) Async(_ int, a trace.Async, ranges []trace.Range) {
	kind := w.kind[a.PC]
	if kind == noWrite {
		return
	}
	for _, x := range ranges {
		for addr, end := x.Addr, x.Addr+uint64(x.Bytes); addr < end; {
			n := min(addr&-addr, 32) // so much is aligned
			for addr+n > end {
				n /= 2
			}
			w.note(addr, int(n), kind)
			addr += n
		}
	}
}

// note notes a store of width bytes, at most 64 and aligned to a power of two that is
// not less than the width.
func (w *Writes) note(addr uint64, width int, kind writeKind) {
	p, word := w.page(addr), addr&(pageBytes-1)>>6
	set := (uint64(1)<<width - 1) << (addr & 63)
	if p.by[word] != w.cta {
		p.by[word], p.own[word] = w.cta, 0
	}
	p.shared[word] |= p.stored[word] &^ p.own[word] & set
	p.stored[word] |= set
	p.own[word] |= set
	switch kind {
	case atomic:
		p.atomic[word] |= set
	case chance:
		p.chance[word] |= set
	}
}

func (w *Writes) page(addr uint64) *written {
	if at := addr >> pageBits; w.last == nil || w.at != at {
		if w.pages[at] == nil {
			w.pages[at] = &written{}
		}
		w.last, w.at = w.pages[at], at
	}
	return w.last
}
