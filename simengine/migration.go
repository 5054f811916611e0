package simengine

import (
	"cmp"
	"fmt"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// Managed says where the pages of a buffer in managed memory are when the kernel is first launched. The zero value: it is
// ordinary device memory.
type Managed uint8

// Places of managed memory.
const (
	ManagedNot     Managed = iota
	ManagedHost            // in the host's memory, which it wrote
	ManagedNowhere         // nobody has touched them
	ManagedDevice          // in device memory, where a kernel or a prefetch left them
)

// String is the place in a word.
func (m Managed) String() string {
	return [...]string{"not managed", "host", "nowhere", "device"}[min(m, ManagedDevice)]
}

// Migration is what faults on pages of managed memory add to the first launch. Launches that follow find the pages in
// device memory, unless the host touches them in between.
type Migration struct {
	TimeUS        float64    `json:"time_us"`         // beyond Report.TimeUS
	FirstLaunchUS float64    `json:"first_launch_us"` // both
	Share         float64    `json:"share"`           // of TimeUS in FirstLaunchUS
	Buffers       []Migrated `json:"buffers"`
}

// Migrated is a buffer whose pages come with the first launch, taken to be touched in full.
type Migrated struct {
	Name   string  `json:"name"`
	From   string  `json:"from"` // Managed's words
	Stored bool    `json:"stored,omitempty"`
	Bytes  int64   `json:"bytes"`
	TimeUS float64 `json:"time_us"`
}

// use is what traced CTAs do with a buffer.
type use struct{ loaded, stored bool }

// migrate adds what managed memory does in the first launch to a report.
func (r *recording) migrate(out *Report, req *Request) {
	given := parameters(r.kernel, req)
	var uses []use
	at, m, unknown := 0, &Migration{}, ""
	for i := range given {
		a := &given[i]
		if !a.hasBuffer() {
			continue
		}
		b := a.buffer("")
		bytes := b.Bytes()
		if bytes == 0 {
			continue
		}
		if a.Managed.migrates() {
			if uses == nil {
				uses = r.uses()
			}
			if u := uses[at]; u.loaded || u.stored {
				name := cmp.Or(a.Name, BufferName(i, ""))
				us, known := pageTime(req, a.Managed, u, bytes)
				if !known {
					unknown += ", " + name
				}
				m.Buffers = append(m.Buffers, Migrated{name, a.Managed.String(), u.stored, bytes, us})
			}
		}
		at++
	}
	switch {
	case unknown != "":
		out.NotModelled = append(out.NotModelled, fmt.Sprintf("the first launch, whose pages of managed memory migrate (%s): its rate was not measured on %s", unknown[2:], req.Arch.Title))
	case len(m.Buffers) > 0:
		m.serve(req.Arch)
		m.FirstLaunchUS = out.TimeUS + m.TimeUS
		m.Share = m.TimeUS / m.FirstLaunchUS
		out.Migration = m
	}
}

// migrates reports whether pages come with the first launch.
func (m Managed) migrates() bool {
	return m == ManagedHost || m == ManagedNowhere
}

// serve sums the time of the buffers. The faults of several are served in less time than those of one after another.
func (m *Migration) serve(d *arch.Descriptor) {
	share := 1.0
	if len(m.Buffers) > 1 && d.ManagedTogether > 0 {
		share = d.ManagedTogether
	}
	m.TimeUS = d.ManagedFaultUS
	for i := range m.Buffers {
		b := &m.Buffers[i]
		b.TimeUS *= share
		m.TimeUS += b.TimeUS
	}
}

// pageTime is how long pages of a buffer alone take to come to the device, microseconds, and whether that is known of the GPU.
func pageTime(req *Request, from Managed, u use, bytes int64) (us float64, known bool) {
	rate := req.Arch.ManagedReadBytes
	switch {
	case from == ManagedNowhere:
		rate = req.Arch.ManagedFirstBytes
	case u.stored:
		rate = req.Arch.ManagedWrittenBytes
	}
	if rate == 0 {
		return 0, false
	}
	return float64(bytes) / rate * 1e6, true
}

// uses says what the first CTA, one in the middle and the last do with each of the buffers; those of whom no trace can be
// made are left out.
func (r *recording) uses() []use {
	uses := make([]use, len(r.extents))
	for _, id := range []int64{0, timing.Middle(r.grid()), r.launch.Grid.Count() - 1} {
		c, err := r.deviceCTA(id)
		if err != nil {
			continue
		}
		for w := range c.Warps {
			warp := &c.Warps[w]
			for i := range warp.Accesses {
				if a := &warp.Accesses[i]; a.Space == ir.Global && a.NLines > 0 {
					r.mark(uses, a, warp.Lines[a.First].Addr)
				}
			}
		}
	}
	return uses
}

// mark adds an access to what is done with the buffer that a line is in.
func (r *recording) mark(uses []use, a *trace.Access, line uint64) {
	for i, e := range r.extents {
		if !within(e, line) {
			continue
		}
		in := &r.kernel.Instrs[a.PC]
		switch in.Op {
		case ir.St, ir.Sust, ir.Atom, ir.Red:
			uses[i].stored = true
		case ir.BulkCopy:
			uses[i].stored = uses[i].stored || in.Bulk.To == ir.Global
			uses[i].loaded = true
		default:
			uses[i].loaded = true
		}
	}
}

func within(e timing.Extent, line uint64) bool { return line >= e.First && line <= e.Last }
