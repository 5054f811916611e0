package code

import (
	"encoding/binary"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// Access is the static part of a memory instruction.
type Access struct {
	Op     ir.Op
	Space  ir.Space
	Base   Slot   // noSlot when the address is a constant
	Offset uint64 // added to the base
	Elem   int    // bytes of one element
	Vec    int
	Width  int  // bytes of one lane's access
	signed bool // loads of less than 32 bits extend the sign
	Data   bool // moves data; Slice mode often needs the addresses only
	Index  int  // in Runner.regions
	Family int  // in Runner.families; 0: none
	Read   bool
	Write  bool
	Bank   Stretch // of the constant bank, which it may read
	Lanes  uint32  // that give an address: of an ldmatrix 8 for each matrix, else all
	Matrix bool    // ldmatrix

	Second *Access // CpAsync: the global side
	Size   Slot    // CpAsync: source bytes actually read, noSlot for all
}

// emitMemory compiles a load, store, atomic or asynchronous copy.
func (c *compiler) emitMemory(pc int, in *ir.Instr, i *Instr) (bool, error) {
	a := &Access{Op: in.Op, Space: in.Space, Vec: max(1, int(in.Vec)), Elem: in.Type.Size(), signed: in.Type.IsSigned(), Data: c.needed[pc] && !in.Mirrored(), Size: noSlot}
	a.Width, a.Lanes = a.Elem*a.Vec, ^uint32(0)
	if in.Mod&ir.ModMatrix != 0 {
		a.Width, a.Lanes, a.Matrix = MatrixRow, ^uint32(0)>>(32-8*a.Vec), true
	}
	a.Read = in.Op == ir.Ld || in.Op == ir.Ldu || in.Op == ir.Atom || in.Op == ir.Red
	a.Write = in.Op == ir.St || in.Op == ir.Atom || in.Op == ir.Red || in.Op == ir.CpAsync
	i.Kind, i.X = KindMemory, &Extra{Access: a}
	if in.Op == ir.CpAsync {
		return true, c.emitAsync(pc, in, i)
	}
	if err := c.address(pc, a, &in.Src[0]); err != nil {
		return false, err
	}
	if a.Elem == 0 || a.Elem > 8 || a.Width > 32 {
		return false, c.unsupported(pc, "access of this type")
	}
	if in.Op == ir.Atom || in.Op == ir.Red {
		if i.X.Atom = alu.SelectAtomic(in); i.X.Atom == nil {
			return false, c.unsupported(pc, "atomic operation on this type")
		}
	}
	if a.Space == ir.Shared || a.Space == ir.Generic {
		c.p.Granule = min(c.p.Granule, max(1, a.Elem))
	}
	c.register(a, &in.Src[0])
	if a.Space == ir.Global || a.Space == ir.Generic {
		c.p.GlobalGranule = min(c.p.GlobalGranule, max(1, a.Elem))
		if a.Write {
			c.p.Writers = append(c.p.Writers, a.Index)
		}
	}
	if a.Write && a.Data && a.Space != ir.Shared && a.Space != ir.Local {
		c.p.Rewritable = false
	}
	if !a.Data {
		return true, nil
	}
	return true, c.dataOperands(pc, in, i)
}

// register gives an access to an address its place in the runner's caches.
func (c *compiler) register(a *Access, address *ir.Operand) {
	a.Index = c.p.Accesses
	c.p.Accesses++
	c.p.Origins = append(c.p.Origins, c.origins(a, address))
}

// address resolves an address operand into a base register and an offset.
func (c *compiler) address(pc int, a *Access, o *ir.Operand) error {
	a.Base, a.Offset = noSlot, o.Imm
	if o.Kind != ir.OperandAddr {
		return c.unsupported(pc, "address operand")
	}
	if o.Reg != ir.NoReg {
		s, err := c.dest(pc, o.Reg)
		if err != nil {
			return err
		}
		if s.File != File32 && s.File != File64 {
			return c.unsupported(pc, "predicate as address")
		}
		a.Base = s
	}
	if o.Var >= 0 {
		base, err := c.varAddress(pc, o.Var)
		if err != nil {
			return err
		}
		if w, _ := WindowBase(c.k.Vars[o.Var].Space); a.Space == ir.Generic {
			base += w
		}
		a.Offset += base
	}
	if o.Param >= 0 {
		if int(o.Param) >= len(c.k.Params) {
			return c.unsupported(pc, "unknown parameter")
		}
		a.Offset += uint64(c.k.Params[o.Param].Offset)
	}
	return nil
}

// dataOperands resolves what a load writes and what a store or atomic reads.
func (c *compiler) dataOperands(pc int, in *ir.Instr, i *Instr) error {
	for n := 1; n < len(in.Src); n++ {
		s, err := c.source(pc, &in.Src[n], in.Type)
		if err != nil {
			return err
		}
		i.X.Src = append(i.X.Src, s)
	}
	for _, r := range in.Dst {
		d, err := c.dest(pc, r)
		if err != nil {
			return err
		}
		i.X.Dst = append(i.X.Dst, d)
	}
	a := i.X.Access
	switch {
	case in.Op == ir.St && len(i.X.Src) < a.Vec, (in.Op == ir.Ld || in.Op == ir.Ldu) && len(i.X.Dst) != a.Vec:
		return c.unsupported(pc, "number of operands")
	case (in.Op == ir.Atom || in.Op == ir.Red) && (len(i.X.Src) < a.Vec || len(i.X.Dst)%a.Vec != 0):
		return c.unsupported(pc, "number of operands")
	}
	for _, s := range append(append([]Slot(nil), i.X.Src...), i.X.Dst...) {
		if s.File == FilePred {
			return c.unsupported(pc, "predicate in memory")
		}
	}
	return nil
}

// emitAsync compiles cp.async: a global read and a shared write of as many bytes.
func (c *compiler) emitAsync(pc int, in *ir.Instr, i *Instr) error {
	a := i.X.Access
	if len(in.Src) < 3 || in.Src[2].Kind != ir.OperandImm {
		return c.unsupported(pc, "cp.async operands")
	}
	n := int(in.Src[2].Imm)
	if n != 4 && n != 8 && n != 16 {
		return c.unsupported(pc, "cp.async of this size")
	}
	g := &Access{Op: ir.CpAsync, Lanes: ^uint32(0), Space: ir.Global, Elem: min(n, 8), Vec: max(1, n/8), Width: n, Read: true, Size: noSlot}
	a.Space, a.Elem, a.Vec, a.Width, a.Second = ir.Shared, g.Elem, g.Vec, n, g
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
		if s.File != File32 && s.File != FilePred {
			return c.unsupported(pc, "cp.async source size")
		}
		g.Size = s
	}
	c.register(a, &in.Src[0])
	c.register(g, &in.Src[1])
	if c.p.CopyGranule == 0 || n < c.p.CopyGranule {
		c.p.CopyGranule = n
	}
	return nil
}

