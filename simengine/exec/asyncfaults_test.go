package exec

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
)

// A bulk reduction combines elements of shared memory. Two may be in flight to the same place; a plain copy and a
// reduction may not. What threads wrote is behind a fence.
func TestBulkReductionsToShared(t *testing.T) {
	reduce := func(second, fence string) *asyncRun {
		return &asyncRun{threads: 32, out: make([]byte, 16), body: initBar + `
	mov.u32 %r59, 16;
	shl.b32 %r22, %r0, 2;
	add.u32 %r22, %r22, %r62;
	mov.u32 %r20, 5;
	st.shared.u32 [%r22], %r20;
	st.shared.u32 [%r22+1024], %r0;
	` + fence + `
	bar.sync 0;
	add.u32 %r23, %r62, 1024;
	@%p7 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 32;
	@%p7 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r62], [%r23], 16, [%r63];
	@%p7 ` + second + `.shared::cluster.shared::cta.mbarrier::complete_tx::bytes` + map[bool]string{true: ".add.u32"}[second != "cp.async.bulk"] + ` [%r62], [%r23], 16, [%r63];` +
			waitBar + copyOut}
	}
	got, err := reduce("cp.reduce.async.bulk", "fence.proxy.async;").run(t)
	if want := words(5, 7, 9, 11); err != nil || !bytes.Equal(got, want) {
		t.Errorf("two reductions: %v, %v, want %v", got, err, want)
	}
	if _, err := reduce("cp.async.bulk", "fence.proxy.async;").run(t); !isFault(err, fault.Race) {
		t.Errorf("a copy over a reduction in flight: %v", err)
	}
	if _, err := reduce("cp.reduce.async.bulk", "").run(t); !isFault(err, fault.Race) {
		t.Errorf("a reduction of what threads wrote, without a fence: %v", err)
	}
}

func isFault(err error, kind fault.Kind) bool {
	var f *fault.Fault
	return errors.As(err, &f) && f.Kind == kind
}

// Each thread that stores a tile in bulk has to wait before the tile is written, not the last alone.
func TestEveryReaderIsWaitedFor(t *testing.T) {
	for wait, want := range map[string]bool{"%r0, 0": true, "%r0, 32": true, "%r20, 0": false} {
		a := asyncRun{threads: 64, out: make([]byte, 256), body: `
	and.b32 %r20, %r0, 31;
	setp.eq.u32 %p1, %r20, 0;
	@%p7 st.shared.u32 [%r62], %r20;
	fence.proxy.async;
	bar.sync 0;
	@!%p1 bra past;
	cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r62], 16;
	cp.async.bulk.commit_group;
	setp.eq.u32 %p2, ` + wait + `;
	@%p2 cp.async.bulk.wait_group 0;
past:
	bar.sync 0;
	@%p7 st.shared.u32 [%r62], %r20;`}
		if _, err := a.run(t); isFault(err, fault.Race) != want || !want && err != nil {
			t.Errorf("where %s waits: %v", wait, err)
		}
	}
}

// A copy into what another CTA of the cluster still reads names the reader's CTA.
func TestReaderOfAnotherCTA(t *testing.T) {
	a := asyncRun{ctas: 2, cluster: Dim3{2, 1, 1}, threads: 32, out: make([]byte, 256), in: make([]byte, 256), body: initBar + `
	mov.u32 %r20, %cluster_ctarank;
	setp.eq.u32 %p1, %r20, 1;
	and.pred %p2, %p1, %p7;
	@!%p2 bra past;
	st.shared.v4.u32 [%r62], {%r20, %r20, %r20, %r20};
	fence.proxy.async;
	cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r62], 16;
	cp.async.bulk.commit_group;
past:
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	@%p1 bra end;
	mov.u32 %r21, 1;
	mapa.shared::cluster.u32 %r22, %r62, %r21;
	mapa.shared::cluster.u32 %r23, %r63, %r21;
	@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r22], [%rd1], 16, [%r23];
end:
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;`}
	_, err := a.run(t)
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind != fault.Race || f.CTA != 0 || f.Other.CTA != 1 || f.Other.Thread != 0 || !strings.Contains(err.Error(), "by thread 0 of CTA 1") {
		t.Errorf("%v", err)
	}
}

