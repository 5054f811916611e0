package code

import "github.com/warptune/warptune/simengine/ir"

// TextureOp is the static part of an instruction on a texture or surface.
type TextureOp struct {
	Op      ir.Op
	Texture *ir.Texture
	Float   bool // coordinates are floating-point numbers
	Data    bool // its result, or what it stores, is needed
	Elem    int  // bytes of an element that a surface access moves
	Width   int  // bytes of all
	Handle  Slot
	Layer   Slot
	Coords  []Slot
}

// emitTexture compiles a fetch, a query, or an access to a surface.
func (c *compiler) emitTexture(pc int, in *ir.Instr, i *Instr) (bool, error) {
	t := in.Texture
	o := &TextureOp{Op: in.Op, Texture: t, Float: in.SrcType == ir.F32, Data: c.needed[pc], Elem: in.Type.Size(), Width: in.Type.Size() * int(max(in.Vec, 1)), Layer: noSlot}
	i.Kind, i.X = KindCall, &Extra{Call: CallTexture, Texture: o}
	n := 0
	operand := func(t ir.Type) (s Slot, err error) {
		if n >= len(in.Src) {
			return noSlot, c.unsupported(pc, "operands")
		}
		s, err = c.source(pc, &in.Src[n], t)
		n++
		return s, err
	}
	var err error
	if o.Handle, err = operand(ir.B64); err != nil {
		return false, err
	}
	if in.Op != ir.Txq {
		if t.Layered {
			if o.Layer, err = operand(ir.B32); err != nil {
				return false, err
			}
		}
		for range t.Dims {
			s, err := operand(ir.B32)
			if err != nil {
				return false, err
			}
			o.Coords = append(o.Coords, s)
		}
	}
	if in.Op == ir.Sust {
		a := &Access{Op: ir.St, Space: ir.Global, Write: true, Lanes: ^uint32(0), Size: noSlot}
		c.register(a, &in.Src[0])
		c.p.Writers = append(c.p.Writers, a.Index)
	}
	if !o.Data {
		return in.Op != ir.Txq, nil
	}
	if in.Op == ir.Sust {
		c.p.Rewritable = false
		for n < len(in.Src) {
			s, err := operand(in.Type)
			if err != nil {
				return false, err
			}
			i.X.Src = append(i.X.Src, s)
		}
	}
	for _, r := range in.Dst {
		d, err := c.dest(pc, r)
		if err != nil {
			return false, err
		}
		i.X.Dst = append(i.X.Dst, d)
	}
	return true, nil
}
