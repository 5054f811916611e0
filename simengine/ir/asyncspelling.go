package ir

import (
	"fmt"
	"strconv"
)

// async spells an instruction of asyncSpecs.
func (s *spelling) async() {
	in := s.in
	switch in.Op {
	case Wgmma:
		m := in.Matrix
		s.str("wgmma.mma_async.sync.aligned.m64n"+strconv.Itoa(m.N)+"k"+strconv.Itoa(m.K), true)
		s.str(".satfinite", in.Mod&ModSat != 0)
		s.dot(true, m.D)
		s.dot(true, m.A)
		s.dot(true, m.B)
	case WgmmaFence, WgmmaCommit, WgmmaWait:
		s.str(in.Op.String()+".sync.aligned", true)
	case MbarInit, MbarInval, MbarArrive, MbarExpect, MbarWait, CpAsyncArrive:
		s.mbarrier()
	case BulkCopy, BulkPrefetch:
		s.bulk()
	case BulkWait:
		s.str("cp.async.bulk.wait_group", true)
		s.str(".read", in.Mod&ModRead != 0)
	case FenceProxy:
		s.fenceProxy()
	case TensormapSet:
		s.str("tensormap.replace.tile."+in.Field.String(), true)
		s.space(in.Space)
		s.str(".b1024."+in.Type.String(), true)
	case TensormapCopy:
		s.str("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."+in.Scope.String()+".sync.aligned", true)
	case Setmaxnreg:
		s.str("setmaxnreg."+[...]string{"dec", "inc"}[b2i(in.Mod&ModInc != 0)]+".sync.aligned.u32", true)
	case ClusterBarrier:
		s.str("barrier.cluster."+[...]string{"wait", "arrive"}[b2i(in.Mod&ModArrive != 0)], true)
		s.flags(ModRelaxed, ModAcquire, ModRelease)
	case CreatePolicy:
		s.str("createpolicy.fractional.L2::evict_normal.b64", true)
	}
}

// space writes the state space of an operand that is not generic; shared memory as that of the CTA.
func (s *spelling) space(sp Space) {
	s.str(".shared::cta", sp == Shared)
	s.dot(sp != Shared && sp != Generic, sp)
}

func (s *spelling) mbarrier() {
	in := s.in
	switch in.Op {
	case MbarArrive:
		s.str("mbarrier.arrive", true)
		s.str("_drop", in.Mod&ModDrop != 0)
		s.str(".expect_tx", in.Mod&ModTx != 0)
	case MbarExpect:
		s.str("mbarrier."+[...]string{"expect", "complete"}[b2i(in.Mod&ModDone != 0)]+"_tx", true)
	case MbarWait:
		s.str("mbarrier."+[...]string{"test", "try"}[b2i(in.Mod&ModTry != 0)]+"_wait", true)
		s.str(".parity", in.Mod&ModParity != 0)
	case CpAsyncArrive:
		s.str("cp.async.mbarrier.arrive", true)
		s.str(".noinc", in.Mod&ModAll != 0)
	default:
		s.str(in.Op.String(), true)
	}
	s.flags(ModRelaxed, ModAcquire, ModRelease)
	s.dot(in.Scope != ScopeNone, in.Scope)
	s.space(in.Space)
	s.types()
}

func (s *spelling) bulk() {
	in, b := s.in, s.in.Bulk
	s.str([...]string{"cp.async.bulk", "cp.reduce.async.bulk"}[b2i(b.Reduce != AtomNone)], true)
	s.str(".prefetch", in.Op == BulkPrefetch)
	s.str(".tensor."+strconv.Itoa(b.Dims)+"d", b.Dims > 0)
	if in.Op == BulkPrefetch {
		s.str(".L2.global", true)
		return
	}
	s.space(b.To)
	s.space(b.From)
	s.dot(b.Reduce != AtomNone && b.Dims > 0, b.Reduce)
	s.str([...]string{".bulk_group", ".mbarrier::complete_tx::bytes"}[b2i(b.Barrier)], true)
	s.str(".multicast::cluster", b.Multicast)
	s.dot(b.Reduce != AtomNone && b.Dims == 0, b.Reduce)
	s.flags(ModNoFtz)
	s.types()
}

func (s *spelling) fenceProxy() {
	in := s.in
	switch {
	case in.Space == Shared && in.Mod == ModRelease:
		s.str("fence.mbarrier_init.release.cluster", true)
	case in.Mod == ModAll:
		s.str("fence.proxy.alias", true)
	case in.Space == ParamSpace:
		s.str("fence.proxy.tensormap::generic", true)
		s.flags(ModAcquire, ModRelease)
		s.dot(true, in.Scope)
	default:
		s.str("fence.proxy.async", true)
		s.space(in.Space)
	}
}

// bulk writes the operands of a BulkCopy or BulkPrefetch: the coordinates with the tensor map.
func (w *operandWriter) bulk() {
	b := w.in.Bulk
	addresses := 2
	if w.in.Op == BulkPrefetch {
		addresses = 1
	}
	for i := range addresses {
		w.sep()
		if isMap := b.Dims > 0 && (addresses == 1 || (i == 0) == (b.To == Global)); !isMap {
			w.source(i)
			continue
		}
		w.b.WriteByte('[')
		w.place(&w.in.Src[i])
		w.b.WriteString(", {")
		for c := range b.Dims {
			if c > 0 {
				w.b.WriteString(", ")
			}
			w.source(addresses + c)
		}
		w.b.WriteString("}]")
	}
	w.list(addresses+b.Dims, false)
}

// wgmma writes the operands of a warpgroup MMA after its accumulators.
func (w *operandWriter) wgmma() {
	m := w.in.Matrix
	a, _, c := m.Registers()
	if m.FromShared {
		w.sep()
		w.source(0)
	} else {
		w.braces(0, a)
	}
	w.sep()
	w.source(a)
	w.sep()
	w.source(a + 1 + c)
	w.b.WriteString(m.wgmmaConstantText())
}

// wgmmaConstantText is what follows scale-d.
func (m *Matrix) wgmmaConstantText() string {
	if m.A == S8 || m.A == U8 {
		return ""
	}
	text := fmt.Sprintf(", %d, %d", 1-2*b2i(m.NegA), 1-2*b2i(m.NegB))
	if m.A != F16 && m.A != BF16 {
		return text
	}
	if m.FromShared {
		text += fmt.Sprintf(", %d", b2i(m.TransA))
	}
	return text + fmt.Sprintf(", %d", b2i(m.TransB))
}
