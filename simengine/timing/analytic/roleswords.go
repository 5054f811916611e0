package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/trace"
)

// expectWrites adds the writes of a warp that is replayed to those without which waits by words do not end.
func (r *roles) expectWrites(w *trace.Warp) {
	for i := range w.Asyncs {
		a := &w.Asyncs[i]
		if a.Word != trace.WordWrite && a.Word != trace.WordArrival {
			continue
		}
		if r.words == nil {
			r.words = map[uint32]*mbarrier{}
		}
		b := r.words[a.Barrier]
		if b == nil {
			b = &mbarrier{}
			r.words[a.Barrier] = b
		}
		b.Expected++
		b.Pending++
	}
}

// word is an access by which warps may wait for each other; see the clock's atWord. A wait for a warp that is not replayed,
// since another stands for it, is none. Times are those with the iterations left out.
func (p *player) word(source int32) {
	f := p.c.f
	for i := p.asyncLo; i < p.asyncHi; i++ {
		a := &p.tr.Asyncs[i]
		b := p.roles.words[a.Barrier]
		if a.PC != source || a.Word == trace.NoWord || b == nil {
			continue
		}
		switch {
		case a.Word == trace.WordWrite:
			b.Arrive(1, p.now+p.extra)
		case a.Word == trace.WordArrival:
			b.Arrive(1, p.now+p.extra+f.WordArrival)
		case b.Phases == 0:
			p.held, p.phase, p.byWord = b, 0, true
		case b.Done > p.now+p.extra:
			p.now = math.Max(p.now, b.Done+f.WordWake-p.extra)
		}
	}
}
