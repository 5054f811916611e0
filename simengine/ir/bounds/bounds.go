// Package bounds finds between which values the integer registers of a kernel are, whatever the control flow and the
// data: interval analysis (P. and R. Cousot, Abstract interpretation, 1977).
package bounds

import (
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Range is the values from Low to High. Of a register of 32 bits it is known that it has one of these values modulo
// 2^32.
type Range struct{ Low, High int64 }

// state is what is known of a register. bits are those that may be set, of one without a sign.
type state struct {
	Range
	bits uint64
	kind kind
}

type kind uint8

const (
	unwritten kind = iota // no instruction looked at writes it
	bounded
	any
)

// largest bounds what is told apart: what is computed beyond it may be anything.
const largest = 1 << 40

func constant(v int64) state { return between(v, v).among(uint64(v)) }

func between(low, high int64) state {
	if low > high || low < -largest || high > largest {
		return state{kind: any}
	}
	return state{Range{low, high}, 1<<bits.Len64(uint64(max(high, 0))) - 1, bounded}
}

// among is a state of which no other bits are set, if it has no sign.
func (s state) among(these uint64) state {
	if s.kind == bounded && s.Low >= 0 {
		s.bits &= these
		s.High = min(s.High, int64(s.bits))
		s.Low = min(s.Low, s.High)
	}
	return s
}

// unsigned reports whether the value as a number without a sign is in the range, and as one with a sign, too.
func (s state) unsigned() bool { return s.kind == bounded && s.Low >= 0 && s.High < 1<<31 }

// signed reports whether the value as a number with a sign is in the range.
func (s state) signed() bool { return s.kind == bounded && s.Low >= -1<<31 && s.High < 1<<31 }

func join(a, b state) state {
	switch {
	case a.kind == unwritten || b.kind == any:
		return b
	case b.kind == unwritten || a.kind == any:
		return a
	}
	return between(min(a.Low, b.Low), max(a.High, b.High)).among(a.bits | b.bits)
}

// Registers is what is known of a kernel's registers.
type Registers struct {
	k       *ir.Kernel
	of      []state
	dynamic int64 // where the dynamic shared array begins
}

// patience is how often the range of a register may grow before it may have any value.
const patience = 64

// Of finds the ranges of a kernel's registers.
func Of(k *ir.Kernel) *Registers {
	r := &Registers{k: k}
	r.dynamic = (int64(k.SharedBytes) + 15) &^ 15 // as package exec places it
	if d := k.DynamicShared; d >= 0 && k.Vars[d].Offset > 0 {
		r.dynamic = int64(k.Vars[d].Offset)
	}
	of := addressing(k)
	r.of = make([]state, len(k.Regs))
	grown := make([]uint8, len(k.Regs))
	for changed := true; changed; {
		changed = false
		for _, x := range of {
			in := &k.Instrs[x.pc]
			v := r.result(in, int(x.pc), int(x.start))
			for i, d := range in.Dst {
				if d == ir.NoReg || k.Regs[d].Type == ir.Pred {
					continue
				}
				if i > 0 {
					v = state{kind: any}
				}
				if n := join(r.of[d], v); n != r.of[d] {
					if grown[d]++; grown[d] > patience {
						n = state{kind: any}
					}
					r.of[d], changed = n, true
				}
			}
		}
	}
	return r
}

// relevant is an instruction that writes what addresses in shared memory are computed of, and where its block begins.
type relevant struct{ pc, start int32 }

// addressing lists the instructions that addresses of accesses to shared memory are computed by, in order.
func addressing(k *ir.Kernel) (list []relevant) {
	defs := newDefinitions(k)
	var buf [16]ir.Reg
	for pc := range k.Instrs {
		if in := &k.Instrs[pc]; in.Space == ir.Shared && len(in.Src) > 0 && in.Src[0].Kind == ir.OperandAddr && in.Src[0].Reg != ir.NoReg {
			defs.want(in.Src[0].Reg)
		}
	}
	for len(defs.work) > 0 {
		pc := defs.work[len(defs.work)-1]
		defs.work = defs.work[:len(defs.work)-1]
		if in := &k.Instrs[pc]; follows(in) {
			for _, r := range in.AppendUses(buf[:0]) {
				defs.want(r)
			}
		}
	}
	for b := range k.Blocks {
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			if defs.found.Has(ir.Reg(pc)) {
				list = append(list, relevant{int32(pc), int32(k.Blocks[b].Start)})
			}
		}
	}
	return list
}

// definitions are the instructions that write each register: next links those of one.
type definitions struct {
	last        []int32 // by register, -1 none
	next        []int32 // by destination, all instructions' in order
	pcs         []int32 // likewise: the instruction
	found, seen ir.BitSet
	work        []int32 // instructions found whose sources were not looked at
}

func newDefinitions(k *ir.Kernel) *definitions {
	d := &definitions{last: make([]int32, len(k.Regs)), found: ir.NewBitSet(len(k.Instrs)), seen: ir.NewBitSet(len(k.Regs))}
	for r := range d.last {
		d.last[r] = -1
	}
	for pc := range k.Instrs {
		for _, r := range k.Instrs[pc].Dst {
			if r != ir.NoReg {
				d.next, d.pcs = append(d.next, d.last[r]), append(d.pcs, int32(pc))
				d.last[r] = int32(len(d.pcs) - 1)
			}
		}
	}
	return d
}

