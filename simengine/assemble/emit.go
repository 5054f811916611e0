package assemble

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// instructionBytes is the size of a machine instruction: 16 bytes from Volta on, before 8 (without
// scheduling words).
func instructionBytes(f *mir.Func) int {
	if f.Target.CC[0] >= 7 {
		return 16
	}
	return 8
}

// emit makes the program.
func (u *unit) emit() error {
	f := u.mir
	p := &Program{Kernel: f.Kernel, Blocks: make([]Block, len(f.Blocks))}
	for b := range f.Blocks {
		mb := &f.Blocks[b]
		list := make([]Instr, 0, len(mb.Insts))
		for i := range mb.Insts {
			in := &mb.Insts[i]
			list = append(list, machineInstr(f, in))
			if len(in.Acc) > 0 {
				list = appendParts(list, f, in)
			}
		}
		p.Blocks[b] = Block{Merged: mb.Merged, Holds: mb.Holds, Instrs: list}
		p.CodeBytes += len(mb.Insts) * instructionBytes(f)
	}
	p.Registers = f.General + f.Target.Reserved
	if u.launched > 0 {
		p.Registers = u.launched
	}
	p.SpillBytes = f.Spills.Bytes
	p.LocalBytes = f.Kernel.LocalBytes + f.Spills.Bytes
	p.SpillStores, p.SpillLoads = f.Spills.Stores, f.Spills.Loads
	p.Joined = append(slices.Clone(u.hir.Joined), p.withoutLoad(f.ReadInPlace)...)
	slices.Sort(p.Joined)
	p.Wide = u.hir.Wide
	slices.SortFunc(p.Wide, func(a, b hir.WideAccess) int { return cmp.Compare(a.PC, b.PC) })
	p.Elected, p.Counted, p.Swapped = distinct(f.Elected), distinct(f.Counted), distinct(f.Swapped)
	u.program = p
	return nil
}

// distinct sorts PTX instructions in place and returns each once.
func distinct(pcs []int32) []int32 {
	slices.Sort(pcs)
	return slices.Compact(pcs)
}

// withoutLoad returns the PTX loads among pcs, each once, that no machine instruction makes.
func (p *Program) withoutLoad(pcs []int32) []int32 {
	if len(pcs) == 0 {
		return nil
	}
	loaded := map[int32]bool{}
	for b := range p.Blocks {
		for i := range p.Blocks[b].Instrs {
			if in := &p.Blocks[b].Instrs[i]; in.Class == mir.LDC {
				loaded[in.Source] = true
			}
		}
	}
	pcs = slices.Clone(pcs)
	slices.Sort(pcs)
	return slices.DeleteFunc(slices.Compact(pcs), func(pc int32) bool { return loaded[pc] })
}

// machineInstr converts one instruction.
func machineInstr(f *mir.Func, in *mir.Inst) Instr {
	m := Instr{Class: in.Op.Class(), Source: in.PC, Space: in.Space, Width: in.Width, Guarded: in.Guard != vreg.None, Spill: in.SpillSlot, Carried: in.Carried}
	m.Calls = in.Op == mir.OpBRA && in.PC >= 0 && ir.HasSlowPath(&f.Kernel.Instrs[in.PC])
	for i := range in.Dst {
		m.Dst[i] = regSpan(f, &in.Dst[i])
	}
	n := 0
	for i := range in.Src[:in.NSrc] {
		if s := regSpan(f, &in.Src[i]); s.Count > 0 && n < len(m.Src) {
			m.Src[n] = s
			n++
		}
	}
	if in.Guard != vreg.None && n < len(m.Src) {
		g := mir.ValueWords(in.Guard, 0, 1)
		m.Src[n] = regSpan(f, &g)
	}
	return m
}

// predicates is the number of predicate registers of a thread. If more are live they share.
const predicates = 7

// regSpan is an operand as physical registers.
func regSpan(f *mir.Func, a *mir.Arg) RegSpan {
	if a.Kind != mir.ArgValue || f.Regs[a.Value] < 0 {
		return RegSpan{First: NoReg}
	}
	r := Reg(f.Regs[a.Value])
	switch f.Values[a.Value].File {
	case vreg.General:
		return RegSpan{First: r + Reg(a.Word), Count: a.N}
	case vreg.Predicate:
		return RegSpan{First: PredBase + r%predicates, Count: 1}
	case vreg.Uniform:
		return RegSpan{First: UniformBase + (r+Reg(a.Word))%uniformRegisters, Count: a.N}
	case vreg.UniformPredicate:
		return RegSpan{First: PredBase + predicates + r%predicates, Count: 1}
	}
	return RegSpan{First: NoReg}
}

// uniformRegisters is the number of uniform registers of a warp.
const uniformRegisters = 63
