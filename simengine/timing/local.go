package timing

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// LocalStores counts what warps store to the local memory that the PTX declares. Its
// zero value is ready. It is not safe for concurrent use.
type LocalStores struct {
	// Sectors is what is stored, and Places the sectors that it lies in.
	Sectors, Places int64
	seen            []uint8 // by word of the warp's frame: sectors stored to
}

// Count adds a warp's trace, each step of which is executed weight times. What such a
// step is the first to store to, each time that was left out stores to as much of, as
// far as there is more of the frame.
func (n *LocalStores) Count(p *assemble.Program, w *trace.Warp, weight []int64) {
	words := (p.Kernel.LocalBytes + 3) / 4
	if words == 0 {
		return
	}
	if len(n.seen) != words {
		n.seen = make([]uint8, words)
	}
	clear(n.seen)
	var places int64
	for i := range w.Steps {
		for k := w.Steps[i].Access; k < coalesce.AccessEnd(w, i); k++ {
			a := &w.Accesses[k]
			if a.Space != ir.Local || p.Kernel.Instrs[a.PC].Op != ir.St || p.IsJoined(a.PC) {
				continue
			}
			n.Sectors += weight[i] * int64(a.Sectors)
			for j := a.First; j < a.First+int32(a.NLines); j++ {
				l := &w.Lines[j]
				at := (l.Addr - coalesce.LocalBase) % uint64(words)
				places += weight[i] * int64(bits.OnesCount8(l.Sectors&^n.seen[at]))
				n.seen[at] |= l.Sectors
			}
		}
	}
	const wordSectors = 4 // a word of a warp is a line
	n.Places += min(places, int64(words)*wordSectors)
}

// Rewritten is how often each place of local memory is stored to by a CTA of warps that
// store sectors of spilled registers, and the rest to what the PTX declares.
func (n *LocalStores) Rewritten(p *assemble.Program, warps int64, spilled float64) float64 {
	places := warps*int64(p.SpillBytes) + n.Places // a word of a lane is 4 bytes, of a warp 4 sectors
	return (spilled + float64(n.Sectors)) / float64(max(places, 1))
}
