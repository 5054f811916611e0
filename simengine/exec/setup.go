package exec

import (
	"fmt"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
)

// validate says what is wrong with a launch.
func validate(p *Program, l *Launch) error {
	k := p.Kernel
	for _, d := range []Dim3{l.Grid, l.CTA} {
		if d.X < 1 || d.Y < 1 || d.Z < 1 {
			return fmt.Errorf("launch %s: grid %v of %v: every dimension must be at least 1", k.Name, l.Grid, l.CTA)
		}
	}
	switch {
	case l.CTA.X > MaxThreads || l.CTA.Y > MaxThreads || l.CTA.Z > 64 || l.CTA.Count() > MaxThreads:
		return fmt.Errorf("launch %s: a CTA of %v threads: at most %d", k.Name, l.CTA, MaxThreads)
	case l.Grid.X > 1<<31-1 || l.Grid.Y > 65535 || l.Grid.Z > 65535:
		return fmt.Errorf("launch %s: a grid of %v: at most 2147483647 x 65535 x 65535", k.Name, l.Grid)
	case l.DynamicShared < 0 || l.DynamicShared > maxShared || k.SharedBytes > maxShared:
		return fmt.Errorf("launch %s: %d static and %d dynamic bytes of shared memory: want at most %d of each", k.Name, k.SharedBytes, l.DynamicShared, maxShared)
	case k.LocalBytes > maxLocal || int64(k.LocalBytes)*l.CTA.Count() > maxLocalCTA:
		return fmt.Errorf("launch %s: %d bytes of local memory for each of %d threads: at most %d, and %d together", k.Name, k.LocalBytes, l.CTA.Count(), maxLocal, maxLocalCTA)
	case p.FileBytes() > maxFile:
		return fmt.Errorf("launch %s: %d bytes of registers live in one warp: at most %d", k.Name, p.FileBytes(), maxFile)
	case len(l.Params) < memory.ParamBytes(k):
		return fmt.Errorf("launch %s: %d bytes of parameters, the kernel takes %d", k.Name, len(l.Params), memory.ParamBytes(k))
	}
	return validateCluster(p, l)
}

// bufferIn is the buffer that a parameter points into, or that a tensor map describes; nil: none.
func bufferIn(m *memory.Device, p *ir.Param, params []byte) *memory.Region {
	switch p.Size {
	case 8:
		v := element.Load(params[p.Offset:], 8)
		if t := m.Texture(v); t != nil {
			v = t.Address
		}
		return m.Owner(v)
	case tensormap.Bytes:
		var t tensormap.Map
		if t.Decode(params[p.Offset:p.Offset+p.Size]) == nil {
			return m.Owner(t.Address)
		}
	}
	return nil
}

// checkDistinct refuses two parameters that point into one buffer.
func checkDistinct(m *memory.Device, k *ir.Kernel, params []byte) error {
	for i, p := range k.Params {
		b := bufferIn(m, &p, params)
		for _, q := range k.Params[:i] {
			if b != nil && b == bufferIn(m, &q, params) {
				return fmt.Errorf("launch %s: parameters %s and %s are the same buffer, and addresses depend on what the kernel writes: give each a buffer of its own, or run it in Full mode", k.Name, q.Name, p.Name)
			}
		}
	}
	return nil
}

// maxShared is far above the shared memory of any SM.
const maxShared = 1 << 20

// setup brings the CTA to its initial state.
func (r *Runner) setup() {
	p, k := r.p, r.p.Kernel
	r.params = r.launch.Params
	r.placeInCluster()
	threads := int(r.launch.CTA.Count())
	r.nwarps = (threads + WarpSize - 1) / WarpSize
	r.growWarps()
	n := k.SharedBytes
	if r.launch.DynamicShared > 0 {
		n = p.DynamicShared + r.launch.DynamicShared
	}
	if reserved := p.ReservedShared(); reserved > 0 {
		n = (n+15)&^15 + reserved
	}
	r.shared = zeroed(r.shared, n)
	r.localBytes = k.LocalBytes
	r.local = zeroed(r.local, r.localBytes*r.nwarps*WarpSize)
	r.barriers = [16]barrier{}
	r.resetAsync(r.p)
	r.resetHandovers()
	for i := range r.warps[:r.nwarps] {
		if r.opt.Warps != 0 && r.opt.Warps>>i&1 == 0 {
			r.warps[i].state = done
			continue
		}
		r.startWarp(&r.warps[i], min(threads-i*WarpSize, WarpSize))
	}
	r.races = nil
	switch {
	case !r.checkRaces:
		if r.spareFilter == nil {
			r.spareFilter = &raceFilter{}
		}
		r.filter = r.spareFilter
		r.filter.reset(len(r.shared), p.Granule, p.CopyGranule)
	case r.opt.Races || r.series != nil:
		if r.spareRaces == nil {
			r.spareRaces = &raceChecker{}
		}
		r.races = r.spareRaces
		r.races.reset(r.nwarps, len(r.shared), p.Granule)
	}
	r.definedness = nil
	if r.opt.Uninitialised && !r.sampling && !r.opt.DeviceOnly && !r.opt.PathOnly {
		if r.spareShadow == nil {
			r.spareShadow = &shadow{}
		}
		r.definedness = r.spareShadow
		r.definedness.reset(r)
	}
	if r.series != nil {
		r.series.Begin(r.cta, p.GlobalGranule)
	}
}

// zeroed returns b with n zero bytes.
func zeroed(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	b = b[:n]
	clear(b)
	return b
}

// growWarps makes sure there are enough warps; constants are written once.
func (r *Runner) growWarps() {
	for len(r.warps) < r.nwarps {
		p := r.p
		w := warp{
			id: len(r.warps), first: len(r.warps) * WarpSize,
			r32: make([]alu.Vec32, p.N32), r64: make([]alu.Vec64, p.N64), pred: make([]uint32, p.NPred),
			loops: make([]loopRun, len(p.Loops)), exits: p.Exits,
		}
		for _, c := range p.Constants32 {
			fill(&w.r32[c.Index], c.Value)
		}
		for _, c := range p.Constants64 {
			fill(&w.r64[c.Index], c.Value)
		}
		r.warps = append(r.warps, w)
	}
}

func fill[T alu.Word](d *[WarpSize]T, v T) {
	for i := range d {
		d[i] = v
	}
}

func (r *Runner) startWarp(w *warp, lanes int) {
	w.live = uint32(uint64(1)<<lanes - 1)
	w.state, w.ip, w.steps, w.tick, w.carry = ready, -1, 0, 1, 0
	w.groups, w.passed = w.groups[:0], passedNone
	w.asyncWarp.reset()
	w.stack = append(w.stack[:0], frame{block: 0, rpc: -1, mask: w.live, since: 1})
	w.inLoops, w.passages, w.meets = w.inLoops[:0], 0, false
	for i := range w.loops {
		w.loops[i].active, w.loops[i].entries = false, 0
	}
	for _, s := range r.p.Specials {
		r.special(w, s)
	}
	for _, s := range r.p.Unwritten {
		w.zero(s)
	}
}

// zero gives a register its value before anything writes it, the same in every CTA.
func (w *warp) zero(s code.Slot) {
	switch s.File {
	case code.File32:
		w.r32[s.Index] = alu.Vec32{}
	case code.File64:
		w.r64[s.Index] = alu.Vec64{}
	case code.FilePred:
		w.pred[s.Index] = 0
	}
}
