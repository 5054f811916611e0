package cost

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// Exchange says where the bytes come from that an mbarrier expects. Only one CTA of a cluster is replayed. Where each
// sends a part to all, the others do as it does, at the same time:
//
//	CTA 0 expects A0 B     copies A0, and the first half of B to both
//	CTA 1 expects A1 B     copies A1, and the second half of B to both
//
// Where one sends to all, its own bytes are enough for it, and the others lack some:
//
//	CTA 0 expects A0 B     copies A0, and B to both
//	CTA 1 expects A1 B     copies A1
//
// What is lacking comes as soon after it is expected as what the CTA asks for itself.
type Exchange struct {
	// Alone: the CTA's copies to several CTAs are all that the mbarrier gets of these.
	Alone bool
	// Lacking is the share of the bytes expected that others send.
	Lacking float64
}

// sums is the bytes that an mbarrier expects, those that its CTA copies to it, and those with as many from each CTA that
// they go to.
type sums struct{ expected, own, mirrored float64 }

// Exchanges reads off the trace of a CTA who sends what its mbarriers expect, by their addresses. Mbarriers that are not
// there get what the CTA sends, and as much from each CTA that it sends to. It is empty without a cluster.
func Exchanges(k *ir.Kernel, cta *trace.CTA, cluster int) map[uint32]Exchange {
	if cluster <= 1 {
		return nil
	}
	by := map[uint32]sums{}
	for i := range cta.Warps {
		for j := range cta.Warps[i].Asyncs {
			a := &cta.Warps[i].Asyncs[j]
			if a.Barrier != trace.NoBarrier && (a.CTA < 0 || a.To != 0) {
				s := by[a.Barrier]
				s.add(&k.Instrs[a.PC], a)
				by[a.Barrier] = s
			}
		}
	}
	all := map[uint32]Exchange{}
	for bar, s := range by {
		if x := s.exchange(); x != (Exchange{}) {
			all[bar] = x
		}
	}
	return all
}

func (s *sums) add(in *ir.Instr, a *trace.Async) {
	switch {
	case in.Op == ir.MbarArrive || in.Op == ir.MbarExpect && in.Mod&ir.ModDone == 0:
		s.expected += float64(Expected(a))
	case in.Op == ir.BulkCopy:
		s.own += float64(a.Bytes)
		s.mirrored += float64(a.Bytes) * float64(max(bits.OnesCount16(a.To), 1))
	}
}

func (s *sums) exchange() (x Exchange) {
	if s.expected <= 0 {
		return x
	}
	sent := s.mirrored
	if math.Abs(s.expected-s.own) < math.Abs(s.expected-s.mirrored) {
		x.Alone, sent = true, s.own
	}
	if lacking := 1 - sent/s.expected; lacking > leastLacking {
		x.Lacking = lacking
	}
	return x
}

// leastLacking is what may lack for the iterations that a trace leaves out.
const leastLacking = 0.02

// Sent is the bytes of those that an operation expects which others send: a multiple of 16, as copies are.
func (x Exchange) Sent(a *trace.Async) int64 {
	if x.Lacking == 0 {
		return 0
	}
	return int64(math.Ceil(x.Lacking*float64(Expected(a))/16-1e-6)) * 16
}

// Delivered is the bytes that arrive at a CTA's own mbarrier for each copy that it asks for: those of the others that do
// as it does, too.
func (x Exchange) Delivered(bytes int32, to uint16) int64 {
	if x.Alone {
		return int64(bytes)
	}
	return int64(bytes) * int64(max(bits.OnesCount16(to), 1))
}
