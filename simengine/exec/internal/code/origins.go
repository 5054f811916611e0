package code

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// Stretch is the bytes from lo to before hi.
type Stretch struct{ Lo, Hi uint64 }

// The origins of an access are a bit set: parameters from bit 0 on, then variables in .global
// memory. MostOrigins is how many are distinguished.
const MostOrigins = 64

// origins returns the origins of an access; 0 means any buffer. For constant memory it sets the
// bytes of the bank that the access may read.
func (c *compiler) origins(a *Access, address *ir.Operand) uint64 {
	var all uint64
	from := c.pointers.Origins(address)
	for _, p := range from.Params {
		if c.k.Params[p].Size == 8 {
			all |= c.origin(p)
		}
	}
	for _, v := range from.Vars {
		switch at := &c.k.Vars[v]; at.Space {
		case ir.Global:
			all |= c.origin(len(c.k.Params) + v)
		case ir.Const:
			if at.Size == 0 {
				return 0
			}
			part := Stretch{uint64(at.Offset), uint64(at.Offset + at.Size)}
			if a.Bank.Hi > 0 {
				part.Lo, part.Hi = min(part.Lo, a.Bank.Lo), max(part.Hi, a.Bank.Hi)
			}
			a.Bank = part
		}
	}
	if len(from.Params)+len(from.Vars) > bits.OnesCount64(all) {
		return 0 // what is no buffer may hold pointers
	}
	return all
}

func (c *compiler) origin(i int) uint64 {
	if i >= MostOrigins {
		return 0
	}
	return 1 << i
}

// Holds reports whether an access of so many bytes lies in the stretch.
func (s Stretch) Holds(addr, width uint64) bool {
	return addr >= s.Lo && addr < s.Hi && width <= s.Hi-addr
}
