package footprint

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// Streaming loads and stores (ld.cs, st.cs) mark lines to be evicted first. What other accesses touch stays in L2
// from one launch to the next as if streaming loads held streamedShare of L2 and no more, however much they read.
// Streaming stores hold streamedStored of what they write, at most what may be dirty. Of what is stored beside
// streaming loads, streamedOut goes with the lines of these that do not stay.
//
// Measured on an H100 (deploy/calibrate streams.dram_read): of 24, 32 and 40 MB read beside a stream of 64 MB 9, 42
// and 91 % come from DRAM again, all of 8 MB and more without the hint. Of 8, 16 and 24 MB beside 64 MB of streaming
// stores 4, 47 and 96 % do; of 24 MB beside 16 MB of them 22 %. Of 8, 16 and 24 MB stored beside streaming loads 41,
// 39 and 54 % are written back, without the hint all (streams.dram_written).
const (
	streamedShare  = 0.06
	streamedStored = 0.6
	streamedOut    = 0.45
)

// footprint is what a launch touches, bytes.
type footprint struct {
	all            float64
	loaded, stored float64 // of it, by streaming loads and stores alone
	written        float64 // of it, what is stored
}

// add adds a group's part of the footprint.
func (f *footprint) add(bytes float64, load, streaming bool) {
	f.all += bytes
	switch {
	case streaming && load:
		f.loaded += bytes
	case streaming:
		f.stored += bytes
	}
}

// streaming reports, by group, whether all instructions in it mark lines to be evicted first.
func (s *Survey) streaming(groups []group, d Device) []bool {
	pcs := len(s.parent) / 2
	out := make([]bool, len(groups))
	if d.Streaming == nil {
		return out
	}
	for i := range out {
		out[i] = true
	}
	for id := range s.parent {
		if sum(s.distinct[id]) > 0 && !d.Streaming[id%pcs] {
			out[s.parent.Find(int32(id))] = false
		}
	}
	return out
}

// keep sets what of the footprint the previous launch left in L2, and what of the stores is not
// written back.
func (p *Plan) keep(f *footprint, d *Device) {
	size := float64(d.L2Bytes)
	others := f.all - f.loaded - f.stored + math.Min(f.loaded, streamedShare*size)
	p.Kept = d.kept(d.Kept, d.KeptUntil, others+math.Min(streamedStored*f.stored, dirtyWhole*size))
	p.keptStreamed = d.kept(d.Kept, d.KeptUntil, f.all)
	p.dirty = min(d.kept(dirtyWhole, dirtyUntil, (others+f.stored+f.written)/2), 1-pushedOut*(1-p.Kept))
	if f.loaded > 0 {
		p.dirty = min(p.dirty, 1-streamedOut*(1-p.keptStreamed))
	}
}

// keptOf is the share of a group's data that the previous launch left in L2.
func (p *Plan) keptOf(rep int32) float64 {
	if p.streaming[rep] {
		return p.keptStreamed
	}
	return p.Kept
}

// Streaming reports, by instruction of a kernel, whether it marks lines to be evicted first
// (.cs); nil where none does.
func Streaming(k *ir.Kernel) (by []bool) {
	for pc := range k.Instrs {
		if k.Instrs[pc].Cache != ir.CacheCS {
			continue
		}
		if by == nil {
			by = make([]bool, len(k.Instrs))
		}
		by[pc] = true
	}
	return by
}
