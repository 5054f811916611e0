package lower

import (
	"github.com/warptune/warptune/simengine/ir"
	"reflect"
	"strings"
	"testing"
)

// spellings lists opcodes as the PTX ISA writes them, at least one for each
// instruction and each form compilers emit.
const spellings = `
add.s32 add.sat.s32 add.cc.u32 add.u64 add.s16x2 add.f32 add.rn.ftz.sat.f32 add.rz.f64 add.f16x2 add.rn.bf16
addc.u32 addc.cc.s32 sub.f32 sub.cc.u64 subc.u32 mul.lo.s32 mul.hi.u64 mul.wide.u16 mul.rn.f32 mul.f64 mul.f16
mad.lo.s32 mad.hi.sat.s32 mad.wide.s32 mad.lo.cc.u32 madc.hi.u32 madc.lo.cc.u32 mad.rn.f32 fma.rn.f32 fma.rn.ftz.relu.f16x2
fma.rn.f64 mul24.lo.s32 mad24.hi.u32 sad.u32 div.s32 div.rn.f32 div.approx.ftz.f32 div.full.f32 div.rn.f64 rem.u64
abs.s32 abs.ftz.f32 neg.f16 min.u32 min.ftz.NaN.f32 max.s16x2 max.NaN.relu.bf16x2 min.relu.f16
dp4a.u32.s32 dp2a.lo.s32.u32 rcp.approx.ftz.f32 rcp.rn.f64 sqrt.rn.f32 sqrt.approx.f32 rsqrt.approx.f32
sin.approx.f32 cos.approx.ftz.f32 lg2.approx.f32 ex2.approx.ftz.f32 ex2.approx.f16x2 tanh.approx.f32 copysign.f64 testp.notanumber.f32
and.b32 or.pred xor.b64 not.b16 cnot.b32 lop3.b32 lop3.or.b32 shl.b32 shr.s32 shr.u64 shf.l.wrap.b32 shf.r.clamp.b32
bfe.u32 bfi.b64 bfind.u32 bfind.shiftamt.s64 brev.b32 clz.b64 popc.b32 fns.b32 szext.clamp.s32 bmsk.wrap.b32
vabsdiff4.u32.u32.u32 vabsdiff4.u32.u32.u32.add prmt.b32 prmt.b32.f4e prmt.b32.rc16
setp.eq.s32 setp.lo.u32 setp.hs.u64 setp.ltu.ftz.f32 setp.ne.and.b32 setp.gt.xor.f64 setp.nan.f32 setp.lt.f16x2
set.eq.u32.f32 set.lt.or.ftz.f32.f32 selp.b32 selp.f32 slct.f32.s32 slct.ftz.u64.f32
mov.u32 mov.b64 mov.pred mov.f64 mov.b128 cvt.u32.u16 cvt.rn.f32.s32 cvt.rzi.s32.f32 cvt.rn.ftz.f16.f32 cvt.rni.sat.f32.f32
cvt.rn.f16x2.f32 cvt.rn.relu.bf16x2.f32 cvt.rna.tf32.f32 cvt.sat.u8.s32 cvt.s64.s32 cvt.f64.f32
ld.param.u64 ld.global.f32 ld.global.nc.v4.f32 ld.global.nc.L1::no_allocate.v2.u32 ld.shared.b8 ld.local.s16 ld.const.f32 ld.f32
ld.volatile.shared.u32 ld.relaxed.gpu.global.u32 ld.acquire.sys.global.u64 ld.global.ca.u32 ld.global.cg.f32 ld.global.cs.v2.f64 ld.global.lu.u32
ld.global.cv.u32 ldu.global.v4.f32 st.global.v4.f32 st.global.wb.u32 st.global.cg.u32 st.global.cs.b16 st.global.wt.u32
st.release.gpu.global.u32 st.relaxed.cta.shared.u32 st.volatile.global.u8 st.local.f32 st.param.b32
atom.global.add.u32 atom.shared.cas.b32 atom.relaxed.gpu.global.max.s32 atom.acq_rel.sys.add.u64 atom.add.noftz.f16x2 atom.global.exch.b64
atom.shared.inc.u32 atom.dec.u32 atom.global.add.f64 atom.global.and.b32 atom.shared.or.b32 atom.xor.b64 atom.min.u32
red.global.add.f32 red.relaxed.gpu.global.add.u32 red.shared.max.s32 cp.async.ca.shared.global cp.async.cg.shared.global
cp.async.commit_group cp.async.wait_group cp.async.wait_all cvta.to.global.u64 cvta.shared.u64 isspacep.global mapa.u32
prefetch.global.L1 prefetch.L2 shfl.sync.down.b32 shfl.sync.bfly.b32 shfl.idx.b32
bra bra.uni brx.idx brx.idx.uni exit trap bar.sync bar.arrive bar.red.popc.u32 bar.red.and.pred bar.warp.sync
membar.cta membar.gl membar.sys fence.acq_rel.gpu fence.sc.cluster fence.acquire.cta
vote.sync.ballot.b32 vote.sync.all.pred vote.any.pred match.any.sync.b32 match.all.sync.b64 activemask.b32
redux.sync.add.s32 redux.sync.and.b32 elect.sync nanosleep.u32
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
ldmatrix.sync.aligned.m8n8.x4.shared.b16 ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 movmatrix.sync.aligned.m8n8.trans.b16
cvt.rn.satfinite.e4m3x2.f32 cvt.rn.satfinite.relu.e5m2x2.f16x2 cvt.rn.f16x2.e4m3x2 cvt.rn.relu.f16x2.e5m2x2 cvt.rn.bf16x2.f32 cvt.rn.satfinite.relu.tf32.f32
atom.relaxed.gpu.global.add.v4.f32 atom.global.add.noftz.v2.f16x2 red.relaxed.sys.global.max.noftz.v4.bf16x2 ld.shared::cluster.v2.f32 st.shared::cluster.u32
atom.shared::cluster.add.u32 red.relaxed.cluster.shared::cluster.add.u32 mapa.shared::cluster.u32 isspacep.shared::cluster
tex.1d.v4.f32.s32 tex.a2d.v4.u32.f32 tex.level.3d.v4.f32.f32 tld4.g.2d.v4.s32.f32 txq.normalized_coords.b32
suld.b.2d.v4.b32.zero suld.b.a1d.b8.clamp sust.b.3d.b64.trap` + asyncSpellings