// Lanes of a warp that wait for different mbarriers see what was written before the arrivals at each.
func TestLanesAtDifferentMbarriers(t *testing.T) {
	for _, first := range []string{"%r20", "%r21"} {
		a := asyncRun{threads: 96, out: make([]byte, 64), body: `
	@%p7 mbarrier.init.shared::cta.b64 [%r63], 32;
	@%p7 mbarrier.init.shared::cta.b64 [%r63+8], 32;
	bar.sync 0;
	shr.u32 %r10, %r0, 5;
	setp.eq.u32 %p1, %r10, 0;
	@%p1 bra reader;
	setp.eq.u32 %p2, %r0, 32;
	mov.u32 %r11, 7;
	@%p2 st.shared.u32 [%r62], %r11;
	setp.eq.u32 %p3, %r0, 64;
	@%p3 st.shared.u32 [%r62+4], %r11;
	sub.u32 %r12, %r10, 1;
	shl.b32 %r12, %r12, 3;
	add.u32 %r12, %r12, %r63;
	mbarrier.arrive.shared::cta.b64 _, [%r12];
	bra end;
reader:
	and.b32 %r20, %r0, 1;
	xor.b32 %r21, %r20, 1;
	shl.b32 %r22, ` + first + `, 3;
	add.u32 %r22, %r22, %r63;
w:
	mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r22], 0;
	@!%p0 bra w;
	bar.warp.sync 0xffffffff;
	ld.shared.u32 %r30, [%r62];
	ld.shared.u32 %r31, [%r62+4];
	add.u32 %r30, %r30, %r31;
	@%p7 st.global.u32 [%rd0], %r30;
end:`}
		if out, err := a.run(t); err != nil || !bytes.Equal(out[:4], words(14)) {
			t.Errorf("lane 0 at mbarrier %s: %v, %v", first, out, err)
		}
	}
}

// A multicast to no CTA is named.
func TestMulticastToNone(t *testing.T) {
	a := asyncRun{ctas: 2, cluster: Dim3{2, 1, 1}, threads: 32, out: make([]byte, 16), in: words(1, 2, 3, 4), body: `
	.reg .b16 %rs<2>;` + initBar + `
	mov.u16 %rs0, 0;
	@%p7 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 16;
	@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r62], [%rd1], 16, [%r63], %rs0;` + waitBar}
	if _, err := a.run(t); !isFault(err, fault.Unsupported) || !strings.Contains(err.Error(), "CTA mask 0") {
		t.Errorf("%v", err)
	}
}

// globals is an observer that notes the first lane's address of each access to device memory.
type globals struct{ addr []uint64 }

func (g *globals) Step(int, int, uint32)  {}
func (g *globals) Repeat(int, int, int64) {}
func (g *globals) Access(_, _ int, space ir.Space, _ int, _ uint32, addr *[WarpSize]uint64) {
	if space == ir.Global {
		g.addr = append(g.addr, addr[0])
	}
}

// passedIndex is a kernel of which a thread passes an index on, read from the shared memory of a state space.
func passedIndex(space string) string {
	address := map[string]string{"shared": "%r62", "shared::cluster": "%r22"}[space]
	return asyncKernel("", `
	setp.eq.u32 %p1, %r0, 63;
	mov.u32 %r20, 100;
	@%p1 st.shared.u32 [%r62], %r20;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	mov.u32 %r21, %cluster_ctarank;
	mapa.shared::cluster.u32 %r22, %r62, %r21;
	ld.`+space+`.u32 %r23, [`+address+`];
	mul.wide.u32 %rd5, %r23, 4;
	add.s64 %rd5, %rd5, %rd0;
	st.global.u32 [%rd5], %r23;`)
}

