package sroa

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Mirror returns a kernel that also keeps in registers those places of local memory that are only
// loaded and stored as a whole. Each such load reads the place's register besides its address, and
// each such store writes it (ir.Instr.Mirrored). No instruction moves. Without such places it
// returns k itself.
func Mirror(k *ir.Kernel) *ir.Kernel {
	if k.LocalBytes == 0 {
		return k
	}
	p := &mirrorer{k: k, base: make([]localPlace, len(k.Regs)), escaped: make([]bool, len(k.Vars)), of: map[int]localPlace{}}
	p.findBases()
	for pc := range k.Instrs {
		p.visit(pc)
	}
	return p.kernel()
}

// localPlace is a place in a variable in local memory; variable -1 is none.
type localPlace struct {
	variable int32
	offset   uint64
	size     int
	parts    bool // accessed in parts, or in another form than a register's
}

// mirrorer finds the places of local memory that are only accessed as a whole.
type mirrorer struct {
	k       *ir.Kernel
	base    []localPlace // by register: the address that it holds always
	escaped []bool       // by variable: places in it may be accessed in other ways
	of      map[int]localPlace
	astray  bool // there are accesses to addresses of no variable
}

// findBases finds the registers that always hold the same address in local memory.
func (p *mirrorer) findBases() {
	defs := make([]int32, len(p.k.Regs))
	var buf [16]ir.Reg
	for pc := range p.k.Instrs {
		for _, r := range p.k.Instrs[pc].AppendDefs(buf[:0]) {
			defs[r]++
		}
	}
	for r := range p.base {
		p.base[r].variable = -1
	}
	for changed := true; changed; {
		changed = false
		for pc := range p.k.Instrs {
			in := &p.k.Instrs[pc]
			if len(in.Dst) != 1 || in.Dst[0] == ir.NoReg || defs[in.Dst[0]] != 1 || p.base[in.Dst[0]].variable >= 0 {
				continue
			}
			if at := p.computes(in); at.variable >= 0 {
				p.base[in.Dst[0]], changed = at, true
			}
		}
	}
}

// computes returns the address in local memory that an instruction computes.
func (p *mirrorer) computes(in *ir.Instr) localPlace {
	none := localPlace{variable: -1}
	if in.Guard != ir.NoReg || len(in.Src) == 0 || in.Type.IsFloat() || in.Type.Size() != 8 {
		return none
	}
	switch {
	case in.Op == ir.Mov && len(in.Src) == 1:
		return p.address(&in.Src[0])
	case in.Op == ir.Add && in.Src[1].Kind == ir.OperandImm && in.Mod == 0:
		if at := p.address(&in.Src[0]); at.variable >= 0 {
			at.offset += in.Src[1].Imm
			return at
		}
	}
	return none
}

// address returns the address in local memory that an operand is.
func (p *mirrorer) address(o *ir.Operand) localPlace {
	switch {
	case (o.Kind == ir.OperandVar || o.Kind == ir.OperandAddr && o.Reg == ir.NoReg) && o.Var >= 0 && p.k.Vars[o.Var].Space == ir.Local:
		return localPlace{variable: o.Var, offset: o.Imm}
	case o.Kind == ir.OperandReg && o.Reg != ir.NoReg:
		return p.base[o.Reg]
	case o.Kind == ir.OperandAddr && o.Reg != ir.NoReg && o.Var < 0 && p.base[o.Reg].variable >= 0:
		at := p.base[o.Reg]
		at.offset += o.Imm
		return at
	}
	return localPlace{variable: -1}
}

// visit notes the accesses of an instruction, and the addresses that it takes elsewhere.
func (p *mirrorer) visit(pc int) {
	in := &p.k.Instrs[pc]
	access := (in.Op == ir.Ld || in.Op == ir.St) && in.Space == ir.Local
	if access && p.address(&in.Src[0]).variable >= 0 {
		at := p.address(&in.Src[0])
		at.size = in.Type.Size() * max(1, int(in.Vec))
		at.parts = !p.whole(in)
		p.of[pc] = at
	} else if access && in.Src[0].Reg == ir.NoReg && in.Src[0].Var < 0 {
		p.astray = true
	}
	if p.computes(in).variable >= 0 && p.base[in.Dst[0]].variable >= 0 {
		return
	}
	for i := range in.Src {
		if at := p.named(&in.Src[i]); at >= 0 && (i > 0 || p.of[pc].size == 0) {
			p.escaped[at] = true
		}
	}
}

// named returns the variable in local memory that an operand is an address in, -1 for none.
func (p *mirrorer) named(o *ir.Operand) int32 {
	switch o.Kind {
	case ir.OperandVar, ir.OperandAddr:
		if o.Var >= 0 && p.k.Vars[o.Var].Space == ir.Local {
			return o.Var
		}
	}
	if (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg {
		return p.base[o.Reg].variable
	}
	return -1
}

// whole reports whether an access moves a register of its size unchanged.
func (p *mirrorer) whole(in *ir.Instr) bool {
	if size := in.Type.Size(); in.Vec > 1 || size != 4 && size != 8 {
		return false
	}
	r := ir.NoReg
	switch in.Op {
	case ir.Ld:
		if r = in.Dst[0]; r == ir.NoReg {
			return false
		}
	case ir.St:
		if in.Src[1].Kind == ir.OperandImm {
			return true
		}
		if in.Src[1].Kind != ir.OperandReg {
			return false
		}
		r = in.Src[1].Reg
	}
	return p.k.Regs[r].Type.Size() == in.Type.Size()
}

// kernel returns the kernel with a register for each place that has one.
func (p *mirrorer) kernel() *ir.Kernel {
	regs := map[localPlace]ir.Reg{}
	k := *p.k
	for _, at := range p.private() {
		if len(regs) == 0 {
			k.Regs, k.Instrs = slices.Clone(k.Regs), slices.Clone(k.Instrs)
		}
		regs[at] = ir.Reg(len(k.Regs))
		k.Regs = append(k.Regs, ir.RegInfo{Name: fmt.Sprintf("%s+%d", k.Vars[at.variable].Name, at.offset), Type: ir.BitsOf(at.size)})
	}
	if len(regs) == 0 {
		return p.k
	}
	for pc, at := range p.of {
		r, ok := regs[at]
		if !ok {
			continue
		}
		if in := &k.Instrs[pc]; in.Op == ir.Ld {
			in.Src = []ir.Operand{in.Src[0], ir.RegOperand(r)}
		} else {
			in.Dst = []ir.Reg{r}
		}
	}
	return &k
}

// private returns the places that are only accessed as a whole, in the order of their addresses.
func (p *mirrorer) private() (places []localPlace) {
	if p.astray {
		return nil
	}
	seen := map[localPlace]bool{}
	for _, at := range p.of {
		if !seen[at] && !p.escaped[at.variable] {
			seen[at] = true
			places = append(places, at)
		}
	}
	slices.SortFunc(places, func(a, b localPlace) int {
		return cmp.Or(cmp.Compare(a.variable, b.variable), cmp.Compare(a.offset, b.offset), cmp.Compare(a.size, b.size))
	})
	shared, owner := make([]bool, len(places)), map[localPlace]int{} // by byte
	for i, at := range places {
		shared[i] = at.parts
		for b := range at.size {
			one := localPlace{variable: at.variable, offset: at.offset + uint64(b), size: 1}
			if j, taken := owner[one]; taken {
				shared[i], shared[j] = true, true
			} else {
				owner[one] = i
			}
		}
	}
	kept := places[:0]
	for i, at := range places {
		if !shared[i] {
			kept = append(kept, at)
		}
	}
	return kept
}
