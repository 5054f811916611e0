package code

import (
	"github.com/warptune/warptune/simengine/ir"
)

// families numbers the families of a block while it is compiled. A family is the loads of one width
// that add constants to one register.
type families struct {
	open  map[familyKey]int
	count int
}

type familyKey struct {
	base  Slot
	width int
}

// join puts a compiled instruction into a family: a load from shared memory whose data is not
// needed, and whose base register has not been written since the others of the family.
func (c *compiler) join(pc int, in *Instr) {
	if in.Kind == KindMemory && !c.p.SharedSpins && in.X.Access.canFollow() {
		a := in.X.Access
		k := familyKey{a.Base, a.Width}
		if c.families.open[k] == 0 {
			c.families.count++
			c.families.open[k] = c.families.count
			c.p.Families = max(c.p.Families, c.families.count)
		}
		a.Family = c.families.open[k]
	}
	c.writes(pc, func(reg ir.Reg) {
		for k := range c.families.open {
			if k.base == c.Slots[reg] {
				delete(c.families.open, k)
			}
		}
	})
}
