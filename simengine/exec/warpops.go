package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/ir"
)

// shuffle is shfl (PTX ISA, shfl.sync): lane l reads lane j, or itself when j
// falls outside its segment. A source lane that does not take part gives what
// its register holds, which PTX leaves undefined.
func (r *Runner) shuffle(w *warp, in *instr, mask uint32) signal {
	x := in.x
	if x.src[0].file != file32 || x.src[1].file != file32 || x.src[2].file != file32 {
		return r.unsupportedSize(w, in)
	}
	a, b, c := &w.r32[x.src[0].index], &w.r32[x.src[1].index], &w.r32[x.src[2].index]
	var inRange uint32
	for l := range r.t32 {
		j, ok := shuffleSource(x.bool, uint32(l), b[l]&31, c[l])
		if ok {
			inRange |= 1 << l
		} else {
			j = uint32(l)
		}
		r.t32[l] = a[j&31]
	}
	if d := x.dst[0]; d.file == file32 {
		blend(&w.r32[d.index], &r.t32, mask)
	}
	if len(x.dst) > 1 {
		w.putPredicate(x.dst[1], inRange, mask)
	}
	return next
}

// shuffleSource is the source lane and whether it is in range; c holds the
// clamp value in bits 0 to 4 and the segment mask in bits 8 to 12.
func shuffleSource(mode ir.BoolOp, lane, b, c uint32) (uint32, bool) {
	clamp, seg := c&31, c>>8&31
	maxLane := lane&seg | clamp&^seg
	minLane := lane & seg
	switch mode {
	case ir.ShflUp:
		j := int32(lane) - int32(b)
		return uint32(j), j >= int32(maxLane)
	case ir.ShflDown:
		return lane + b, lane+b <= maxLane
	case ir.ShflBfly:
		return lane ^ b, lane^b <= maxLane
	}
	j := minLane | b&^seg
	return j, j <= maxLane
}

func (r *Runner) unsupportedSize(w *warp, in *instr) signal {
	return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: -1, Detail: "register size differs from the instruction's type"})
}

// vote is vote.{all,any,uni,ballot}.
func (r *Runner) vote(w *warp, in *instr, mask uint32) signal {
	x := in.x
	p := w.predicateValue(x, 0) & mask
	d := x.dst[0]
	if x.bool == ir.BoolBallot {
		fill(&r.t32, p)
		if d.file == file32 {
			blend(&w.r32[d.index], &r.t32, mask)
		}
		return next
	}
	v := false
	switch x.bool {
	case ir.BoolAll, ir.BoolAnd:
		v = p == mask
	case ir.BoolAny, ir.BoolOr:
		v = p != 0
	case ir.BoolUni:
		v = p == 0 || p == mask
	}
	if v {
		w.putPredicate(d, ^uint32(0), mask)
	} else {
		w.putPredicate(d, 0, mask)
	}
	return next
}

// match is match.any and, with ModAll, match.all.
func (r *Runner) match(w *warp, in *instr, mask uint32) signal {
	x := in.x
	all := r.p.Kernel.Instrs[in.pc].Mod&ir.ModAll != 0
	same := mask
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		var peers uint32
		for n := mask; n != 0; n &= n - 1 {
			j := bits.TrailingZeros32(n)
			if w.get(x.src[0], j) == w.get(x.src[0], l) {
				peers |= 1 << j
			}
		}
		r.t32[l] = peers
		same &= peers
	}
	if all {
		v := uint32(0)
		if same == mask {
			v = mask
		}
		fill(&r.t32, v)
		if len(x.dst) > 1 {
			w.putPredicate(x.dst[1], -(v & -v >> bits.TrailingZeros32(v|1<<31)), mask)
		}
	}
	if d := x.dst[0]; d.file == file32 {
		blend(&w.r32[d.index], &r.t32, mask)
	}
	return next
}

func (r *Runner) activeMask(w *warp, in *instr, mask uint32) signal {
	fill(&r.t32, mask)
	if d := in.x.dst[0]; d.file == file32 {
		blend(&w.r32[d.index], &r.t32, mask)
	}
	return next
}