// Element is element v of a lane's bytes, extended to 64 bits.
func (a *Access) Element(p []byte, v int) uint64 {
	switch a.Elem {
	case 4:
		x := binary.LittleEndian.Uint32(p[4*v:])
		if a.signed {
			return uint64(int64(int32(x)))
		}
		return uint64(x)
	case 8:
		return binary.LittleEndian.Uint64(p[8*v:])
	case 2:
		x := binary.LittleEndian.Uint16(p[2*v:])
		if a.signed {
			return uint64(int64(int16(x)))
		}
		return uint64(x)
	}
	if a.signed {
		return uint64(int64(int8(p[v])))
	}
	return uint64(p[v])
}

// PutElement stores v as element n of a lane's bytes.
func (a *Access) PutElement(p []byte, n int, v uint64) {
	switch a.Elem {
	case 4:
		binary.LittleEndian.PutUint32(p[4*n:], uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(p[8*n:], v)
	case 2:
		binary.LittleEndian.PutUint16(p[2*n:], uint16(v))
	default:
		p[n] = byte(v)
	}
}

// WindowBase is the base of a state space's window in generic addresses.
func WindowBase(s ir.Space) (uint64, bool) {
	switch s {
	case ir.Global:
		return 0, true
	case ir.Shared, ir.SharedCluster:
		return memory.SharedWindow, true
	case ir.Local:
		return memory.LocalWindow, true
	case ir.Const:
		return memory.ConstWindow, true
	case ir.ParamSpace:
		return memory.ParamWindow, true
	}
	return 0, false
}

func (a *Access) canFollow() bool {
	return a.Op == ir.Ld && a.Space == ir.Shared && !a.Data && a.Base != noSlot
}

// MatrixRow is the bytes of a row that ldmatrix loads.
const MatrixRow = 16
