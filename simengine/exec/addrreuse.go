package exec

import "github.com/warptune/warptune/simengine/exec/internal/code"

// Follower is an Observer that can take an access as the shifted copy of an earlier one of the same
// warp.
type Follower interface {
	Observer
	// Follow is told of a load from shared memory by the lanes and of the width of the access of instruction first,
	// of whichever warp the last one was. Its addresses are further on by as many bytes in every lane. False: it
	// must be told all of it, by Access.
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
func (r *Runner) follow(w *warp, in *code.Instr, mask uint32) bool {
	a := in.X.Access
	f := &r.families[a.Family]
	if f.warp != w.id || f.steps != w.steps || f.mask != mask || r.races != nil {
		return false
	}
	by := a.Offset - f.offset
	e := extent{lo: f.extent.lo + by, hi: f.extent.hi + by}
	if a.Base.File == code.File32 {
		e.lo, e.hi = uint64(uint32(e.lo)), uint64(uint32(e.hi))
	}
	width := uint64(a.Width)
	if size := uint64(len(r.shared)); by&(width-1) != 0 || e.lo > e.hi || e.hi >= size || width > size-e.hi {
		return false
	}
	if r.filter != nil && (!e.narrow() || !r.filter.read(w.number(), e.lo, e.hi+width-1)) {
		return false
	}
	if r.obs != nil && (r.follower == nil || !r.follower.Follow(w.id, int(in.PC), f.pc, by)) {
		return false
	}
	r.account(false, mask)
	return true
}

// lead makes an access the one that others of its family are compared with.
func (r *Runner) lead(w *warp, in *code.Instr, mask uint32, e extent) {
	a := in.X.Access
	r.families[a.Family] = family{w.id, w.steps, mask, int(in.PC), a.Offset, e}
}
