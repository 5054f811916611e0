package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// shuffle is shfl (PTX ISA, shfl.sync): lane l reads lane j, or itself when j
// falls outside its segment. A source lane that does not take part gives what
// its register holds, which PTX leaves undefined.
func (r *Runner) shuffle(w *warp, in *code.Instr, mask uint32) signal {
	x := in.X
	if x.Src[0].File != code.File32 || x.Src[1].File != code.File32 || x.Src[2].File != code.File32 {
		return r.unsupportedSize(w, in)
	}
	a, b, c := &w.r32[x.Src[0].Index], &w.r32[x.Src[1].Index], &w.r32[x.Src[2].Index]
	var inRange uint32
	for l := range r.t32 {
		j, ok := shuffleSource(x.BoolOp, uint32(l), b[l]&31, c[l])
		if ok {
			inRange |= 1 << l
		} else {
			j = uint32(l)
		}
		r.t32[l] = a[j&31]
	}
	if d := x.Dst[0]; d.File == code.File32 {
		blend(&w.r32[d.Index], &r.t32, mask)
	}
	if len(x.Dst) > 1 {
		w.putPredicate(x.Dst[1], inRange, mask)
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

func (r *Runner) unsupportedSize(w *warp, in *code.Instr) signal {
	return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: -1, Detail: "register size differs from the instruction's type"})
}

// vote is vote.{all,any,uni,ballot}.
func (r *Runner) vote(w *warp, in *code.Instr, mask uint32) signal {
	x := in.X
	p := w.predicateValue(x, 0) & mask
	d := x.Dst[0]
	if x.BoolOp == ir.BoolBallot {
		fill(&r.t32, p)
		if d.File == code.File32 {
			blend(&w.r32[d.Index], &r.t32, mask)
		}
		return next
	}
	v := false
	switch x.BoolOp {
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
func (r *Runner) match(w *warp, in *code.Instr, mask uint32) signal {
	x := in.X
	all := r.p.Kernel.Instrs[in.PC].Mod&ir.ModAll != 0
	same := mask
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		var peers uint32
		for n := mask; n != 0; n &= n - 1 {
			j := bits.TrailingZeros32(n)
			if w.get(x.Src[0], j) == w.get(x.Src[0], l) {
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
		if len(x.Dst) > 1 {
			w.putPredicate(x.Dst[1], -(v & -v >> bits.TrailingZeros32(v|1<<31)), mask)
		}
	}
	if d := x.Dst[0]; d.File == code.File32 {
		blend(&w.r32[d.Index], &r.t32, mask)
	}
	return next
}

func (r *Runner) activeMask(w *warp, in *code.Instr, mask uint32) signal {
	fill(&r.t32, mask)
	if d := in.X.Dst[0]; d.File == code.File32 {
		blend(&w.r32[d.Index], &r.t32, mask)
	}
	return next
}

// elect picks the lowest active lane.
func (r *Runner) elect(w *warp, in *code.Instr, mask uint32) signal {
	fill(&r.t32, uint32(bits.TrailingZeros32(mask)))
	if d := in.X.Dst[0]; d.File == code.File32 {
		blend(&w.r32[d.Index], &r.t32, mask)
	}
	if len(in.X.Dst) > 1 {
		w.putPredicate(in.X.Dst[1], mask&-mask, mask)
	}
	return next
}

// redux combines a register over the active lanes.
func (r *Runner) redux(w *warp, in *code.Instr, mask uint32) signal {
	ki := &r.p.Kernel.Instrs[in.PC]
	f := alu.IntegerAtomic(ki.Atom, ki.Type)
	if f == nil || in.X.Src[0].File != code.File32 {
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: -1, Detail: "redux of this operation"})
	}
	a := &w.r32[in.X.Src[0].Index]
	first := bits.TrailingZeros32(mask)
	v := uint64(a[first])
	for m := mask & (mask - 1); m != 0; m &= m - 1 {
		v = f(v, uint64(a[bits.TrailingZeros32(m)]), 0)
	}
	fill(&r.t32, uint32(v))
	if d := in.X.Dst[0]; d.File == code.File32 {
		blend(&w.r32[d.Index], &r.t32, mask)
	}
	return next
}

// warpSync is bar.warp.sync. Lanes that it names and that have not arrived
// never will: the stack has run everything that could precede this point.
func (r *Runner) warpSync(w *warp, in *code.Instr, mask uint32) signal { return next }

// set writes 1.0 or all ones where the comparison holds, else 0.
func (r *Runner) set(w *warp, in *code.Instr, mask uint32) signal {
	x := in.X
	var v uint32
	switch {
	case x.Cmp32 != nil && x.Src[0].File == code.File32 && x.Src[1].File == code.File32:
		v = x.Cmp32(&w.r32[x.Src[0].Index], &w.r32[x.Src[1].Index])
	case x.Cmp64 != nil && x.Src[0].File == code.File64 && x.Src[1].File == code.File64:
		v = x.Cmp64(&w.r64[x.Src[0].Index], &w.r64[x.Src[1].Index])
	default:
		return r.unsupportedSize(w, in)
	}
	if x.BoolOp != ir.BoolNone && len(x.Src) > 2 {
		v = combine(x.BoolOp, v, w.predicateValue(x, 2))
	}
	one := uint64(^uint32(0))
	if t := r.p.Kernel.Instrs[in.PC].Type; t.IsFloat() {
		one = element.Encode(t, 1)
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		w.put(x.Dst[0], l, one*uint64(v>>l&1))
	}
	return next
}

// repack is mov between a vector of registers and one register: element i of
// the vector is the i-th lowest part.
func (r *Runner) repack(w *warp, in *code.Instr, mask uint32) signal {
	x := in.X
	parts := max(len(x.Src), len(x.Dst))
	total := alu.Width(r.p.Kernel.Instrs[in.PC].Type)
	if total == 0 || total%parts != 0 {
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: -1, Detail: "mov of this vector"})
	}
	part := total / parts
	low := ^uint64(0) >> (64 - part)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		var v uint64
		for n, s := range x.Src {
			e := w.get(s, l)
			if len(x.Src) > 1 {
				e = e & low << (n * part)
			}
			v |= e
		}
		for n, d := range x.Dst {
			e := v
			if len(x.Dst) > 1 {
				e = v >> (n * part) & low
			}
			w.put(d, l, e)
		}
	}
	return next
}

// isSpace is isspacep.
func (r *Runner) isSpace(w *warp, in *code.Instr, mask uint32) signal {
	var v uint32
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		addr := w.get(in.X.Src[0], l)
		s, _ := splitGeneric(addr)
		if s == ir.Shared && ir.Space(in.X.Imm) == ir.SharedCluster {
			s = ir.SharedCluster
		} else if rank, _, _ := r.sharedPlace(ir.Generic, addr); s == ir.Shared && rank >= 0 {
			s = ir.SharedCluster // of another CTA
		}
		if uint64(s) == in.X.Imm {
			v |= 1 << l
		}
	}
	w.putPredicate(in.X.Dst[0], v, mask)
	return next
}

// readClock is mov from a clock: cycles are not modelled here, so clocks count
// basic blocks.
func (r *Runner) readClock(w *warp, in *code.Instr, mask uint32) signal {
	for m := mask; m != 0; m &= m - 1 {
		w.put(in.X.Dst[0], bits.TrailingZeros32(m), uint64(w.steps))
	}
	return next
}
