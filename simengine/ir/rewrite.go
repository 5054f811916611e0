package ir

import "strconv"

// Rewriter writes a kernel that is another one with some instructions replaced, added
// or left out. The instructions are written in the order of the original; branches keep
// the targets they have there until Finish.
//
//	w := ir.NewRewriter(k, len(k.Instrs))
//	for pc := range k.Instrs {
//		w.Mark(pc)
//		w.Emit(k.Instrs[pc])
//	}
//	copy := w.Finish()
type Rewriter struct {
	From, To *Kernel
	moved    []int        // by instruction of From: where in To what stands for it begins
	settled  map[int]bool // branches of To whose target is one of To already
}

// NewRewriter begins a rewrite of k, with room for so many instructions. To has the
// registers, variables and parameters of k.
func NewRewriter(k *Kernel, instrs int) *Rewriter {
	to := *k
	to.Regs, to.Vars = append([]RegInfo(nil), k.Regs...), append([]Var(nil), k.Vars...)
	to.Instrs, to.Blocks, to.NoUnroll = make([]Instr, 0, instrs), nil, nil
	return &Rewriter{From: k, To: &to, moved: make([]int, len(k.Instrs)+1), settled: map[int]bool{}}
}

// Next is where the next instruction of To will stand.
func (w *Rewriter) Next() int { return len(w.To.Instrs) }

// Mark says that what is emitted next stands for instruction pc of From. Branches to pc
// will lead there.
func (w *Rewriter) Mark(pc int) { w.moved[pc] = w.Next() }

// Emit appends an instruction.
func (w *Rewriter) Emit(in Instr) { w.To.Instrs = append(w.To.Instrs, in) }

// EmitBranch appends a branch whose target is, or will be set to, an instruction of To. It
// returns where the branch stands.
func (w *Rewriter) EmitBranch(in Instr) int {
	at := w.Next()
	w.settled[at] = true
	w.Emit(in)
	return at
}

// NewReg adds a register to To.
func (w *Rewriter) NewReg(name string, t Type) Reg {
	w.To.Regs = append(w.To.Regs, RegInfo{name, t})
	return Reg(len(w.To.Regs) - 1)
}

// LikeReg adds a register of the type of r, a register of From.
func (w *Rewriter) LikeReg(r Reg) Reg {
	info := w.From.Regs[r]
	return w.NewReg(info.Name+"$"+strconv.Itoa(len(w.To.Regs)-len(w.From.Regs)), info.Type)
}

// Finish turns the targets of branches copied from From into places of To and builds the
// control-flow graph. It returns To.
func (w *Rewriter) Finish() *Kernel {
	for pc := range w.To.Instrs {
		in := &w.To.Instrs[pc]
		if in.Op == Bra && !w.settled[pc] {
			in.Target = w.moved[in.Target]
		}
		if in.Op == Brx {
			t := make([]int, len(in.Targets))
			for i, x := range in.Targets {
				t[i] = w.moved[x]
			}
			in.Targets = t
		}
	}
	for _, pc := range w.From.NoUnroll {
		w.To.NoUnroll = append(w.To.NoUnroll, w.moved[pc])
	}
	w.To.BuildCFG()
	return w.To
}
