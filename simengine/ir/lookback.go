package ir

import "slices"

// CTAWait is how a kernel's CTAs wait for values that CTAs before them publish in device memory.
type CTAWait struct {
	// Waits reports whether there is a loop that only looks until another CTA has written.
	Waits bool
	// Back reports whether it is in a loop that goes on from one CTA's value to those of CTAs further away, once in a CTA:
	// a decoupled look-back (D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016).
	Back bool
	// Values is how many CTAs' values a warp looks at together: its lanes at one each, or one lane alone.
	Values int
}

// WaitsForCTAs finds such loops. Unlike those of Spins they may be of several blocks. The values of CTAs that wait at a
// barrier of the grid lie at one address, so that no loop around the barrier goes on to those of others.
func (k *Kernel) WaitsForCTAs() (w CTAWait) {
	k.ctaWaits(func(_, around []int, values int) {
		w.Waits = true
		if around != nil {
			w.Back, w.Values = true, values
		}
	})
	return w
}

// EndsOfWaits is the branches by which such loops, and look-backs, are left, and whether that is by being taken; nil: none.
// One CTA alone waits for ever: it is taken to find the last value that it needs at once.
func (k *Kernel) EndsOfWaits() (taken map[int]bool) {
	k.ctaWaits(func(body, around []int, _ int) {
		for _, loop := range [][]int{around, body} {
			for _, b := range loop {
				blk := &k.Blocks[b]
				pc := blk.End - 1
				if len(blk.Succs) != 2 || k.Instrs[pc].Op != Bra {
					continue
				}
				next, target := holds(loop, blk.Succs[0]), holds(loop, blk.Succs[1])
				if _, known := taken[pc]; known || next == target {
					continue
				}
				if taken == nil {
					taken = map[int]bool{}
				}
				taken[pc] = next
			}
		}
	})
	return taken
}

// ctaWaits visits each loop that waits with the loop around it in which a CTA looks back, nil for none, and with how many
// values a warp looks at together.
func (k *Kernel) ctaWaits(visit func(body, around []int, values int)) {
	if !k.asksOthers() {
		return
	}
	bodies, shared := k.loopBodies(), k.sharedAddresses()
	var live *Liveness
	for h, body := range bodies {
		look := k.onlyLooks(body, shared)
		if look == nil {
			continue
		}
		if live == nil {
			live = k.Liveness()
		}
		if k.carries(h, body, live) != nil {
			continue
		}
		around, values := k.lookBack(h, look, bodies, live)
		visit(body, around, values)
	}
}

// lookBack is the only loop around one that waits, if it goes on from one address to the next and does nothing else.
func (k *Kernel) lookBack(head int, look *Instr, bodies [][]int, live *Liveness) (around []int, values int) {
	if k.Blocks[head].LoopDepth != 2 {
		return nil, 0
	}
	for h, body := range bodies {
		if h == head || !holds(body, head) || k.writesOrMeets(body) {
			continue
		}
		from := k.computedFrom(look.Src[0].Reg)
		if !intersects(from.regs, k.carries(h, body, live)) {
			continue
		}
		if from.lane {
			return body, 32
		}
		return body, 1
	}
	return nil, 0
}

func holds(loop []int, block int) bool { return slices.Contains(loop, block) }

// onlyLooks is the load by which a loop looks at device memory; nil where it has none, or does anything else but
// computing and sleeping.
func (k *Kernel) onlyLooks(body []int, shared BitSet) (look *Instr) {
	for _, b := range body {
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			in := &k.Instrs[pc]
			switch in.Op {
			case Ld:
				if in.sees() && in.inDevice(shared) && len(in.Src) > 0 && in.Src[0].Kind == OperandAddr && in.Src[0].Reg != NoReg {
					look = in
				}
			case Bra, Membar, Nanosleep, Nop, BarWarp, Vote, Match, Activemask, Redux, Elect:
			default:
				if in.Op > Bra || in.Op.WritesMemory() {
					return nil
				}
			}
		}
	}
	return look
}

// carries is the registers that a loop hands from one iteration to the next; nil: none.
func (k *Kernel) carries(head int, body []int, live *Liveness) (set BitSet) {
	var buf [16]Reg
	for _, b := range body {
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			for _, r := range k.Instrs[pc].AppendDefs(buf[:0]) {
				if !live.In[head].Has(r) {
					continue
				}
				if set == nil {
					set = NewBitSet(len(k.Regs))
				}
				set.Add(r)
			}
		}
	}
	return set
}

func intersects(a, b BitSet) bool {
	for i := range b {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

// writesOrMeets reports whether a loop writes memory or has a barrier of the CTA.
func (k *Kernel) writesOrMeets(body []int) bool {
	for _, b := range body {
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			if op := k.Instrs[pc].Op; op == Bar || op == BarRed || op.WritesMemory() {
				return true
			}
		}
	}
	return false
}

// origin is what a value is computed from without reading memory: registers, and whether the index of a thread is among it.
type origin struct {
	regs BitSet
	lane bool
}

// computedFrom is the origin of a register.
func (k *Kernel) computedFrom(r Reg) (o origin) {
	o.regs = NewBitSet(len(k.Regs))
	o.regs.Add(r)
	var buf [16]Reg
	for changed := true; changed; {
		changed = false
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			if !in.writesAny(o.regs) || in.Op == Ld || in.Op == Ldu || in.Op == Atom || in.Op == Shfl {
				continue
			}
			o.lane = o.lane || in.varies()
			for _, use := range in.AppendUses(buf[:0]) {
				if use != NoReg && !o.regs.Has(use) {
					o.regs.Add(use)
					changed = true
				}
			}
		}
	}
	return o
}

func (in *Instr) writesAny(set BitSet) bool {
	for _, r := range in.Dst {
		if r != NoReg && set.Has(r) {
			return true
		}
	}
	return false
}