// asyncSpellings are those of asynchronous instructions.
const asyncSpellings = `
wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16
wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 wgmma.mma_async.sync.aligned.m64n96k32.f16.e4m3.e5m2 wgmma.mma_async.sync.aligned.m64n128k32.satfinite.s32.u8.s8
wgmma.fence.sync.aligned wgmma.commit_group.sync.aligned wgmma.wait_group.sync.aligned
mbarrier.init.shared::cta.b64 mbarrier.inval.b64 mbarrier.arrive.shared::cta.b64 mbarrier.arrive.release.cluster.shared::cluster.b64
mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 mbarrier.arrive_drop.shared::cta.b64 mbarrier.arrive_drop.expect_tx.b64
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64
mbarrier.test_wait.shared::cta.b64 mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 mbarrier.try_wait.b64 mbarrier.try_wait.parity.shared::cta.b64
cp.async.mbarrier.arrive.shared::cta.b64 cp.async.mbarrier.arrive.noinc.shared::cta.b64
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
cp.async.bulk.global.shared::cta.bulk_group cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes
cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster cp.async.bulk.tensor.3d.global.shared::cta.bulk_group
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b32 cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.bulk_group
cp.async.bulk.prefetch.L2.global cp.async.bulk.prefetch.tensor.4d.L2.global cp.async.bulk.commit_group cp.async.bulk.wait_group cp.async.bulk.wait_group.read
fence.proxy.async fence.proxy.async.global fence.proxy.async.shared::cta fence.proxy.async.shared::cluster fence.proxy.alias
fence.proxy.tensormap::generic.release.gpu fence.proxy.tensormap::generic.acquire.sys fence.mbarrier_init.release.cluster
tensormap.replace.tile.global_address.shared::cta.b1024.b64 tensormap.replace.tile.rank.b1024.b32 tensormap.replace.tile.box_dim.global.b1024.b32
tensormap.replace.tile.global_dim.shared::cta.b1024.b32 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 tensormap.replace.tile.element_stride.shared::cta.b1024.b32
tensormap.replace.tile.elemtype.shared::cta.b1024.b32 tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32
tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned prefetch.tensormap
stmatrix.sync.aligned.m8n8.x4.shared.b16 stmatrix.sync.aligned.m8n8.x1.trans.shared.b16
setmaxnreg.inc.sync.aligned.u32 setmaxnreg.dec.sync.aligned.u32 barrier.cluster.arrive.release barrier.cluster.arrive.relaxed barrier.cluster.wait.acquire
getctarank.shared::cluster.u32 getctarank.u64 createpolicy.fractional.L2::evict_normal.b64`

