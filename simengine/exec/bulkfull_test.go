package exec

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
)

// asyncKernel wraps a body: %r0 is the thread's index, %rd0 and %rd1 point to the buffers out and in,
// %rd2 is the generic address of a tensor map, bar the place of mbarriers, and tile a place for data.
func asyncKernel(attributes, body string) string {
	return `.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128], .param .u32 x, .param .u32 y)
` + attributes + `
{
	.reg .pred %p<8>;
	.reg .b32 %r<64>;
	.reg .f32 %f<40>;
	.reg .b64 %rd<16>;
	.shared .align 1024 .b8 tile[16384];
	.shared .align 16 .b8 bar[64];
	ld.param.u64 %rd0, [out];
	ld.param.u64 %rd1, [in];
	mov.b64 %rd2, map;
	cvta.param.u64 %rd2, %rd2;
	ld.param.u32 %r60, [x];
	ld.param.u32 %r61, [y];
	mov.u32 %r0, %tid.x;
	mov.u32 %r62, tile;
	mov.u32 %r63, bar;
	setp.eq.u32 %p7, %r0, 0;
` + body + `
	ret;
}
`
}

// asyncRun is a run of an asyncKernel.
type asyncRun struct {
	attributes, body string
	threads, ctas    int
	cluster          Dim3
	in, out          []byte
	m                *tensormap.Map // of in, or of out if toOut
	toOut            bool
	x, y             int32
}