// want finds the instructions that write a register.
func (d *definitions) want(r ir.Reg) {
	if d.seen.Has(r) {
		return
	}
	d.seen.Add(r)
	for i := d.last[r]; i >= 0; i = d.next[i] {
		if pc := d.pcs[i]; !d.found.Has(ir.Reg(pc)) {
			d.found.Add(ir.Reg(pc))
			d.work = append(d.work, pc)
		}
	}
}

// Shared is where in the CTA's shared memory an address is; false: it is not known.
func (r *Registers) Shared(o *ir.Operand) (Range, bool) {
	if o.Kind != ir.OperandAddr || o.Param >= 0 {
		return Range{}, false
	}
	s := constant(int64(o.Imm))
	if o.Reg != ir.NoReg {
		s = add(s, r.of[o.Reg])
	}
	if o.Var >= 0 {
		s = add(s, r.place(o.Var))
	}
	return s.Range, s.kind == bounded && s.Low >= 0 && s.High < 1<<ir.RankShift
}

// place is the address of a variable in shared memory.
func (r *Registers) place(v int32) state {
	x := &r.k.Vars[v]
	switch {
	case x.Space != ir.Shared:
		return state{kind: any}
	case int(v) == r.k.DynamicShared:
		return constant(r.dynamic)
	case x.Offset < 0 || x.Size == 0:
		return state{kind: any}
	}
	return constant(int64(x.Offset))
}

// source is what is known of an operand, of an instruction of so many bytes.
func (r *Registers) source(o *ir.Operand, size int) state {
	switch o.Kind {
	case ir.OperandReg:
		if r.k.Regs[o.Reg].Type == ir.Pred {
			return state{kind: any}
		}
		return r.of[o.Reg]
	case ir.OperandImm:
		if size == 8 {
			return between(int64(o.Imm), int64(o.Imm))
		}
		return constant(int64(int32(o.Imm)))
	case ir.OperandVar:
		return add(r.place(o.Var), constant(int64(o.Imm)))
	case ir.OperandSpecial:
		return r.special(o.Special)
	}
	return state{kind: any}
}

// mostThreads is the most threads of a CTA.
const mostThreads = 1024

// special is what is known of a special register.
func (r *Registers) special(s ir.Special) state {
	axis := func(n int) state {
		most := mostThreads
		if r.k.ReqNTid[0] > 0 {
			most = max(r.k.ReqNTid[n], 1)
		} else if r.k.MaxNTid[n] > 0 {
			most = r.k.MaxNTid[0] * max(r.k.MaxNTid[1], 1) * max(r.k.MaxNTid[2], 1)
		}
		return between(0, int64(most)-1)
	}
	switch s {
	case ir.TidX:
		return axis(0)
	case ir.TidY:
		return axis(1)
	case ir.TidZ:
		return axis(2)
	case ir.LaneID:
		return between(0, 31)
	}
	return state{kind: any}
}

// chosen is what is known of an operand of a selection where its predicate is as it has to be: the comparison that the
// predicate is the result of bounds what it compares.
func (r *Registers) chosen(o *ir.Operand, when bool, sel *ir.Instr, pc, start int) state {
	v := r.source(o, sel.Type.Size())
	p := sel.Src[2]
	if v.kind != bounded || o.Kind != ir.OperandReg || p.Kind != ir.OperandReg {
		return v
	}
	for pc--; pc >= start; pc-- {
		in := &r.k.Instrs[pc]
		if slices.Contains(in.Dst, p.Reg) {
			if in.Op != ir.Setp || len(in.Dst) != 1 || len(in.Src) != 2 || in.Guard != ir.NoReg || in.Src[0].Kind != ir.OperandReg || in.Src[0].Reg != o.Reg || in.Src[1].Kind != ir.OperandImm {
				return v
			}
			if !(in.Type == ir.S32 && v.signed() || in.Type == ir.U32 && v.unsigned()) {
				return v
			}
			return compared(v, in.Cmp, int64(int32(in.Src[1].Imm)), when != p.Not)
		}
		if slices.Contains(in.Dst, o.Reg) {
			return v
		}
	}
	return v
}

// compared is the part of a range for which a comparison with a constant has the given result; all of it for
// comparisons that are not by order.
func compared(v state, cmp ir.Cmp, with int64, result bool) state {
	low, high := v.Low, v.High
	switch cmp {
	case ir.CmpLT, ir.CmpLO:
		low, high = part(v, with-1, result)
	case ir.CmpLE, ir.CmpLS:
		low, high = part(v, with, result)
	case ir.CmpGE, ir.CmpHS:
		low, high = part(v, with-1, !result)
	case ir.CmpGT, ir.CmpHI:
		low, high = part(v, with, !result)
	}
	if low > high {
		return state{} // never chosen, as far as is known
	}
	return between(low, high).among(v.bits)
}

// part is the part of a range up to a value, or beyond it.
func part(v state, to int64, upTo bool) (low, high int64) {
	if upTo {
		return v.Low, min(v.High, to)
	}
	return max(v.Low, to+1), v.High
}