func asyncParams(t *testing.T, k *ir.Kernel) (m *memory.Device, out uint64, params []byte) {
	t.Helper()
	m = memory.New(0)
	out, err := m.Alloc(memory.Buffer{Name: "out", Elem: ir.U32, Count: 4096, Fill: memory.Constant(0)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Alloc(memory.Buffer{Name: "in", Elem: ir.U32, Count: 4096, Fill: memory.Constant(0)}); err != nil {
		t.Fatal(err)
	}
	params, err = m.BindParams(k, []memory.Arg{{Buffer: "out"}, {Buffer: "in"}, {Bytes: make([]byte, tensormap.Bytes)}, {Elem: ir.S32}, {Elem: ir.S32}})
	if err != nil {
		t.Fatal(err)
	}
	return m, out, params
}

// A slice waits for what other warps pass on, whatever the state space it is read through.
func TestSliceThroughClusterWindow(t *testing.T) {
	for _, space := range []string{"shared::cluster", "shared"} {
		k := buildKernel(t, "k.ptx", []byte(passedIndex(space)))
		for _, mode := range []Mode{Full, Slice} {
			m, out, params := asyncParams(t, k)
			p, err := Compile(k, mode)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{1, 2} {
				var g globals
				err := NewRunner(p).Run(Launch{Grid: Dim3{2, 1, 1}, CTA: Dim3{64, 1, 1}, Cluster: Dim3{size, 1, 1}, Params: params}, m, 0, Options{}, &g)
				if err != nil || len(g.addr) == 0 {
					t.Fatalf("%s, %v, clusters of %d: %v, %d accesses", space, mode, size, err, len(g.addr))
				}
				for _, a := range g.addr {
					if a != out+400 {
						t.Errorf("%s, %v, clusters of %d: byte %d of out, want 400", space, mode, size, a-out)
					}
				}
			}
		}
	}
}

// A runner tells the observer of the CTA that it runs, whatever cluster it ran before.
func TestRunnerAfterClusters(t *testing.T) {
	k := buildKernel(t, "k.ptx", []byte(passedIndex("shared")))
	m, _, params := asyncParams(t, k)
	p, err := Compile(k, Slice)
	if err != nil {
		t.Fatal(err)
	}
	r := NewRunner(p)
	for _, size := range []int{2, 1, 2} {
		for cta := range int64(2) {
			var g globals
			if err := r.Run(Launch{Grid: Dim3{2, 1, 1}, CTA: Dim3{64, 1, 1}, Cluster: Dim3{size, 1, 1}, Params: params}, m, cta, Options{}, &g); err != nil || len(g.addr) != 2 {
				t.Errorf("CTA %d, clusters of %d: %d accesses, want 2; %v", cta, size, len(g.addr), err)
			}
		}
	}
}

// Launches that cannot be are refused, and say nothing of what runs together.
func TestTogetherOfBadLaunches(t *testing.T) {
	k := buildKernel(t, "k.ptx", []byte(passedIndex("shared")))
	m, _, params := asyncParams(t, k)
	p, err := Compile(k, Full)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []Dim3{{3, 1, 1}, {1 << 20, 1 << 20, 1 << 10}, {1 << 62, 4, 1}, {-1, 1, 1}, {2, -5, 1}} {
		l := Launch{Grid: Dim3{8, 1, 1}, CTA: Dim3{64, 1, 1}, Cluster: size, Params: params}
		if list := Together(p, l, 5); len(list) != 1 || list[0] != 5 {
			t.Errorf("%v: %v", size, list)
		}
		if err := NewRunner(p).Run(l, m, 5, Options{}, nil); err == nil {
			t.Errorf("clusters of %v run", size)
		}
	}
}

// Two parameters that point into one buffer are the same buffer, wherever they point.
func TestDistinctByBuffer(t *testing.T) {
	k := buildKernel(t, "k.ptx", []byte(asyncKernel("", "")))
	m, out, _ := asyncParams(t, k)
	box := tensormap.Map{Elem: tensormap.F16, Rank: 1, Shape: [5]uint32{64}, Box: [5]int{8}, ElementStrides: [5]int{1}}
	for _, offset := range []int64{0, 16, 4096 * 4} {
		for name, second := range map[string]memory.Arg{"the same": {Buffer: "out", Offset: offset}, "another": {Buffer: "in", Offset: offset}, "a number": {Elem: ir.U64, Scalar: 7}} {
			params, err := m.BindParams(k, []memory.Arg{{Buffer: "out"}, second, {Bytes: make([]byte, tensormap.Bytes)}, {Elem: ir.S32}, {Elem: ir.S32}})
			if err != nil {
				t.Fatal(err)
			}
			if err := checkDistinct(m, k, params); (err != nil) != (name == "the same") {
				t.Errorf("%s buffer at %d: %v", name, offset, err)
			}
		}
		box.Address = out + uint64(offset)
		raw := box.Encode()
		params, err := m.BindParams(k, []memory.Arg{{Buffer: "out"}, {Buffer: "in"}, {Bytes: raw[:]}, {Elem: ir.S32}, {Elem: ir.S32}})
		if err != nil {
			t.Fatal(err)
		}
		if checkDistinct(m, k, params) == nil {
			t.Errorf("a map of out at %d is taken for another buffer", offset)
		}
	}
}