// run runs all CTAs in Full mode with all checks, and returns what out is then.
func (a *asyncRun) run(t testing.TB) ([]byte, error) {
	t.Helper()
	k := buildKernel(t, "k.ptx", []byte(asyncKernel(a.attributes, a.body)))
	m := memory.New(0)
	address := map[string]uint64{}
	for _, b := range []memory.Buffer{{Name: "out", Elem: ir.B8, Count: int64(max(len(a.out), 16)), Fill: memory.Bytes(a.out)}, {Name: "in", Elem: ir.B8, Count: int64(max(len(a.in), 16)), Fill: memory.Bytes(a.in)}} {
		base, err := m.Alloc(b)
		if err != nil {
			t.Fatal(err)
		}
		address[b.Name] = base
	}
	raw := [tensormap.Bytes]byte{}
	if a.m != nil {
		tm := *a.m
		tm.Address += address[map[bool]string{false: "in", true: "out"}[a.toOut]]
		raw = tm.Encode()
	}
	params, err := m.BindParams(k, []memory.Arg{{Buffer: "out"}, {Buffer: "in"}, {Bytes: raw[:]}, {Elem: ir.S32, Scalar: float64(a.x)}, {Elem: ir.S32, Scalar: float64(a.y)}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(k, Full)
	if err != nil {
		return nil, err
	}
	l := Launch{Grid: Dim3{max(a.ctas, 1), 1, 1}, CTA: Dim3{max(a.threads, 32), 1, 1}, Cluster: a.cluster, Params: params}
	r := NewRunner(p)
	ran := map[int64]bool{}
	for cta := range l.Grid.Count() {
		first := Together(p, l, cta)[0]
		if ran[first] {
			continue
		}
		ran[first] = true
		if err := r.Run(l, m, cta, Options{Races: true, Uninitialised: true, StepLimit: 20000}, nil); err != nil {
			return nil, err
		}
	}
	return m.ReadBuffer("out")
}

// Pieces of kernels: thread 0 makes an mbarrier of one arrival, and all wait for its phase.
const (
	initBar = `
	@%p7 mbarrier.init.shared::cta.b64 [%r63], 1;
	bar.sync 0;`
	waitBar = `
wait0:
	mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r63], 0;
	@!%p0 bra wait0;`
	// copyOut stores the first %r59 bytes of the tile, which is a multiple of 4.
	copyOut = `
	shl.b32 %r10, %r0, 2;
	mov.u32 %r12, %ntid.x;
	shl.b32 %r12, %r12, 2;
out0:
	setp.ge.u32 %p1, %r10, %r59;
	@%p1 bra out1;
	add.s32 %r11, %r62, %r10;
	ld.shared.u32 %r13, [%r11];
	cvt.u64.u32 %rd10, %r10;
	add.s64 %rd10, %rd10, %rd0;
	st.global.u32 [%rd10], %r13;
	add.s32 %r10, %r10, %r12;
	bra out0;
out1:`
	// fillTile stores the first %r59 bytes of in to the tile.
	fillTile = `
	shl.b32 %r10, %r0, 2;
	mov.u32 %r12, %ntid.x;
	shl.b32 %r12, %r12, 2;
in0:
	setp.ge.u32 %p1, %r10, %r59;
	@%p1 bra in1;
	cvt.u64.u32 %rd10, %r10;
	add.s64 %rd10, %rd10, %rd1;
	ld.global.u32 %r13, [%rd10];
	add.s32 %r11, %r62, %r10;
	st.shared.u32 [%r11], %r13;
	add.s32 %r10, %r10, %r12;
	bra in0;
in1:`
)

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// tensor2 is a random tensor of two dimensions and a box of it that fits in the tile.
func tensor2(r *rand.Rand, elem tensormap.Elem) (m tensormap.Map, bytes int) {
	size := elem.Bytes()
	m = tensormap.Map{Elem: elem, Rank: 2, ElementStrides: [5]int{1, 1 + r.IntN(2)}, Swizzle: []int{0, 32, 64, 128}[r.IntN(4)]}
	row := 16 * (1 + r.IntN(4))
	if m.Swizzle > 0 {
		row = m.Swizzle // as kernels have it
	}
	m.Box = [5]int{row / size, 1 + r.IntN(20)}
	m.Shape = [5]uint32{uint32(1 + r.IntN(2*row/size)), uint32(1 + r.IntN(30))}
	m.Strides[0] = uint64((int(m.Shape[0])*size+15)&^15 + 16*r.IntN(2))
	m.Address = uint64(16 * r.IntN(3))
	m.FillNaN = elem.IsFloat() && r.IntN(2) == 0
	return m, int(m.Address) + int(m.Strides[0])*int(m.Shape[1])
}

// swizzled is where byte i of a box lies from its start on.
func swizzled(i, swizzle int) int {
	if swizzle == 0 {
		return i
	}
	return i/128*128 + (i/16%8^i/128%(swizzle/16))*16 + i%16
}

// TestTensorLoads compares boxes that a kernel loads with the definition.
func TestTensorLoads(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for n := range 60 {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		m, size := tensor2(r, []tensormap.Elem{tensormap.U8, tensormap.F16, tensormap.F32, tensormap.BF16, tensormap.S64}[r.IntN(5)])
		a := &asyncRun{in: randomBytes(r, size), m: &m, threads: 64, x: int32(r.IntN(int(m.Shape[0])+8) - 4), y: int32(r.IntN(int(m.Shape[1])+8) - 4)}
		box := m.BoxBytes()
		span := box
		if m.Swizzle > 0 {
			span = (box + 127) &^ 127
		}
		a.out = make([]byte, span)
		a.body = initBar + fmt.Sprintf(`
	mov.u32 %%r59, %d;
	@!%%p7 bra copied;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r63], %d;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%%r62], [%%rd2, {%%r60, %%r61}], [%%r63];
copied:`, span, box) + waitBar + copyOut
		got, err := a.run(t)
		if err != nil {
			t.Fatalf("run %d: %+v at %d, %d: %v", n, m, a.x, a.y, err)
		}
		want := make([]byte, span)
		es := m.Elem.Bytes()
		rows := (m.Box[1] + m.ElementStrides[1] - 1) / m.ElementStrides[1]
		for row := range rows {
			for col := range m.Box[0] {
				gx, gy := int(a.x)+col, int(a.y)+row*m.ElementStrides[1]
				for b := range es {
					v := byte(m.Fill() >> (8 * b))
					if gx >= 0 && gy >= 0 && gx < int(m.Shape[0]) && gy < int(m.Shape[1]) {
						v = a.in[int(m.Address)+gy*int(m.Strides[0])+gx*es+b]
					}
					want[swizzled((row*m.Box[0]+col)*es+b, m.Swizzle)] = v
				}
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("run %d: %+v at %d, %d: got\n%x\nwant\n%x", n, m, a.x, a.y, got, want)
		}
	}
}

// TestTensorStores compares boxes that a kernel stores, or adds, with the definition.
func TestTensorStores(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for n := range 60 {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		m, size := tensor2(r, []tensormap.Elem{tensormap.U32, tensormap.F16, tensormap.F32, tensormap.U64}[r.IntN(4)])
		m.FillNaN, m.ElementStrides = false, [5]int{1, 1}
		reduce := r.IntN(2) == 0
		box := m.BoxBytes()
		span := (box + 127) &^ 127
		es := m.Elem.Bytes()
		number := func(n int) []byte { // small numbers of the type
			b := make([]byte, n)
			for i := 0; i+es <= n; i += es {
				element.Store(b[i:], encodeAny(m.Elem.Type(), float64(r.IntN(50))), es)
			}
			return b
		}
		a := &asyncRun{in: number(span), out: number(size), m: &m, toOut: true, threads: 64, x: int32(r.IntN(int(m.Shape[0])+8) - 4), y: int32(r.IntN(int(m.Shape[1])+8) - 4)}
		op := "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
		if reduce {
			op = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group"
		}
		a.body = fmt.Sprintf("\n\tmov.u32 %%r59, %d;", span) + fillTile + fmt.Sprintf(`
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@!%%p7 bra stored;
	%s [%%rd2, {%%r60, %%r61}], [%%r62];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
stored:`, op)
		got, err := a.run(t)
		if err != nil {
			t.Fatalf("run %d: %+v at %d, %d: %v", n, m, a.x, a.y, err)
		}
		want := bytes.Clone(a.out)
		for row := range m.Box[1] {
			for col := range m.Box[0] {
				gx, gy := int(a.x)+col, int(a.y)+row
				if gx < 0 || gy < 0 || gx >= int(m.Shape[0]) || gy >= int(m.Shape[1]) {
					continue
				}
				at := want[int(m.Address)+gy*int(m.Strides[0])+gx*es:]
				v := element.Load(a.in[swizzled((row*m.Box[0]+col)*es, m.Swizzle):], es)
				if reduce {
					d := func(v uint64) float64 {
						if f := alu.DecodeFloat(m.Elem.Type(), false); f != nil {
							return f(v)
						}
						return float64(v)
					}
					v = encodeAny(m.Elem.Type(), d(v)+d(element.Load(at, es)))
				}
				element.Store(at, v, es)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("run %d: %+v at %d, %d, reduce %v: got\n%x\nwant\n%x", n, m, a.x, a.y, reduce, got, want)
		}
	}
}

// words are numbers of 32 bits as bytes.
func words(list ...uint32) []byte {
	var b []byte
	for _, v := range list {
		b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return b
}

func series(n int) []byte {
	var list []uint32
	for i := range n {
		list = append(list, uint32(i))
	}
	return words(list...)
}

// TestAsyncKernels runs small kernels whose results are known.
func TestAsyncKernels(t *testing.T) {
	const bulkIn = `
	@!%p7 bra copied;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 256;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 256, [%r63];
copied:`
	for name, c := range map[string]struct {
		a    asyncRun
		want []byte
	}{
		"bulk load": {asyncRun{threads: 64, in: series(64), out: make([]byte, 256), body: "mov.u32 %r59, 256;" + initBar + bulkIn + waitBar + copyOut}, series(64)},
		"expected after the copy": {asyncRun{threads: 64, in: series(64), out: make([]byte, 256), body: "mov.u32 %r59, 256;" + initBar + `
	@!%p7 bra copied;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 256, [%r63];
	mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r63], 256;
	mbarrier.arrive.shared::cta.b64 _, [%r63];
copied:` + waitBar + copyOut}, series(64)},
		"states and drops": {asyncRun{threads: 64, out: make([]byte, 256), body: `
	@%p7 mbarrier.init.shared::cta.b64 [%r63], 64;
	bar.sync 0;
	mbarrier.arrive.shared::cta.b64 %rd3, [%r63];
again:
	mbarrier.test_wait.shared::cta.b64 %p0, [%r63], %rd3;
	@!%p0 bra again;
	setp.ge.u32 %p1, %r0, 32;
	@%p1 bra dropped;
	mbarrier.arrive.shared::cta.b64 %rd4, [%r63];
more:
	mbarrier.try_wait.shared::cta.b64 %p0, [%r63], %rd4;
	@!%p0 bra more;
	mbarrier.arrive.shared::cta.b64 %rd5, [%r63];
	bra stored;
dropped:
	mbarrier.arrive_drop.shared::cta.b64 %rd5, [%r63];
stored:
	mul.wide.u32 %rd10, %r0, 4;
	add.s64 %rd10, %rd10, %rd0;
	mov.u32 %r5, 7;
	st.global.u32 [%rd10], %r5;`}, bytes.Repeat(words(7), 64)},
		"arrivals by copies": {asyncRun{threads: 32, in: series(32), out: make([]byte, 128), body: `
	@%p7 mbarrier.init.shared::cta.b64 [%r63], 32;
	bar.sync 0;
	shl.b32 %r10, %r0, 2;
	add.s32 %r11, %r62, %r10;
	cvt.u64.u32 %rd10, %r10;
	add.s64 %rd11, %rd10, %rd1;
	cp.async.ca.shared.global [%r11], [%rd11], 4;
	cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r63];` + waitBar + `
	xor.b32 %r10, %r10, 4;
	add.s32 %r11, %r62, %r10;
	ld.shared.u32 %r13, [%r11];
	add.s64 %rd10, %rd10, %rd0;
	st.global.u32 [%rd10], %r13;`}, func() []byte {
			var list []uint32
			for i := range uint32(32) {
				list = append(list, i^1)
			}
			return words(list...)
		}()},
		"multicast": {asyncRun{threads: 32, ctas: 4, cluster: Dim3{4, 1, 1}, in: series(64), out: make([]byte, 4*256), body: "mov.u32 %r59, 256;" + initBar + `
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	mov.u32 %r20, %cluster_ctarank;
	mul.wide.u32 %rd5, %r20, 256;
	add.s64 %rd0, %rd0, %rd5;
	@%p7 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 64;
	setp.eq.u32 %p2, %r20, 2;
	and.pred %p2, %p2, %p7;
	mov.u16 %rs0, 11;
	@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r62], [%rd1], 64, [%r63], %rs0;
	setp.eq.u32 %p3, %r20, 2;
	and.pred %p3, %p3, %p7;
	@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1+64], 64, [%r63];` + waitBar + `
	mov.u32 %r59, 64;` + copyOut}, func() []byte {
			out := make([]byte, 4*256)
			for i := range 4 {
				copy(out[i*256:], series(16))
			}
			copy(out[2*256:], series(64)[64:128])
			return out
		}()},
		"remote arrivals and stores": {asyncRun{threads: 32, ctas: 2, cluster: Dim3{2, 1, 1}, out: make([]byte, 2*128), body: `
	@%p7 mbarrier.init.shared::cta.b64 [%r63], 32;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	mov.u32 %r20, %cluster_ctarank;
	xor.b32 %r21, %r20, 1;
	mapa.shared::cluster.u32 %r22, %r62, %r21;
	mapa.shared::cluster.u32 %r23, %r63, %r21;
	shl.b32 %r10, %r0, 2;
	add.s32 %r22, %r22, %r10;
	mad.lo.u32 %r24, %r20, 1000, %r0;
	st.shared::cluster.u32 [%r22], %r24;
	mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];` + waitBar + `
	add.s32 %r11, %r62, %r10;
	ld.shared.u32 %r13, [%r11];
	getctarank.shared::cluster.u32 %r25, %r22;
	mad.lo.u32 %r13, %r25, 100, %r13;
	mad.lo.u32 %r14, %r20, 128, %r10;
	cvt.u64.u32 %rd10, %r14;
	add.s64 %rd10, %rd10, %rd0;
	st.global.u32 [%rd10], %r13;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;`}, func() []byte {
			var list []uint32
			for rank := range uint32(2) {
				for i := range uint32(32) {
					list = append(list, (1-rank)*1000+i+(1-rank)*100)
				}
			}
			return words(list...)
		}()},
		"copies between CTAs": {asyncRun{threads: 32, ctas: 2, cluster: Dim3{2, 1, 1}, in: series(64), out: make([]byte, 2*128), body: initBar + `
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	mov.u32 %r20, %cluster_ctarank;
	shl.b32 %r10, %r0, 2;
	add.s32 %r11, %r62, %r10;
	mad.lo.u32 %r24, %r20, 1000, %r0;
	st.shared.u32 [%r11+1024], %r24;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	xor.b32 %r21, %r20, 1;
	mapa.shared::cluster.u32 %r22, %r62, %r21;
	mapa.shared::cluster.u32 %r23, %r63, %r21;
	add.s32 %r26, %r62, 1024;
	@%p7 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 128;
	@%p7 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r22], [%r26], 128, [%r23];` + waitBar + `
	ld.shared.u32 %r13, [%r11];
	mad.lo.u32 %r14, %r20, 128, %r10;
	cvt.u64.u32 %rd10, %r14;
	add.s64 %rd10, %rd10, %rd0;
	st.global.u32 [%rd10], %r13;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;`}, func() []byte {
			var list []uint32
			for rank := range uint32(2) {
				for i := range uint32(32) {
					list = append(list, (1-rank)*1000+i)
				}
			}
			return words(list...)
		}()},
		"a map made on the device": {asyncRun{threads: 32, in: series(64), out: make([]byte, 1024), body: initBar + `
	shl.b32 %r10, %r0, 2;
	add.s32 %r11, %r62, %r10;
	mov.u32 %r12, 0;
	st.shared.u32 [%r11+2048], %r12;
	bar.warp.sync -1;
	add.s32 %r20, %r62, 2048;
	@!%p7 bra made;
	tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r20], %rd1;
	tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r20], 1;
	tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r20], 0, 8;
	tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r20], 1, 4;
	tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r20], 0, 16;
	tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r20], 1, 4;
	mov.u64 %rd6, 64;
	tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r20], 0, %rd6;
	tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r20], 0, 1;
	tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r20], 1, 1;
	tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r20], 2;
	tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r20], 0;
	tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r20], 0;
	tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r20], 0;
made:
	bar.warp.sync -1;
	add.s64 %rd7, %rd0, 512;
	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd7], [%r20], 128;
	fence.proxy.tensormap::generic.acquire.gpu [%rd7], 128;
	mov.u32 %r21, 4;
	mov.u32 %r22, 1;
	mov.u32 %r59, 128;
	@!%p7 bra copied;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 128;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd7, {%r21, %r22}], [%r63];
copied:` + waitBar + copyOut}, func() []byte {
			var list []uint32
			for row := range uint32(4) {
				for col := range uint32(8) {
					v := (row+1)*16 + col + 4
					if row == 3 {
						v = 0
					}
					list = append(list, v)
				}
			}
			return words(list...)
		}()},
	} {
		c.a.body = strings.Replace(c.a.body, "mov.u16 %rs0", ".reg .b16 %rs<2>;\n\tmov.u16 %rs0", 1)
		got, err := c.a.run(t)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(got[:len(c.want)], c.want) {
			t.Errorf("%s: got\n%x\nwant\n%x", name, got[:len(c.want)], c.want)
		}
	}
}

// TestAsyncFaults runs kernels that do something wrong. Each is named, and none hangs.
func TestAsyncFaults(t *testing.T) {
	const load = `
	@!%p7 bra copied;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 256;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 256, [%r63];
copied:`
	const store = `
	cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r62], 256;
	cp.async.bulk.commit_group;`
	in := series(256)
	run := func(body string) asyncRun {
		return asyncRun{threads: 64, in: in, out: make([]byte, 4096), body: "mov.u32 %r59, 256;" + body}
	}
	pair := func(body string) asyncRun {
		a := run(body)
		a.ctas, a.cluster = 2, Dim3{2, 1, 1}
		return a
	}
	small := tensormap.Map{Elem: tensormap.U32, Rank: 2, Shape: [5]uint32{16, 16}, Strides: [4]uint64{64}, Box: [5]int{8, 4}, ElementStrides: [5]int{1, 1}}
	tensor := func(m tensormap.Map, body string) asyncRun {
		a := run(initBar + body)
		a.m = &m
		return a
	}
	const box = `
	@%p7 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 128;
	@%p7 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd2, {%r60, %r61}], [%r63];`
	large := small
	large.Shape[1] = 1 << 20
	none := small
	none.Interleave = 16
	accumulate := func(after string) asyncRun {
		var regs []string
		for i := range 4 {
			regs = append(regs, fmt.Sprintf("%%f%d", i))
		}
		var clear strings.Builder
		for i := range 4 {
			fmt.Fprintf(&clear, "\tmov.f32 %%f%d, 0f00000000;\n", i)
		}
		a := run(clear.String() + `
	mov.u64 %rd5, 4611686293305294848;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {` + strings.Join(regs, ", ") + `}, %rd5, %rd5, 1, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;` + after)
		a.threads = 128
		return a
	}
	for name, c := range map[string]struct {
		a    asyncRun
		kind fault.Kind
		want string
	}{
		"a phase that never completes": {run(initBar + waitBar), fault.BarrierDivergence, "waits for a phase of parity 0 of the mbarrier at address 0x4000, which is in phase 0 with 1 of 1 arrivals and 0 bytes to come"},
		"bytes that never come": {run(initBar + `
	@%p7 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 512;
	@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 256, [%r63];` + waitBar), fault.BarrierDivergence, "0 of 1 arrivals and 256 bytes to come"},
		"a state that never completes": {run(`
	@%p7 mbarrier.init.shared::cta.b64 [%r63], 100;
	bar.sync 0;
	mbarrier.arrive.shared::cta.b64 %rd3, [%r63];
s:
	mbarrier.test_wait.shared::cta.b64 %p0, [%r63], %rd3;
	@!%p0 bra s;`), fault.BarrierDivergence, "waits for phase 0 of the mbarrier"},
		"too many arrivals":             {run(initBar + "\n\tmbarrier.arrive.shared::cta.b64 _, [%r63+8];"), fault.BarrierDivergence, "no mbarrier was initialised there"},
		"more arrivals than there":      {run("@%p7 mbarrier.init.shared::cta.b64 [%r63], 2;\nbar.sync 0;\n@%p7 mbarrier.arrive.shared::cta.b64 _, [%r63], 3;"), fault.BarrierDivergence, "3 arrivals at an mbarrier that expects 2 more in phase 0"},
		"an mbarrier out of bounds":     {run("@%p7 mbarrier.init.shared::cta.b64 [%r63+64], 1;"), fault.OutOfBounds, "bytes of shared memory"},
		"a misaligned mbarrier":         {run("@%p7 mbarrier.init.shared::cta.b64 [%r63+4], 1;"), fault.Misaligned, "multiple of 8"},
		"an mbarrier of 0":              {run("@%p7 mbarrier.init.shared::cta.b64 [%r63], 0;"), fault.BarrierDivergence, "an mbarrier of 0 arrivals"},
		"too many bytes":                {run(initBar + "\n\t@%p7 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r63], 1048576;"), fault.BarrierDivergence, "transaction count of 1048576"},
		"a tile that is not waited for": {run(initBar + load + "\n\tbar.sync 0;" + copyOut), fault.Race, "reads what is written by thread 0 in `cp.async.bulk"},
		"a write to a tile in flight":   {run(initBar + load + "\n\tbar.sync 0;\n\tst.shared.u32 [%r62], %r0;"), fault.Race, "no wait for the phase of the copy's mbarrier between"},
		"two copies to a tile": {run(initBar + `
	@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 256, [%r63];
	@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62+128], [%rd1], 256, [%r63];`), fault.Race, "writes what is written by thread 0"},
		"a store without a fence": {run(fillTile + `
	bar.sync 0;
	@!%p7 bra stored;` + store + `
stored:`), fault.Race, "no fence.proxy.async between"},
		"a write to what a store reads": {run(fillTile + `
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@!%p7 bra stored;` + store + `
	st.shared.u32 [%r62+16], %r0;
stored:`), fault.Race, "no cp.async.bulk.wait_group between"},
		"a load over what a store reads": {run(initBar + fillTile + `
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@!%p7 bra stored;` + store + `
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 256, [%r63];
stored:`), fault.Race, "no cp.async.bulk.wait_group between"},
		"a copy over what others read": {run(initBar + load + waitBar + `
	setp.lt.u32 %p1, %r0, 32;
	@%p1 bra first;` + copyOut + `
	bra last;
first:
	@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 256, [%r63];
last:`), fault.Race, "by thread"},
		"a copy past a buffer":       {run(initBar + "\n\t@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 2048, [%r63];"), fault.OutOfBounds, "across the end of in"},
		"a copy past shared memory":  {run(initBar + "\n\t@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62+16384], [%rd1], 1024, [%r63];"), fault.OutOfBounds, "bytes of shared memory"},
		"a copy of odd bytes":        {run(initBar + "\n\tmov.u32 %r5, 24;\n\t@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], %r5, [%r63];"), fault.Misaligned, "a copy of 24 bytes"},
		"a copy from an odd address": {run(initBar + "\n\t@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1+8], 16, [%r63];"), fault.Misaligned, "multiple of 16"},
		"no map":                     {tensor(tensormap.Map{}, "\n\tmov.u64 %rd2, %rd1;"+box), fault.Unsupported, "what is read as a tensor map is none"},
		"a map that is incomplete":   {tensor(tensormap.Map{Elem: tensormap.U32}, box), fault.Unsupported, "a tensor map of rank 0"},
		"interleaved":                {tensor(none, box), fault.Unsupported, "interleave of 16 bytes, which is not modelled"},
		"another rank": {tensor(small, `
	@%p7 cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd2, {%r60, %r61, %r61}], [%r63];`), fault.Unsupported, "rank is not the instruction's"},
		"a tensor past its buffer":        {tensor(large, "\n\tmov.u32 %r61, 1000;"+box), fault.OutOfBounds, "does not lie in one buffer"},
		"a box at an odd address":         {tensor(small, "\n\tadd.s32 %r62, %r62, 64;"+box), fault.Misaligned, "multiple of 128"},
		"accumulators read":               {accumulate("\n\tadd.f32 %f5, %f1, %f2;\n\twgmma.wait_group.sync.aligned 0;"), fault.Race, "no wgmma.wait_group between"},
		"accumulators stored":             {accumulate("\n\tst.global.f32 [%rd0], %f3;\n\twgmma.wait_group.sync.aligned 0;"), fault.Race, "register %f3"},
		"products of a part of a warp":    {accumulate("\n\tsetp.lt.u32 %p1, %r0, 5;\n\t@%p1 wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f8,%f9,%f10,%f11}, %rd5, %rd5, 1, 1, 1, 0, 0;"), fault.BarrierDivergence, "without the others"},
		"a product of what is not fenced": {run("\n\tshl.b32 %r10, %r0, 2;\n\tadd.s32 %r11, %r62, %r10;\n\tst.shared.u32 [%r11], %r0;\n\tbar.sync 0;" + strings.TrimPrefix(accumulate("").body, "mov.u32 %r59, 256;")), fault.Race, "no fence.proxy.async between"},
		"a matrix out of bounds":          {accumulate("\n\tmov.u64 %rd5, 4611686293305311231;\n\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f8,%f9,%f10,%f11}, %rd5, %rd5, 1, 1, 1, 0, 0;"), fault.OutOfBounds, "bytes of shared memory"},
		"a rank that is none":             {pair("mov.u32 %r5, 2;\n\tmapa.shared::cluster.u32 %r6, %r62, %r5;"), fault.OutOfBounds, "rank 2 of a cluster of 2 CTAs"},
		"a cluster that does not meet": {pair(`
	mov.u32 %r20, %cluster_ctarank;
	setp.eq.u32 %p1, %r20, 0;
	@%p1 bra other;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	bra done;
other:` + initBar + waitBar + `
done:`), fault.BarrierDivergence, "waits at the barrier of the cluster (2 of 4 warps there)"},
		"no arrival before a wait": {pair("barrier.cluster.wait.acquire.aligned;"), fault.BarrierDivergence, "at which it did not arrive"},
	} {
		_, err := c.a.run(t)
		var f *fault.Fault
		if !errors.As(err, &f) {
			t.Errorf("%s: %v, want a fault", name, err)
			continue
		}
		if f.Kind != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.kind, c.want)
		}
	}
}
