package exec

import (
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// cursor remembers the page last touched, so that lanes that share a page
// look it up once. It must not outlive one access: pages may be dropped.
type cursor struct {
	region *memory.Region
	index  uint64
	page   *memory.Page
}

// bytes returns the width bytes at addr, which check has found in bounds, or nil when the page limit
// is reached. An access that crosses pages is gathered in r.straddle. After a write, settle carries
// it back.
func (r *Runner) bytes(c *cursor, a *code.Access, addr uint64, write bool) []byte {
	reg := c.region
	if reg == nil || !reg.Holds(addr, uint64(a.Width)) {
		if reg = r.regions[a.Index]; reg == nil || !reg.Holds(addr, uint64(a.Width)) {
			reg = r.mem.Find(addr, uint64(a.Width))
		}
		c.region, c.page = reg, nil
	}
	off := addr - reg.Base
	if c.page == nil || c.index != off>>memory.PageBits {
		c.index = off >> memory.PageBits
		if c.page = r.mem.Page(reg, c.index); c.page == nil {
			return nil
		}
	}
	if write {
		c.page.Dirty = true
	}
	in := off & (memory.PageSize - 1)
	if in+uint64(a.Width) > memory.PageSize {
		return r.gather(c, in, a.Width, write)
	}
	return c.page.Data[in : in+uint64(a.Width)]
}

// gather handles the rare access that crosses pages, possible only for a
// module variable whose own alignment is below the access width.
func (r *Runner) gather(c *cursor, in uint64, width int, write bool) []byte {
	second := r.mem.Page(c.region, c.index+1)
	first := r.mem.Page(c.region, c.index) // after second: it may have been dropped and made anew
	if first == nil || second == nil {
		return nil
	}
	n := copy(r.straddle[:width], first.Data[in:])
	copy(r.straddle[n:width], second.Data[:])
	if write {
		first.Dirty, second.Dirty = true, true
		r.torn = tornWrite{first, second, in, width}
	}
	return r.straddle[:width]
}

// tornWrite is a write to two pages that waits in Runner.straddle.
type tornWrite struct {
	first, second *memory.Page
	offset        uint64
	width         int
}

// settle carries a gathered write to its pages.
func (r *Runner) settle() {
	if t := r.torn; t.first != nil {
		n := copy(t.first.Data[t.offset:], r.straddle[:t.width])
		copy(t.second.Data[:], r.straddle[n:t.width])
		r.torn = tornWrite{}
	}
}

// lane returns the bytes of lane l's access.
func (r *Runner) lane(w *warp, c *cursor, a *code.Access, space ir.Space, l int, write bool) []byte {
	v := r.addr[l]
	switch space {
	case ir.Shared:
		return r.shared[v : v+uint64(a.Width)]
	case ir.Local:
		v += uint64(w.thread(l) * r.localBytes)
		return r.local[v : v+uint64(a.Width)]
	case ir.Const:
		return r.mem.Constants()[v : v+uint64(a.Width)]
	}
	return r.bytes(c, a, v, write)
}
