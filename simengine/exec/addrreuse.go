package exec

import "github.com/warptune/warptune/simengine/ir"

// Follower is an Observer that can take an access as the shifted copy of an earlier one of the same
// warp.
type Follower interface {
	Observer
	// Follow is told of a load from shared memory by the lanes and of the width of
	// the access of instruction first, of those of whichever warp the last one, at
	// addresses further on by as many bytes in every lane. False: it must be told
	// all of it, by Access.
	Follow(warp, pc, first int, by uint64) bool
}

// family is what the last of some accesses to shared memory left known for the
// others: of the loads of one width in a block that add constants to one register.
type family struct {
	warp   int
	steps  int64 // of the warp, when it was: registers are what they were then
	mask   uint32
	pc     int
	offset uint64
	extent extent
}

// follow performs a load from shared memory whose addresses are those of the family's last one plus
// a constant. It reports whether it could: the last one must be of the same warp, block and lanes.
func (r *Runner) follow(w *warp, in *instr, mask uint32) bool {
	a := in.x.access
	f := &r.families[a.family]
	if f.warp != w.id || f.steps != w.steps || f.mask != mask || r.races != nil {
		return false
	}
	by := a.offset - f.offset
	e := extent{lo: f.extent.lo + by, hi: f.extent.hi + by}
	if a.base.file == file32 {
		e.lo, e.hi = uint64(uint32(e.lo)), uint64(uint32(e.hi))
	}
	width := uint64(a.width)
	if size := uint64(len(r.shared)); by&(width-1) != 0 || e.lo > e.hi || e.hi >= size || width > size-e.hi {
		return false
	}
	if r.filter != nil && (!e.narrow() || !r.filter.read(w.number(), e.lo, e.hi+width-1)) {
		return false
	}
	if r.obs != nil && (r.follower == nil || !r.follower.Follow(w.id, int(in.pc), f.pc, by)) {
		return false
	}
	r.account(false, mask)
	return true
}

// lead makes an access the one that others of its family are compared with.
func (r *Runner) lead(w *warp, in *instr, mask uint32, e extent) {
	a := in.x.access
	r.families[a.family] = family{w.id, w.steps, mask, int(in.pc), a.offset, e}
}

// families numbers the families of a block while it is compiled. A family is the loads of one width
// that add constants to one register.
type families struct {
	open  map[familyKey]int
	count int
}

type familyKey struct {
	base  slot
	width int
}

// join puts a compiled instruction into a family: a load from shared memory whose data is not
// needed, and whose base register has not been written since the others of the family.
func (c *compiler) join(pc int, in *instr) {
	if in.kind == kindMemory && in.x.access.canFollow() {
		a := in.x.access
		k := familyKey{a.base, a.width}
		if c.families.open[k] == 0 {
			c.families.count++
			c.families.open[k] = c.families.count
			c.p.families = max(c.p.families, c.families.count)
		}
		a.family = c.families.open[k]
	}
	c.writes(pc, func(reg ir.Reg) {
		for k := range c.families.open {
			if k.base == c.slots[reg] {
				delete(c.families.open, k)
			}
		}
	})
}

func (a *access) canFollow() bool {
	return a.op == ir.Ld && a.space == ir.Shared && !a.data && a.base != noSlot
}