// aliases are other spellings of the same.
var aliases = map[string]string{
	"suq.width.b32": "txq.width.b32", "sust.b.2d.wt.v2.b32.trap": "sust.b.2d.v2.b32.trap",
	"barrier.sync": "bar.sync", "bar.cta.sync": "bar.sync", "barrier.sync.aligned": "bar.sync", "barrier.cta.red.popc.aligned.u32": "bar.red.popc.u32",
	"barrier.cta.arrive.aligned": "bar.arrive", "fence.sc.gpu": "membar.gl", "fence.sc.cta": "membar.cta", "fence.gpu": "fence.acq_rel.gpu",
	"ld.weak.global.f32": "ld.global.f32", "ld.shared::cta.f32": "ld.shared.f32", "st.param::func.b32": "st.param.b32",
	"ld.global.L2::128B.f32": "ld.global.f32", "cp.async.ca.shared::cta.global.L2::256B": "cp.async.ca.shared.global",
	"prefetchu.L1": "prefetch.L1", "ld.global.L1::evict_last.L2::cache_hint.f32": "ld.global.f32",
	"prefetch.global.L2::evict_last": "prefetch.global.L2", "atom.global.gpu.relaxed.add.v4.f32": "atom.relaxed.gpu.global.add.v4.f32",
	"atom.global.v4.f32.add": "atom.global.add.v4.f32", "red.global.v2.f32.add": "red.global.add.v2.f32",
	"mbarrier.init.shared.b64": "mbarrier.init.shared::cta.b64", "mbarrier.arrive.noComplete.release.cta.shared.b64": "mbarrier.arrive.release.cta.shared::cta.b64",
	"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes": "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
	"barrier.cluster.arrive.aligned": "barrier.cluster.arrive.release",
	"barrier.cluster.wait":           "barrier.cluster.wait.acquire", "stmatrix.sync.aligned.m8n8.x2.shared::cta.b16": "stmatrix.sync.aligned.m8n8.x2.shared.b16",
	"prefetch.param.tensormap": "prefetch.tensormap", "discard.global.L2": "griddepcontrol.wait", "applypriority.global.L2::evict_normal": "griddepcontrol.wait",
	"createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64": "createpolicy.fractional.L2::evict_normal.b64",
}

// Decoding an opcode and spelling it again gives the opcode, and nothing of it
// is lost on the way.
func TestOpcodeRoundTrip(t *testing.T) {
	d := decoder{}
	covered := map[ir.Op]bool{ir.Nop: true}
	for _, s := range strings.Fields(spellings) {
		sh := d.decode(s)
		if sh.unmodelled || sh.problem != "" {
			t.Errorf("%s: refused: %v %s", s, sh.unmodelled, sh.problem)
			continue
		}
		covered[sh.Op] = true
		if got := sh.Opcode(); got != s {
			t.Errorf("%s is spelled %s", s, got)
		}
	}
	for alias, s := range aliases {
		a, b := d.decode(alias), d.decode(s)
		if a.problem != "" || !reflect.DeepEqual(a.Instr, b.Instr) {
			t.Errorf("%s is not %s: %s", alias, s, a.problem)
		}
	}
	for op := ir.OpInvalid + 1; op < ir.NumOps; op++ {
		if !covered[op] {
			t.Errorf("no spelling of %s is tested", op)
		}
	}
}

