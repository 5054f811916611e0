package assemble

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// instructionBytes is the size of a machine instruction: 16 bytes from Volta
// on, 8 before (plus scheduling words, left out).
func (f *mfn) instructionBytes() int {
	if f.t.cc[0] >= 7 {
		return 16
	}
	return 8
}

// emit turns machine blocks into the program.
func (u *unit) emit() error {
	f := u.m
	p := &Program{Kernel: f.k, Blocks: make([]Block, len(f.blocks))}
	for b := range f.blocks {
		mb := &f.blocks[b]
		p.Blocks[b] = Block{Merged: mb.merged, Holds: mb.holds, Instrs: make([]Instr, len(mb.insts))}
		for i := range mb.insts {
			p.Blocks[b].Instrs[i] = f.machineInstr(&mb.insts[i])
		}
		p.CodeBytes += len(mb.insts) * f.instructionBytes()
	}
	p.Registers = f.general + f.t.reserved
	p.SpillBytes = f.spills.bytes
	p.LocalBytes = f.k.LocalBytes + f.spills.bytes
	p.SpillStores, p.SpillLoads = f.spills.stores, f.spills.loads
	p.Joined = append(slices.Clone(u.h.joined), p.withoutLoad(f.inPlace)...)
	slices.Sort(p.Joined)
	p.Wide = u.h.wide
	slices.SortFunc(p.Wide, func(a, b WideAccess) int { return cmp.Compare(a.PC, b.PC) })
	p.Elected, p.Counted, p.Swapped = distinct(f.elected), distinct(f.counted), distinct(f.swapped)
	u.program = p
	return nil
}

// distinct sorts PTX instructions in place and returns each once.
func distinct(pcs []int32) []int32 {
	slices.Sort(pcs)
	return slices.Compact(pcs)
}

// withoutLoad returns the PTX loads among pcs, each once, that no machine instruction does.
func (p *Program) withoutLoad(pcs []int32) []int32 {
	if len(pcs) == 0 {
		return nil
	}
	loaded := map[int32]bool{}
	for b := range p.Blocks {
		for i := range p.Blocks[b].Instrs {
			if in := &p.Blocks[b].Instrs[i]; in.Class == LDC {
				loaded[in.Source] = true
			}
		}
	}
	pcs = slices.Clone(pcs)
	slices.Sort(pcs)
	return slices.DeleteFunc(slices.Compact(pcs), func(pc int32) bool { return loaded[pc] })
}

// machineInstr converts one instruction.
func (f *mfn) machineInstr(in *inst) Instr {
	m := Instr{Class: in.op.class(), Source: in.pc, Space: in.space, Width: in.width, Guarded: in.guard != noValue, Spill: in.spill, Carried: in.carried}
	m.Calls = in.op == opBRA && in.pc >= 0 && ir.HasSlowPath(&f.k.Instrs[in.pc])
	for i := range in.dst {
		m.Dst[i] = f.regSpan(&in.dst[i])
	}
	n := 0
	for i := range in.src[:in.nsrc] {
		if s := f.regSpan(&in.src[i]); s.Count > 0 && n < len(m.Src) {
			m.Src[n] = s
			n++
		}
	}
	if in.guard != noValue && n < len(m.Src) {
		g := valueArg(in.guard, 0, 1)
		m.Src[n] = f.regSpan(&g)
	}
	return m
}

// predicates is the number of predicate registers; more live ones than that
// share (a real assembler would move some to a general register).
const predicates = 7

// regSpan is an operand as physical registers. Uniform registers are numbered
// after the predicates.
func (f *mfn) regSpan(a *arg) RegSpan {
	if a.kind != argValue || f.regs[a.v] < 0 {
		return RegSpan{First: NoReg}
	}
	r := Reg(f.regs[a.v])
	switch f.vals[a.v].file {
	case fileGeneral:
		return RegSpan{First: r + Reg(a.w), Count: a.n}
	case filePred:
		return RegSpan{First: PredBase + r%predicates, Count: 1}
	case fileUniform:
		return RegSpan{First: UniformBase + (r+Reg(a.w))%uniformRegisters, Count: a.n}
	case fileUniformPred:
		return RegSpan{First: PredBase + predicates + r%predicates, Count: 1}
	}
	return RegSpan{First: NoReg}
}

// uniformRegisters is the number of uniform registers of a warp.
const uniformRegisters = 63
