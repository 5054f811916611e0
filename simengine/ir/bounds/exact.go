package bounds

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Exact evaluates what instructions read that depends on a thread's index in its CTA alone. It is for kernels that require
// the CTA's size.
type Exact struct {
	r       *Registers
	threads [3]int
	def     []int32            // by register: the only instruction that writes it, else -1
	start   []int32            // by instruction: where its block begins
	values  map[int32][]uint32 // by instruction, by thread; nil: not to be known
}

// Exactly is for a kernel of which r says the bounds; nil: its CTAs' size is not known.
func Exactly(r *Registers) *Exact {
	k, n := r.k, r.k.ReqNTid
	e := &Exact{r: r, threads: [3]int{n[0], max(n[1], 1), max(n[2], 1)}, values: map[int32][]uint32{}}
	if n[0] <= 0 || e.Threads() > mostThreads {
		return nil
	}
	e.def, e.start = make([]int32, len(k.Regs)), make([]int32, len(k.Instrs))
	writes := make([]uint8, len(k.Regs))
	for b := range k.Blocks {
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			e.start[pc] = int32(k.Blocks[b].Start)
			for _, d := range k.Instrs[pc].Dst {
				if d != ir.NoReg {
					writes[d] = min(writes[d]+1, 2)
					e.def[d] = int32(pc)
				}
			}
		}
	}
	for d, n := range writes {
		if n != 1 {
			e.def[d] = -1
		}
	}
	return e
}

// Threads is how many a CTA has.
func (e *Exact) Threads() int { return e.threads[0] * e.threads[1] * e.threads[2] }

// Shared is the address in shared memory of each thread's access by the instruction at pc; nil: it is not known.
func (e *Exact) Shared(pc int) []uint32 {
	o := &e.r.k.Instrs[pc].Src[0]
	if o.Kind != ir.OperandAddr || o.Param >= 0 {
		return nil
	}
	base := uint32(o.Imm)
	if o.Var >= 0 {
		p := e.r.place(o.Var)
		if p.kind != bounded {
			return nil
		}
		base += uint32(p.Low)
	}
	out := make([]uint32, e.Threads())
	var of []uint32
	if o.Reg != ir.NoReg {
		if of = e.register(o.Reg, pc); of == nil {
			return nil
		}
	}
	for t := range out {
		if out[t] = base; of != nil {
			out[t] += of[t]
		}
		if out[t] >= 1<<ir.RankShift {
			return nil
		}
	}
	return out
}

// Guards reports of each thread whether it executes the instruction at pc; nil: it is not known.
func (e *Exact) Guards(pc int) []bool {
	in, out := &e.r.k.Instrs[pc], make([]bool, e.Threads())
	var of []uint32
	if in.Guard != ir.NoReg {
		if of = e.register(in.Guard, pc); of == nil {
			return nil
		}
	}
	for t := range out {
		out[t] = of == nil || of[t] != 0 != in.GuardNot
	}
	return out
}

// register is the value of a register in each thread where the instruction at pc reads it; nil: it is not known. What is
// computed of itself is not.
func (e *Exact) register(r ir.Reg, pc int) []uint32 {
	def := e.def[r]
	for i := int32(pc) - 1; def < 0 && i >= e.start[pc]; i-- {
		if slices.Contains(e.r.k.Instrs[i].Dst, r) {
			def = i
		}
	}
	if def < 0 {
		return nil
	}
	v, tried := e.values[def]
	if !tried {
		e.values[def] = nil
		if e.r.k.Instrs[def].Dst[0] == r {
			v = e.evaluate(int(def))
			e.values[def] = v
		}
	}
	return v
}

// operand is the value of an operand of the instruction at pc in each thread; nil: it is not known.
func (e *Exact) operand(o *ir.Operand, pc int) []uint32 {
	switch o.Kind {
	case ir.OperandReg:
		v := e.register(o.Reg, pc)
		if !o.Not || v == nil {
			return v
		}
		return e.each(func(t int) uint32 { return v[t] ^ 1 })
	case ir.OperandImm:
		return e.each(func(int) uint32 { return uint32(o.Imm) })
	case ir.OperandVar:
		if p := e.r.place(o.Var); p.kind == bounded {
			return e.each(func(int) uint32 { return uint32(p.Low) + uint32(o.Imm) })
		}
	case ir.OperandSpecial:
		x, y := e.threads[0], e.threads[1]
		switch o.Special {
		case ir.TidX:
			return e.each(func(t int) uint32 { return uint32(t % x) })
		case ir.TidY:
			return e.each(func(t int) uint32 { return uint32(t / x % y) })
		case ir.TidZ:
			return e.each(func(t int) uint32 { return uint32(t / x / y) })
		case ir.LaneID:
			return e.each(func(t int) uint32 { return uint32(t % warpSize) })
		}
	}
	return nil
}

const warpSize = 32

func (e *Exact) each(f func(t int) uint32) []uint32 {
	out := make([]uint32, e.Threads())
	for t := range out {
		out[t] = f(t)
	}
	return out
}

// evaluate is the first result of the instruction at pc in each thread; nil: it is not known.
func (e *Exact) evaluate(pc int) []uint32 {
	in := &e.r.k.Instrs[pc]
	if in.Guard != ir.NoReg || in.Mod&(ir.ModCarryIn|ir.ModCarryOut|ir.ModSat|ir.ModHi|ir.ModWide) != 0 || len(in.Src) > 4 {
		return nil
	}
	var s [4][]uint32
	for i := range in.Src {
		if s[i] = e.operand(&in.Src[i], pc); s[i] == nil {
			return nil
		}
	}
	if in.Op == ir.Shfl {
		return e.shuffled(in, s[0], s[1], s[2])
	}
	f := function(in)
	if f == nil {
		return nil
	}
	return e.each(func(t int) uint32 {
		var x [4]uint32
		for i := range in.Src {
			x[i] = s[i][t]
		}
		return f(x[0], x[1], x[2], x[3])
	})
}

// shuffled is what a shuffle by the index of a lane gives each thread.
func (e *Exact) shuffled(in *ir.Instr, a, lane, clamp []uint32) []uint32 {
	if in.Bool != ir.ShflIdx || len(a)%warpSize != 0 {
		return nil
	}
	for t := range clamp {
		if clamp[t] != warpSize-1 {
			return nil
		}
	}
	return e.each(func(t int) uint32 { return a[t-t%warpSize+int(lane[t]%warpSize)] })
}
