package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// Opcode is the opcode with its modifiers as PTX spells it, e.g.
// "ld.global.nc.v4.f32". Decoding it gives the same instruction.
func (in *Instr) Opcode() string {
	s := spelling{in: in}
	switch in.Op {
	case Mma:
		return in.Matrix.opcode(in.Mod)
	case Movmatrix:
		return "movmatrix.sync.aligned.m8n8.trans.b16"
	case Setp, Set:
		s.str("set", in.Op == Set)
		s.str("setp", in.Op == Setp)
		s.dot(in.Cmp != CmpNone, in.Cmp)
		s.dot(in.Bool != BoolNone, in.Bool)
		s.flags(ModFtz)
		s.types()
	case Ld, Ldu, St, Atom, Red, Prefetch, CpAsync, Cvta, Isspacep, Mapa, GetCTARank:
		s.memory()
	case Wgmma, WgmmaFence, WgmmaCommit, WgmmaWait, MbarInit, MbarInval, MbarArrive, MbarExpect, MbarWait, CpAsyncArrive, BulkCopy, BulkPrefetch,
		BulkWait, FenceProxy, TensormapSet, TensormapCopy, Setmaxnreg, ClusterBarrier, CreatePolicy:
		s.async()
	case Tex, Txq, Suld, Sust:
		s.texture()
	case Bar, BarRed, BarWarp, Membar, Vote, Match, Redux, Elect, Shfl, CpAsyncWait, CpAsyncCommit:
		s.sync()
	default:
		s.str(in.Op.String(), true)
		sign := (in.Op == Min || in.Op == Max) && in.Mod&ModXorSign != 0
		s.flags(ModWide, ModHi, ModLo)
		s.dot(in.Mod&ModLeft != 0 && !sign, ModLeft)
		s.flags(ModRight, ModClamp, ModWrap, ModShiftAmt, ModUni)
		s.dot(in.Round != RoundNone, in.Round)
		finite := in.Op == Cvt && in.Mod&ModSat != 0 && (in.Type == TF32 || in.Type == E4M3x2 || in.Type == E5M2x2)
		s.str(".satfinite", finite)
		s.flags(ModApprox, ModFull, ModFtz, ModNaN)
		s.str(".xorsign.abs", sign)
		s.flags(ModRelu)
		s.dot(in.Mod&ModSat != 0 && !finite, ModSat)
		s.flags(ModCarryOut)
		s.dot(in.Bool != BoolNone && in.Op != Prmt, in.Bool)
		s.types()
		s.dot(in.Bool != BoolNone && in.Op == Prmt, in.Bool)
		s.dot(in.Op == Vabsdiff4 && in.Atom != AtomNone, in.Atom)
	}
	return s.b.String()
}

// spelling assembles an opcode.
type spelling struct {
	in *Instr
	b  strings.Builder
}

func (s *spelling) str(text string, when bool) {
	if when {
		s.b.WriteString(text)
	}
}

func (s *spelling) dot(when bool, v fmt.Stringer) {
	if when {
		s.b.WriteByte('.')
		s.b.WriteString(v.String())
	}
}

// flags writes those of the flags that are set, in this order.
func (s *spelling) flags(mods ...Mod) {
	for _, m := range mods {
		s.dot(s.in.Mod&m != 0, m)
	}
}

func (s *spelling) types() {
	s.dot(s.in.Type != TypeInvalid, s.in.Type)
	s.dot(s.in.SrcType != TypeInvalid, s.in.SrcType)
}

func (s *spelling) memory() {
	in := s.in
	if in.Mod&ModMatrix != 0 {
		s.str([...]string{"ldmatrix", "stmatrix"}[b2i(in.Op == St)]+".sync.aligned.m8n8.x"+strconv.Itoa(int(in.Vec)), true)
		s.flags(ModTrans)
		s.str(".shared.b16", true)
		return
	}
	s.str(in.Op.String(), true)
	switch in.Op {
	case CpAsync:
		s.str(".ca", in.Mod&ModBypassL1 == 0)
		s.str(".cg", in.Mod&ModBypassL1 != 0)
		s.str(".shared.global", true)
		return
	case Cvta:
		s.flags(ModTo)
	case Prefetch:
		s.dot(in.Space != Generic, in.Space)
		s.str(".L1", in.Cache == CacheCA)
		s.str(".L2", in.Cache == CacheCG)
		s.str(".tensormap", in.Cache == CacheDefault)
		return
	}
	if both := ModAcquire | ModRelease; in.Mod&both == both {
		s.str(".acq_rel", true)
	} else {
		s.flags(ModVolatile, ModRelaxed, ModAcquire, ModRelease)
	}
	s.dot(in.Scope != ScopeNone, in.Scope)
	s.dot(in.Space != Generic, in.Space)
	s.dot(in.Cache != CacheDefault && in.Cache != CacheNoAllocate, in.Cache)
	s.flags(ModNonCoherent)
	s.dot(in.Cache == CacheNoAllocate, in.Cache)
	s.dot(in.Atom != AtomNone, in.Atom)
	s.flags(ModNoFtz)
	s.str(".v"+strconv.Itoa(int(in.Vec)), in.Vec > 1)
	s.types()
}

func (s *spelling) sync() {
	in := s.in
	switch in.Op {
	case Bar:
		s.str("bar.arrive", in.Mod&ModArrive != 0)
		s.str("bar.sync", in.Mod&ModArrive == 0)
		return
	case CpAsyncWait:
		s.str("cp.async.wait_all", in.Mod&ModAll != 0)
		s.str("cp.async.wait_group", in.Mod&ModAll == 0)
		return
	case Match:
		s.str("match.all", in.Mod&ModAll != 0)
		s.str("match.any", in.Mod&ModAll == 0)
	case Membar:
		s.fence()
		return
	default:
		s.str(in.Op.String(), true)
	}
	s.flags(ModSync)
	s.dot(in.Bool != BoolNone, in.Bool)
	s.dot(in.Atom != AtomNone, in.Atom)
	s.types()
}

// fence spells membar.gl for what is also fence.sc.gpu.
func (s *spelling) fence() {
	order := s.in.Mod & (ModAcquire | ModRelease)
	if order == 0 && s.in.Scope != ScopeCluster {
		s.str("membar", true)
		s.str(".gl", s.in.Scope == ScopeGPU)
		s.dot(s.in.Scope != ScopeGPU, s.in.Scope)
		return
	}
	s.str("fence", true)
	switch order {
	case 0:
		s.str(".sc", true)
	case ModAcquire | ModRelease:
		s.str(".acq_rel", true)
	default:
		s.flags(ModRelaxed, ModAcquire, ModRelease)
	}
	s.dot(true, s.in.Scope)
}
