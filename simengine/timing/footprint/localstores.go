package footprint

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// WordSectors is how many sectors a word of local memory has for a warp: a line.
const WordSectors = 4

// LocalStores counts what warps store to the local memory that the PTX declares. Its
// zero value is ready. It is not safe for concurrent use.
type LocalStores struct {
	// Sectors is what is stored, and Places the sectors that it lies in.
	Sectors, Places int64
	seen            []uint8 // by word of the warp's frame: sectors stored to
}

// Count adds a warp's trace, each step of which is executed weight times. What a recorded
// iteration is the first to store to, each iteration left out stores to as much of, as far as
// the frame has room.
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
	n.Places += min(places, int64(words)*WordSectors)
}

// Rewritten is how many times each place of warps' local memory is stored to, when so many
// sectors of spilled registers and of declared arrays are stored, the latter in places.
func Rewritten(p *assemble.Program, warps, spilled, declared, places float64) float64 {
	places += warps * float64(p.SpillBytes) // a word of a lane is 4 bytes, of a warp 4 sectors
	return (spilled + declared) / max(places, 1)
}

// outlived is the share of dead local memory that is written back between two CTAs of one
// place: meanwhile half of what the other CTAs touch and store goes through L2 beside it.
func (d *Device) outlived(touched, written, ctas float64) float64 {
	share := math.Min(d.Resident/ctas, 1)
	return 1 - d.kept(dirtyWhole, dirtyUntil, (share*(touched+written))/2+d.Scratch)
}

// LocalStores is the share of stores to local memory that reach DRAM when a CTA stores to each
// place so many times.
func (p *Plan) LocalStores(times float64) float64 {
	return p.Local + math.Max(p.Outlived-p.Local, 0)/math.Max(times, 1)
}
