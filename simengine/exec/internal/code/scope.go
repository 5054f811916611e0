package code

import (
	"sync"

	"github.com/warptune/warptune/simengine/ir"
)

// Scope is which accesses of a slice a run leaves out. What is computed for their addresses alone is left out with
// them.
type Scope uint8

// The scopes. Device leaves out accesses to shared memory whose data is not needed, Path all accesses whose data is not
// needed.
const (
	Whole Scope = iota
	Device
	Path
	numScopes
)

// worth is one in how many instructions a scope must leave out to have code of its own: copying costs, too.
const worth = 8

// scoped is the code of a scope, made when it is first needed.
type scoped struct {
	once   sync.Once
	code   []Instr
	blocks []Block
}

// In returns the code of a scope and its blocks, which are those of the program over no more instructions.
func (p *Program) In(s Scope) ([]Instr, []Block) {
	if s == Whole || p.Mode != Slice {
		return p.Code, p.Blocks
	}
	n := &p.scopes[s]
	n.once.Do(func() { n.code, n.blocks = p.narrow(s) })
	return n.code, n.blocks
}

// LeftOut reports whether a scope leaves an access out.
func (a *Access) LeftOut(s Scope) bool {
	return !a.Data && (s == Path || s == Device && a.Space == ir.Shared && a.Op != ir.CpAsync)
}

// narrow returns what of the code matters to a scope.
func (p *Program) narrow(s Scope) ([]Instr, []Block) {
	kept, n := p.keptIn(s)
	if worth*n > (worth-1)*len(p.Code) {
		return p.Code, p.Blocks
	}
	code, blocks := make([]Instr, 0, n), append([]Block(nil), p.Blocks...)
	for b := range blocks {
		start := int32(len(code))
		for i := blocks[b].Start; i < blocks[b].End; i++ {
			if kept[i] {
				code = append(code, p.Code[i])
			}
		}
		blocks[b].Start, blocks[b].End = start, int32(len(code))
	}
	return code, blocks
}

// keptIn marks the instructions of the code that a scope does not leave out, and counts them. Those that only compute
// are kept if one that is kept reads a result, or if it decides which iterations are left out. Of a register every write
// is then kept, as in package slice.
func (p *Program) keptIn(s Scope) (kept []bool, n int) {
	c := &compiler{k: p.Executed, p: p, needed: p.Needed}
	wanted := ir.NewBitSet(len(c.k.Regs))
	want := func(r ir.Reg) { wanted.Add(r) }
	kept = make([]bool, len(p.Code))
	keep := func(i int) {
		kept[i] = true
		n++
		c.reads(int(p.Code[i].PC), want)
	}
	for i := range p.Code {
		if in := &p.Code[i]; !in.computes() && !(in.Kind == KindMemory && in.X.Access.LeftOut(s)) {
			keep(i)
		}
	}
	for b := range c.k.Blocks {
		if end := c.k.Blocks[b].End - 1; end >= c.k.Blocks[b].Start && isTerminator(c.k.Instrs[end].Op) {
			c.reads(end, want)
		}
	}
	for i := range p.Loops {
		for _, r := range p.Loops[i].Tested() {
			want(r)
		}
	}
	// Most registers are read after they are written: few rounds find all.
	for before := -1; before != n; {
		before = n
		for i := len(p.Code) - 1; i >= 0; i-- {
			if in := &p.Code[i]; !kept[i] && in.computes() && c.writesAny(int(in.PC), wanted) {
				keep(i)
			}
		}
	}
	return kept, n
}

// PathAxes reports of each axis of the grid whether the blocks that a CTA executes may depend on where along it the CTA is.
func (p *Program) PathAxes() (axes [3]bool) {
	kept, _ := p.keptIn(Path)
	for i := range p.Code {
		if !kept[i] {
			continue
		}
		in := &p.Executed.Instrs[p.Code[i].PC]
		if in.Op == ir.GetCTARank {
			return [3]bool{true, true, true}
		}
		for k := range in.Src {
			s := in.Src[k].Special
			switch {
			case in.Src[k].Kind != ir.OperandSpecial || !namesCTA(s):
			case s == ir.CTAIdX:
				axes[0] = true
			case s == ir.CTAIdY:
				axes[1] = true
			case s == ir.CTAIdZ:
				axes[2] = true
			default:
				return [3]bool{true, true, true}
			}
		}
	}
	return axes
}

// writesAny reports whether an instruction writes a register of a set.
func (c *compiler) writesAny(pc int, set ir.BitSet) bool {
	for _, r := range c.k.Instrs[pc].Dst {
		if r != ir.NoReg && set.Has(r) {
			return true
		}
	}
	return false
}

// computes reports whether an instruction does nothing but write registers, and cannot fail.
func (in *Instr) computes() bool {
	switch in.Kind {
	case KindMemory:
		return false
	case KindCall:
		return in.X.Call == CallShuffle && in.shufflesWords()
	}
	return true
}

// shufflesWords reports whether a shuffle is of 32-bit registers.
func (in *Instr) shufflesWords() bool {
	for _, s := range in.X.Src {
		if s.File != File32 {
			return false
		}
	}
	return true
}
