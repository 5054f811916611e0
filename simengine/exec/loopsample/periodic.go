package loopsample

import (
	"cmp"

	"github.com/warptune/warptune/simengine/ir"
)

// Loops of pipelined kernels carry the number of a stage and the parity of its phase. These are no
// linear inductions. They are periodic: what they become depends on themselves and on loop
// invariants alone. Whether a register is follows from what it can depend on, by data and by control
// flow.

// class is what the value of a register in an iteration depends on.
type class uint8

const (
	// steady values depend on loop invariants and periodic registers.
	steady class = iota
	// stepwise values depend on comparisons of an induction with a loop invariant besides. They are
	// steady as long as the results of these are the same.
	stepwise
	// variant values depend on inductions, or on data.
	variant
)

// periodic is the analysis of the registers of one loop.
type periodic struct {
	*analysis
	class    []class      // by register
	tests    map[int]Test // comparisons, by instruction
	relevant map[int]bool // those that guards and periodic registers depend on
	of       map[ir.Reg]bool
}

// runPeriodic decides whether a loop can be sampled whose other carried registers may be periodic.
func (a *analysis) runPeriodic() string {
	a.reset()
	a.relaxed = true
	defer func() { a.relaxed = false }()
	a.collect()
	if o := a.findExit(); o != "" {
		return o
	}
	var others []ir.Reg
	for _, r := range a.carried() {
		if a.inducts(r) {
			a.l.Inductions = append(a.l.Inductions, r)
		} else {
			others = append(others, r)
		}
	}
	if o := a.findTest(); o != "" {
		return o
	}
	a.l.Counted, a.l.Periodic, a.l.Cyclic = true, true, others
	p := periodic{analysis: a, class: make([]class, len(a.k.Regs)), tests: map[int]Test{}, relevant: map[int]bool{}, of: map[ir.Reg]bool{}}
	p.classify()
	return cmp.Or(p.checkCarried(), p.checkControl(), p.findGuards())
}

// classify finds the classes of registers: the least that hold together.
func (p *periodic) classify() {
	for _, r := range p.l.Inductions {
		p.class[r] = variant
	}
	for changed := true; changed; {
		changed = false
		p.eachInstr(func(pc int, in *ir.Instr) string {
			if !p.needed[pc] || len(in.Dst) == 0 {
				return ""
			}
			c := p.result(pc, in)
			for _, r := range in.Dst {
				if r != ir.NoReg && c > p.class[r] {
					p.class[r] = c
					changed = true
				}
			}
			return ""
		})
	}
}

// result is the class of what an instruction computes.
func (p *periodic) result(pc int, in *ir.Instr) class {
	switch {
	case in.Op == ir.MbarWait:
		return steady
	case in.Op == ir.MbarArrive, varies(in):
		return variant
	}
	c := p.reads(in)
	if c == variant && in.Op == ir.Setp && in.Guard == ir.NoReg && p.isTest(pc) {
		return stepwise
	}
	return c
}

// reads is the class of what an instruction reads.
func (p *periodic) reads(in *ir.Instr) class {
	c := steady
	var buf [8]ir.Reg
	for _, r := range in.AppendUses(buf[:0]) {
		if _, known := p.waits.known[r]; !known {
			c = max(c, p.class[r])
		}
	}
	return c
}

// isTest reports whether a comparison is one of an induction with a loop invariant.
func (p *periodic) isTest(pc int) bool {
	if _, ok := p.tests[pc]; ok {
		return true
	}
	var t Test
	if p.comparison(&t, pc) != "" {
		return false
	}
	p.tests[pc] = t
	return true
}

// checkCarried looks for carried registers that are neither inductions nor periodic.
func (p *periodic) checkCarried() string {
	for _, r := range p.l.Cyclic {
		if p.class[r] == variant {
			return "register " + p.k.Regs[r].Name + " is carried round the loop and is neither a linear induction nor periodic"
		}
		p.depends(r)
	}
	return ""
}

