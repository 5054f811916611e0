package exec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// asyncSources are kernels that use most asynchronous instructions.
func asyncSources(r *rand.Rand) []string {
	c := randomProduct(r)
	regsD, regsA := c.n/2, 64*c.k*min(c.a.Size(), 4)/4/128
	if c.d == ir.F16 {
		regsD = c.n / 4
	}
	var declared strings.Builder
	kind := map[bool]string{true: ".f32", false: ".b32"}[c.d == ir.F32]
	fmt.Fprintf(&declared, "\t.reg %s %%d<%d>;\n\t.reg .b32 %%a<%d>;\n", kind, regsD, regsA+1)
	product := declared.String() + "\tsetp.eq.u32 %p1, %r0, 0;\n\tmov.u64 %rd5, 4611686293305294848;\n\twgmma.fence.sync.aligned;\n\t" +
		c.instruction(names("%%d%d", regsD), names("%%a%d", regsA), "%rd5", "%rd5") +
		"\n\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n\tst.global" + kind + " [%rd0], %d0;"
	g := pipeline{r: r, stages: 1 + r.IntN(4), trips: 1 + r.IntN(40)}
	return []string{
		g.kernel(1 + r.IntN(2)),
		asyncKernel("", product),
		asyncKernel("", initBar+`
	@!%p7 bra copied;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 384;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 256, [%r63];
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r62+1024], [%rd2, {%r60, %r61}], [%r63];
	cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd2, {%r60, %r61}];
copied:`+waitBar+`
	mov.u32 %r59, 256;`+copyOut+`
	fence.proxy.async;
	bar.sync 0;
	cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r62], 64;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [%r62], 64;
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r60, %r61}], [%r62+1024];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 0;
	mbarrier.inval.shared::cta.b64 [%r63];`),
		asyncKernel("", `
	@%p7 mbarrier.init.shared::cta.b64 [%r63], 64;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	mov.u32 %r20, %cluster_ctarank;
	xor.b32 %r21, %r20, 1;
	mapa.shared::cluster.u32 %r22, %r62, %r21;
	mapa.shared::cluster.u32 %r23, %r63, %r21;
	st.shared::cluster.u32 [%r22], %r20;
	atom.shared::cluster.add.u32 %r24, [%r22+4], 1;
	mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];
	mbarrier.arrive_drop.shared::cta.b64 %rd3, [%r63];
	mbarrier.test_wait.shared::cta.b64 %p0, [%r63], %rd3;
	elect.sync %r25|%p2, -1;
	@%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r63], 16;
	ld.shared::cluster.u32 %r26, [%r22];
	setmaxnreg.dec.sync.aligned.u32 40;
	stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r62], {%r20, %r21};
	st.global.u32 [%rd0], %r26;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;`),
		asyncKernel("", `
	add.s32 %r20, %r62, 2048;
	tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r20], %rd1;
	tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r20], 1;
	tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r20], 0, 8;
	tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r20], 3;
	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [%r20], 128;
	fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;`),
	}
}

// runAsyncMutant builds and runs a text; it must not panic.
func runAsyncMutant(text string) (ran bool) {
	k := ptxtest.Build(text)
	if k == nil {
		return false
	}
	for _, mode := range []Mode{Full, Slice} {
		prog, err := Compile(k, mode)
		if err != nil {
			continue
		}
		mem := memory.New(1 << 20)
		if mem.LoadModule(k) != nil {
			return false
		}
		params := make([]byte, memory.ParamBytes(k))
		for i, p := range k.Params {
			addr, err := mem.Alloc(memory.Buffer{Name: fmt.Sprint(i), Elem: ir.U32, Count: 2048, Fill: memory.Random(1, 1000)})
			switch {
			case err != nil:
			case p.Size == 8:
				element.Store(params[p.Offset:], addr, 8)
			case p.Size == tensormap.Bytes:
				m := tensormap.Map{Address: addr, Elem: tensormap.F16, Rank: 2, Shape: [5]uint32{64, 20}, Strides: [4]uint64{128}, Box: [5]int{8, 8}, ElementStrides: [5]int{1, 1}}
				raw := m.Encode()
				copy(params[p.Offset:], raw[:])
			}
		}
		l := Launch{Grid: Dim3{2, 1, 1}, CTA: Dim3{128, 1, 1}, Cluster: Dim3{2, 1, 1}, Params: params}
		NewRunner(prog).Run(l, mem, 1, Options{Races: true, Uninitialised: mode == Full, LoopSample: 2, StepLimit: 400}, newAsyncJournal())
		ran = true
	}
	return ran
}

// TestAsyncMutants runs kernels with random damage: nothing may panic or hang.
func TestAsyncMutants(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ran := 0
	const rounds = 600
	for round := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		sources := asyncSources(r)
		text := ptxtest.Mutate(r, sources[r.IntN(len(sources))])
		func() {
			defer func() {
				if e := recover(); e != nil {
					t.Errorf("seed %d round %d: %v in\n%s", seed, round, e, text)
					panic(e)
				}
			}()
			if runAsyncMutant(text) {
				ran++
			}
		}()
	}
	if ran < rounds/4 {
		t.Errorf("only %d of %d mutants could be run", ran, rounds)
	}
	t.Logf("%d of %d ran", ran, rounds)
}