// The order of modifiers that stand in different groups does not matter, as
// compilers disagree on it.
func TestDecodeFields(t *testing.T) {
	d := decoder{}
	in := d.decode("ld.relaxed.sys.global.L1::no_allocate.v4.f32").Instr
	if in.Op != ir.Ld || in.Type != ir.F32 || in.Space != ir.Global || in.Vec != 4 || in.Scope != ir.ScopeSys || in.Mod != ir.ModRelaxed || in.Cache != ir.CacheNoAllocate {
		t.Errorf("ld: %+v", in)
	}
	in = d.decode("mul.lo.u32").Instr
	if in.Mod != ir.ModLo || in.Cmp != ir.CmpNone {
		t.Errorf("mul.lo: %+v", in)
	}
	in = d.decode("setp.lo.u32").Instr
	if in.Mod != 0 || in.Cmp != ir.CmpLO {
		t.Errorf("setp.lo: %+v", in)
	}
	if in := d.decode("add.f32"); in.Round != ir.RoundNone {
		t.Errorf("add.f32 may be fused, add.rn.f32 may not: %v", in.Round)
	}
}

// Every instruction PTX has and this package does not model is refused by
// name rather than called unknown.
func TestUnmodelledOpcodes(t *testing.T) {
	d := decoder{}
	for _, s := range strings.Fields(`
wmma.load.a.sync.aligned.col.m16n16k16.global.u8 wmma.load.a.sync.aligned.row.m8n8k32.s4 mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32
mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16
tcgen05.mma.cta_group::1.kind::f16 ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32
wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16 wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16
stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 cp.async.bulk.global.shared::cta.bulk_group.cp_mask
cp.async.bulk.prefetch.tensor.3d.L2.global.im2col st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 red.async.relaxed.cluster
multimem.ld_reduce.relaxed.sys.global.add.f32 mbarrier.pending_count.b64 fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster
tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 tensormap.replace.im2col.global_address.shared::cta.b1024.b64 clusterlaunchcontrol.query_cancel.is_canceled.pred.b128
tex.cube.v4.f32.f32 tex.grad.2d.v4.f32.f32 tex.base.2d.v4.f32.f32 tex.2d.v2.f16x2.f32 txq.channel_order.b32 suld.p.2d.b32.trap sust.p.1d.v4.b32.trap sured.b.add.2d.u32.trap istypep.texref
alloca.u64 stacksave.u64 stackrestore.u64 cvt.pack.sat.u8.s32.b32 vadd.s32.u32.s32 vset4.u32.u32.eq vabsdiff4.s32.s32.s32 vabsdiff4.u32.s32.s32.add
cvt.rn.satfinite.f16.f32 cvt.rn.e4m3x2.f32 cvt.rn.satfinite.e2m1x2.f32 add.rn.f32.f16 fma.rn.f32x2 ld.mmio.relaxed.sys.global.u32`) {
		if sh := d.decode(s); !sh.unmodelled {
			t.Errorf("%s: want it refused as not modelled, got op %v, problem %q", s, sh.Op, sh.problem)
		}
	}
	for _, s := range strings.Fields(`nonsense add.nonsense.u32 mov.u31 mma.m16n8k16.row.col.f32.f16.f16.f32 ldmatrix.m8n8.x4.shared.b16 ld.global.v3.f32 setp.foo.s32 .u32 wmmax.a
cp.reduce.async.bulk.global cp.async.bulk.global.global.bulk_group cp.async.bulk.shared::cluster.global.bulk_group tensormap.replace.tile tensormap.replace.tile.rank.b1024.b64 wgmma.mma_async.m64n8k16.f32.f16.f16 cp.async.bulk.nonsense fence.nonsense.gpu`) {
		if sh := d.decode(s); sh.unmodelled || sh.problem == "" {
			t.Errorf("%s: want a diagnostic, got op %v, not modelled %v", s, sh.Op, sh.unmodelled)
		}
	}
}
