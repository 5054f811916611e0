package code

import (
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// fileOf is the register file of a register's type.
func fileOf(t ir.Type) File {
	switch {
	case t == ir.Pred:
		return FilePred
	case t == ir.B128:
		return FileNone
	case t.Size() == 8:
		return File64
	case t.Size() > 0:
		return File32
	}
	return FileNone
}

// dest is the slot of a destination; noSlot for "_".
func (c *compiler) dest(pc int, r ir.Reg) (Slot, error) {
	if r == ir.NoReg {
		return noSlot, nil
	}
	s := c.Slots[r]
	if s.File == FileNone {
		return noSlot, c.unsupported(pc, "128-bit register "+c.k.Regs[r].Name)
	}
	return s, nil
}

// source is the slot that holds a source operand: a register's, or one of a
// constant or special register that is set up before the CTA runs. Constants
// are placed in the file of type t.
func (c *compiler) source(pc int, o *ir.Operand, t ir.Type) (Slot, error) {
	switch o.Kind {
	case ir.OperandReg:
		return c.dest(pc, o.Reg)
	case ir.OperandImm:
		return c.constant(o.Imm, t), nil
	case ir.OperandVar:
		base, err := c.varAddress(pc, o.Var)
		if err != nil {
			return noSlot, err
		}
		return c.constant(base+o.Imm, t), nil
	case ir.OperandSpecial:
		return c.specialRegister(pc, o.Special)
	}
	return noSlot, c.unsupported(pc, "operand")
}

// constant is the slot of a constant broadcast to all lanes.
func (c *compiler) constant(v uint64, t ir.Type) Slot {
	switch fileOf(t) {
	case File64:
		i, ok := c.shared64[v]
		if !ok {
			i = c.p.N64
			c.p.N64++
			c.shared64[v] = i
		}
		return Slot{File64, i}
	case FilePred:
		// Predicates are masks: a constant true or false is kept as a 32-bit
		// constant and read by the predicate handlers.
		return Slot{File32, c.constant(v&1, ir.B32).Index}
	}
	i, ok := c.shared32[uint32(v)]
	if !ok {
		i = c.p.N32
		c.p.N32++
		c.shared32[uint32(v)] = i
	}
	return Slot{File32, i}
}

// varAddress is the address of a variable in its own space.
func (c *compiler) varAddress(pc int, index int32) (uint64, error) {
	if index < 0 || int(index) >= len(c.k.Vars) {
		return 0, c.unsupported(pc, "unknown variable")
	}
	v := &c.k.Vars[index]
	switch v.Space {
	case ir.Global:
		return memory.StaticBase + uint64(v.Offset), nil
	case ir.Shared:
		if int(index) == c.k.DynamicShared {
			return uint64(c.p.DynamicShared), nil
		}
		return uint64(v.Offset), nil
	case ir.Local, ir.Const:
		return uint64(v.Offset), nil
	}
	return 0, c.unsupported(pc, "address of "+v.Name)
}

func (c *compiler) specialRegister(pc int, reg ir.Special) (Slot, error) {
	if s, ok := c.special[reg]; ok {
		return s, nil
	}
	s := Slot{File: File32, Index: c.p.N32}
	switch reg {
	case ir.SpecialNone:
		return noSlot, c.unsupported(pc, "special register")
	case ir.Clock64, ir.GlobalTimer, ir.GridID:
		s = Slot{File: File64, Index: c.p.N64}
		c.p.N64++
	default:
		c.p.N32++
	}
	c.special[reg] = s
	return s, nil
}