// elect picks the lowest active lane.
func (r *Runner) elect(w *warp, in *instr, mask uint32) signal {
	fill(&r.t32, uint32(bits.TrailingZeros32(mask)))
	if d := in.x.dst[0]; d.file == file32 {
		blend(&w.r32[d.index], &r.t32, mask)
	}
	if len(in.x.dst) > 1 {
		w.putPredicate(in.x.dst[1], mask&-mask, mask)
	}
	return next
}

// redux combines a register over the active lanes.
func (r *Runner) redux(w *warp, in *instr, mask uint32) signal {
	ki := &r.p.Kernel.Instrs[in.pc]
	f := alu.IntegerAtomic(ki.Atom, ki.Type)
	if f == nil || in.x.src[0].file != file32 {
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: -1, Detail: "redux of this operation"})
	}
	a := &w.r32[in.x.src[0].index]
	first := bits.TrailingZeros32(mask)
	v := uint64(a[first])
	for m := mask & (mask - 1); m != 0; m &= m - 1 {
		v = f(v, uint64(a[bits.TrailingZeros32(m)]), 0)
	}
	fill(&r.t32, uint32(v))
	if d := in.x.dst[0]; d.file == file32 {
		blend(&w.r32[d.index], &r.t32, mask)
	}
	return next
}

// warpSync is bar.warp.sync. Lanes that it names and that have not arrived
// never will: the stack has run everything that could precede this point.
func (r *Runner) warpSync(w *warp, in *instr, mask uint32) signal { return next }

// set writes 1.0 or all ones where the comparison holds, else 0.
func (r *Runner) set(w *warp, in *instr, mask uint32) signal {
	x := in.x
	var v uint32
	switch {
	case x.cmp32 != nil && x.src[0].file == file32 && x.src[1].file == file32:
		v = x.cmp32(&w.r32[x.src[0].index], &w.r32[x.src[1].index])
	case x.cmp64 != nil && x.src[0].file == file64 && x.src[1].file == file64:
		v = x.cmp64(&w.r64[x.src[0].index], &w.r64[x.src[1].index])
	default:
		return r.unsupportedSize(w, in)
	}
	if x.bool != ir.BoolNone && len(x.src) > 2 {
		v = combine(x.bool, v, w.predicateValue(x, 2))
	}
	one := uint64(^uint32(0))
	if t := r.p.Kernel.Instrs[in.pc].Type; t.IsFloat() {
		one = element.Encode(t, 1)
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		w.put(x.dst[0], l, one*uint64(v>>l&1))
	}
	return next
}

// repack is mov between a vector of registers and one register: element i of
// the vector is the i-th lowest part.
func (r *Runner) repack(w *warp, in *instr, mask uint32) signal {
	x := in.x
	parts := max(len(x.src), len(x.dst))
	total := alu.Width(r.p.Kernel.Instrs[in.pc].Type)
	if total == 0 || total%parts != 0 {
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: -1, Detail: "mov of this vector"})
	}
	part := total / parts
	low := ^uint64(0) >> (64 - part)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		var v uint64
		for n, s := range x.src {
			e := w.get(s, l)
			if len(x.src) > 1 {
				e = e & low << (n * part)
			}
			v |= e
		}
		for n, d := range x.dst {
			e := v
			if len(x.dst) > 1 {
				e = v >> (n * part) & low
			}
			w.put(d, l, e)
		}
	}
	return next
}

// isSpace is isspacep.
func (r *Runner) isSpace(w *warp, in *instr, mask uint32) signal {
	var v uint32
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		addr := w.get(in.x.src[0], l)
		s, _ := splitGeneric(addr)
		if s == ir.Shared && ir.Space(in.x.imm) == ir.SharedCluster {
			s = ir.SharedCluster
		} else if rank, _, _ := r.sharedPlace(ir.Generic, addr); s == ir.Shared && rank >= 0 {
			s = ir.SharedCluster // of another CTA
		}
		if uint64(s) == in.x.imm {
			v |= 1 << l
		}
	}
	w.putPredicate(in.x.dst[0], v, mask)
	return next
}

// readClock is mov from a clock: cycles are not modelled here, so clocks count
// basic blocks.
func (r *Runner) readClock(w *warp, in *instr, mask uint32) signal {
	for m := mask; m != 0; m &= m - 1 {
		w.put(in.x.dst[0], bits.TrailingZeros32(m), uint64(w.steps))
	}
	return next
}