// checkControl looks for control flow, guards and writes that may differ from one iteration to the
// next.
func (p *periodic) checkControl() string {
	exit := p.k.Blocks[p.l.Exit.block].End - 1
	return p.eachInstr(func(pc int, in *ir.Instr) string {
		if pc == exit {
			return ""
		}
		text := func() string { return "`" + p.k.Text(pc) + "`" }
		if p.needed[pc] && in.Op.WritesMemory() && !in.Mirrored() {
			return text() + " writes what addresses may depend on"
		}
		if !in.Op.AlwaysExecutes() {
			return ""
		}
		if _, decided := p.waits.decided(p.k.BlockOf(pc)); decided && in.Op == ir.Bra {
			return ""
		}
		if in.Guard != ir.NoReg && (in.Op != ir.Bra || p.needed[pc]) {
			if p.class[in.Guard] == variant {
				return "the guard of " + text() + " may differ between iterations"
			}
			p.depends(in.Guard)
		}
		switch in.Op {
		case ir.CpAsync:
			p.sizes(in)
		case ir.Bar, ir.BarRed:
			if p.reads(in) == variant {
				return text() + " may differ between iterations"
			}
		case ir.MbarInit, ir.MbarInval:
			return text() + " is in it"
		}
		if onMbarrier(in) {
			p.l.Drifts = p.l.Drifts || p.drifts(in)
			p.l.States = p.l.States || in.Op == ir.MbarArrive && len(in.Dst) > 0 && in.Dst[0] != ir.NoReg
		}
		return ""
	})
}

// sizes notes what the bytes to read of a cp.async depend on: it reads none in a pipeline's last
// iterations.
func (p *periodic) sizes(in *ir.Instr) {
	for i := range in.Src {
		if o := &in.Src[i]; i >= 3 && o.Kind == ir.OperandReg && p.class[o.Reg] != variant {
			p.depends(o.Reg)
		}
	}
}

// copiesFewer reports whether a cp.async of the loop reads as many bytes as the loop computes: none in a pipeline's last
// iterations, which are not to be left out.
func (a *analysis) copiesFewer() bool {
	return a.eachInstr(func(_ int, in *ir.Instr) string {
		if in.Op != ir.CpAsync {
			return ""
		}
		for i := range in.Src {
			if o := &in.Src[i]; i >= 3 && o.Kind == ir.OperandReg && len(a.defs[o.Reg]) > 0 {
				return "it reads fewer bytes"
			}
		}
		return ""
	}) != ""
}

// drifts reports whether the mbarrier of an instruction, or the parity, may depend on an induction.
func (p *periodic) drifts(in *ir.Instr) bool {
	if in.Op != ir.BulkCopy {
		return p.reads(in) == variant
	}
	r := in.Mbarrier().Reg
	return r != ir.NoReg && p.class[r] == variant
}

// hasMbarriers reports whether the loop changes mbarriers or waits for them.
func (a *analysis) hasMbarriers() bool {
	return a.eachInstr(func(_ int, in *ir.Instr) string {
		if onMbarrier(in) {
			return in.Op.String()
		}
		return ""
	}) != ""
}

// onMbarrier reports whether an instruction changes an mbarrier or waits for it.
func onMbarrier(in *ir.Instr) bool {
	switch in.Op {
	case ir.MbarArrive, ir.MbarExpect, ir.MbarWait, ir.CpAsyncArrive:
		return true
	}
	return in.Mbarrier() != nil
}

// depends notes the comparisons that a register depends on.
func (p *periodic) depends(r ir.Reg) {
	for work := []ir.Reg{r}; len(work) > 0; {
		r, work = work[len(work)-1], work[:len(work)-1]
		if p.of[r] {
			continue
		}
		p.of[r] = true
		for _, pc := range p.defs[r] {
			if _, test := p.tests[pc]; test && p.reads(&p.k.Instrs[pc]) == variant {
				p.relevant[pc] = true
				continue
			}
			work = p.k.Instrs[pc].AppendUses(work)
		}
	}
}

// findGuards lists the comparisons whose results must stay the same.
func (p *periodic) findGuards() string {
	return p.eachInstr(func(pc int, _ *ir.Instr) string {
		if p.relevant[pc] {
			p.l.Guards = append(p.l.Guards, p.tests[pc])
		}
		return ""
	})
}
