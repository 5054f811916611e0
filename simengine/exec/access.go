package exec

import (
	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/ir"
)

// access is the static part of a memory instruction.
type access struct {
	op     ir.Op
	space  ir.Space
	base   slot   // noSlot when the address is a constant
	offset uint64 // added to the base
	elem   int    // bytes of one element
	vec    int
	width  int  // bytes of one lane's access
	signed bool // loads of less than 32 bits extend the sign
	data   bool // moves data; Slice mode often needs the addresses only
	index  int  // in Runner.regions
	family int  // in Runner.families; 0: none
	read   bool
	write  bool
	bank   stretch // of the constant bank, which it may read
	lanes  uint32  // that give an address: of an ldmatrix 8 for each matrix, else all
	matrix bool    // ldmatrix

	second *access // CpAsync: the global side
	size   slot    // CpAsync: source bytes actually read, noSlot for all
}

// emitMemory compiles a load, store, atomic or asynchronous copy.
func (c *compiler) emitMemory(pc int, in *ir.Instr, i *instr) (bool, error) {
	a := &access{op: in.Op, space: in.Space, vec: max(1, int(in.Vec)), elem: in.Type.Size(), signed: in.Type.IsSigned(), data: c.needed[pc] && !in.Mirrored(), size: noSlot}
	a.width, a.lanes = a.elem*a.vec, ^uint32(0)
	if in.Mod&ir.ModMatrix != 0 {
		a.width, a.lanes, a.matrix = matrixRow, ^uint32(0)>>(32-8*a.vec), true
	}
	a.read = in.Op == ir.Ld || in.Op == ir.Ldu || in.Op == ir.Atom || in.Op == ir.Red
	a.write = in.Op == ir.St || in.Op == ir.Atom || in.Op == ir.Red || in.Op == ir.CpAsync
	i.kind, i.x = kindMemory, &extra{access: a}
	if in.Op == ir.CpAsync {
		return true, c.emitAsync(pc, in, i)
	}
	if err := c.address(pc, a, &in.Src[0]); err != nil {
		return false, err
	}
	if a.elem == 0 || a.elem > 8 || a.width > 32 {
		return false, c.unsupported(pc, "access of this type")
	}
	if in.Op == ir.Atom || in.Op == ir.Red {
		if i.x.atom = alu.SelectAtomic(in); i.x.atom == nil {
			return false, c.unsupported(pc, "atomic operation on this type")
		}
	}
	if a.space == ir.Shared || a.space == ir.Generic {
		c.p.granule = min(c.p.granule, max(1, a.elem))
	}
	c.register(a, &in.Src[0])
	if a.space == ir.Global || a.space == ir.Generic {
		c.p.globalGranule = min(c.p.globalGranule, max(1, a.elem))
		if a.write {
			c.p.writers = append(c.p.writers, a.index)
		}
	}
	if a.write && a.data && a.space != ir.Shared && a.space != ir.Local {
		c.p.rewritable = false
	}
	if !a.data {
		return true, nil
	}
	return true, c.dataOperands(pc, in, i)
}

// register gives an access to an address its place in the runner's caches.
func (c *compiler) register(a *access, address *ir.Operand) {
	a.index = c.p.accesses
	c.p.accesses++
	c.p.origins = append(c.p.origins, c.origins(a, address))
}

// address resolves an address operand into a base register and an offset.
func (c *compiler) address(pc int, a *access, o *ir.Operand) error {
	a.base, a.offset = noSlot, o.Imm
	if o.Kind != ir.OperandAddr {
		return c.unsupported(pc, "address operand")
	}
	if o.Reg != ir.NoReg {
		s, err := c.dest(pc, o.Reg)
		if err != nil {
			return err
		}
		if s.file != file32 && s.file != file64 {
			return c.unsupported(pc, "predicate as address")
		}
		a.base = s
	}
	if o.Var >= 0 {
		base, err := c.varAddress(pc, o.Var)
		if err != nil {
			return err
		}
		if w, _ := windowBase(c.k.Vars[o.Var].Space); a.space == ir.Generic {
			base += w
		}
		a.offset += base
	}
	if o.Param >= 0 {
		if int(o.Param) >= len(c.k.Params) {
			return c.unsupported(pc, "unknown parameter")
		}
		a.offset += uint64(c.k.Params[o.Param].Offset)
	}
	return nil
}

// dataOperands resolves what a load writes and what a store or atomic reads.
func (c *compiler) dataOperands(pc int, in *ir.Instr, i *instr) error {
	for n := 1; n < len(in.Src); n++ {
		s, err := c.source(pc, &in.Src[n], in.Type)
		if err != nil {
			return err
		}
		i.x.src = append(i.x.src, s)
	}
	for _, r := range in.Dst {
		d, err := c.dest(pc, r)
		if err != nil {
			return err
		}
		i.x.dst = append(i.x.dst, d)
	}
	a := i.x.access
	switch {
	case in.Op == ir.St && len(i.x.src) < a.vec, (in.Op == ir.Ld || in.Op == ir.Ldu) && len(i.x.dst) != a.vec:
		return c.unsupported(pc, "number of operands")
	case (in.Op == ir.Atom || in.Op == ir.Red) && (len(i.x.src) < a.vec || len(i.x.dst)%a.vec != 0):
		return c.unsupported(pc, "number of operands")
	}
	for _, s := range append(append([]slot(nil), i.x.src...), i.x.dst...) {
		if s.file == filePred {
			return c.unsupported(pc, "predicate in memory")
		}
	}
	return nil
}

// emitAsync compiles cp.async: a global read and a shared write of as many bytes.
func (c *compiler) emitAsync(pc int, in *ir.Instr, i *instr) error {
	a := i.x.access
	if len(in.Src) < 3 || in.Src[2].Kind != ir.OperandImm {
		return c.unsupported(pc, "cp.async operands")
	}
	n := int(in.Src[2].Imm)
	if n != 4 && n != 8 && n != 16 {
		return c.unsupported(pc, "cp.async of this size")
	}
	g := &access{op: ir.CpAsync, lanes: ^uint32(0), space: ir.Global, elem: min(n, 8), vec: max(1, n/8), width: n, read: true, size: noSlot}
	a.space, a.elem, a.vec, a.width, a.second = ir.Shared, g.elem, g.vec, n, g
	if err := c.address(pc, a, &in.Src[0]); err != nil {
		return err
	}
	if err := c.address(pc, g, &in.Src[1]); err != nil {
		return err
	}
	if len(in.Src) > 3 {
		s, err := c.source(pc, &in.Src[3], ir.U32)
		if err != nil {
			return err
		}
		if s.file != file32 && s.file != filePred {
			return c.unsupported(pc, "cp.async source size")
		}
		g.size = s
	}
	c.register(a, &in.Src[0])
	c.register(g, &in.Src[1])
	return nil
}
