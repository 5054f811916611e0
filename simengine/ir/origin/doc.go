// Package origin says what values come of: of the thread's index, of a remainder of it, of data in memory; and how far
// apart neighbouring threads have them. It is for explaining what a kernel does, not for executing it: where paths meet,
// what comes of either counts.
package origin

import "github.com/warptune/warptune/simengine/ir"

// Set is what a value comes of. The zero value is what all threads of a CTA have in common.
type Set uint8

// Origins.
const (
	Thread    Set = 1 << iota // the thread's index
	Remainder                 // a remainder of the thread's index
	Data                      // what was loaded from memory that threads do not read alike
)

// Has reports whether s has all of o.
func (s Set) Has(o Set) bool { return s&o == o }

// Value is what is known of a register.
type Value struct {
	Of Set
	// Apart is by how much the next thread along x has a larger value, within a warp, if Known; most of the way for a
	// remainder by 32 or more.
	Apart int64
	Known bool
	set   bool // something defines it
}

// uniform is a value that all threads have in common.
var uniform = Value{Known: true, set: true}

// Values are what is known of the registers of a kernel.
type Values struct {
	regs []Value
}

// rounds bounds the iterations: a value changes no more often than it has origins.
const rounds = 6

// Of finds the origins of a kernel's values.
func Of(k *ir.Kernel) *Values {
	v := &Values{regs: make([]Value, len(k.Regs))}
	for range rounds {
		changed := false
		for i := range k.Instrs {
			in := &k.Instrs[i]
			if len(in.Dst) == 0 {
				continue
			}
			n := v.result(in)
			for _, r := range in.Dst {
				if r != ir.NoReg {
					changed = v.join(r, n) || changed
				}
			}
		}
		if !changed {
			break
		}
	}
	return v
}

// join adds a definition of a register.
func (v *Values) join(r ir.Reg, n Value) (changed bool) {
	old := v.regs[r]
	switch {
	case !n.set:
		return false
	case old.set:
		n.Of |= old.Of
		n.Known = n.Known && old.Known && n.Apart == old.Apart
	}
	if !n.Known {
		n.Apart = 0
	}
	v.regs[r] = n
	return n != old
}

// Reg is what is known of a register.
func (v *Values) Reg(r ir.Reg) Value {
	if r == ir.NoReg {
		return uniform
	}
	return v.regs[r]
}

// Operand is what is known of an operand; of an address, of its register.
func (v *Values) Operand(o *ir.Operand) Value {
	switch o.Kind {
	case ir.OperandReg, ir.OperandAddr:
		return v.Reg(o.Reg)
	case ir.OperandSpecial:
		switch o.Special {
		case ir.TidX, ir.LaneID:
			return Value{Of: Thread, Apart: 1, Known: true, set: true}
		case ir.TidY, ir.TidZ, ir.WarpID:
			return Value{Of: Thread, Known: true, set: true}
		}
	}
	return uniform
}
