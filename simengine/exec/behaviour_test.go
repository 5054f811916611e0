package exec

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// bodyKernel wraps a body: %r0 is the thread's index, %rd3 and %rd4 point to
// its word of the buffers out and in, %rd0 and %rd1 to their starts.
func bodyKernel(decls, body string) string {
	return `.version 8.5
.target sm_90
.address_size 64
` + decls + `
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .pred %p<8>;
	.reg .b32 %r<32>;
	.reg .b64 %rd<16>;
	.shared .align 16 .b8 buf[4096];
	ld.param.u64 %rd0, [out];
	ld.param.u64 %rd1, [in];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd2, %r0, 4;
	add.s64 %rd3, %rd0, %rd2;
	add.s64 %rd4, %rd1, %rd2;
	shl.b32 %r30, %r0, 2;
	mov.u32 %r29, buf;
	add.s32 %r31, %r29, %r30;
` + body + `
	ret;
}
`
}

const outWords = 2048

// launchBody is a launch of one CTA of a bodyKernel, and its memory.
func launchBody(t *testing.T, k *ir.Kernel, threads int) (Launch, *memory.Device) {
	t.Helper()
	m := memory.New(0)
	if err := m.LoadModule(k); err != nil {
		t.Fatal(err)
	}
	for _, b := range []memory.Buffer{{Name: "out", Elem: ir.U32, Count: outWords, Fill: memory.Fill{}}, {Name: "in", Elem: ir.U32, Count: outWords, Fill: memory.Generated(func(i int64) float64 { return float64(i) })}} {
		if _, err := m.Alloc(b); err != nil {
			t.Fatal(err)
		}
	}
	params, err := m.BindParams(k, []memory.Arg{{Buffer: "out"}, {Buffer: "in"}})
	if err != nil {
		t.Fatal(err)
	}
	return Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{threads, 1, 1}, Params: params}, m
}

// runBody runs one CTA of the body in Full mode with all checks; in[i] is i.
func runBody(t *testing.T, decls, body string, threads int) ([]uint32, error) {
	t.Helper()
	k := buildKernel(t, "k.ptx", []byte(bodyKernel(decls, body)))
	l, m := launchBody(t, k, threads)
	if err := NewRunner(compileFor(t, k, Full)).Run(l, m, 0, Options{Races: true, StepLimit: 20000}, nil); err != nil {
		return nil, err
	}
	data, err := m.ReadBuffer("out")
	if err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, outWords)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return out, nil
}

// Lanes of one store may write different values to one word where they are replicas of one element. Other warps may not.
func TestReplicas(t *testing.T) {
	const oneWord = "st.shared.u32 [buf], %r0;"
	for _, c := range []struct {
		name     string
		threads  int
		replicas bool
		races    bool
	}{{"replicas", 32, true, false}, {"no replicas", 32, false, true}, {"two warps", 64, true, true}} {
		k := buildKernel(t, "k.ptx", []byte(bodyKernel("", oneWord)))
		l, m := launchBody(t, k, c.threads)
		l.Replicas = c.replicas
		err := NewRunner(compileFor(t, k, Full)).Run(l, m, 0, Options{Races: true, StepLimit: 20000}, nil)
		var f *fault.Fault
		if races := errors.As(err, &f) && f.Kind == fault.Race; races != c.races {
			t.Errorf("%s: %v, want a race: %v", c.name, err, c.races)
		}
	}
}

// TestBehaviour runs small kernels whose result each thread can be told from
// its index alone.
func TestBehaviour(t *testing.T) {
	for _, c := range []struct {
		name, decls, body string
		threads           int
		want              func(tid uint32) uint32
	}{
		{"nested divergence", "", `
	mov.u32 %r1, 0;
	and.b32 %r2, %r0, 1;
	setp.eq.s32 %p0, %r2, 0;
	@%p0 bra even;
	add.s32 %r1, %r1, 100;
	setp.lt.u32 %p1, %r0, 8;
	@%p1 bra low;
	add.s32 %r1, %r1, 1000;
	bra join;
low:
	add.s32 %r1, %r1, 10;
	bra join;
even:
	add.s32 %r1, %r1, 1;
join:
	activemask.b32 %r3;
	popc.b32 %r3, %r3;
	mad.lo.s32 %r1, %r3, 10000, %r1;
	st.global.u32 [%rd3], %r1;`, 32, func(i uint32) uint32 {
			switch {
			case i%2 == 0:
				return 320001
			case i < 8:
				return 320110
			}
			return 321100
		}},
		{"a loop whose lanes leave at different times", "", `
	mov.u32 %r1, 0;
	mov.u32 %r2, 0;
again:
	add.s32 %r1, %r1, %r2;
	add.s32 %r2, %r2, 1;
	setp.le.u32 %p0, %r2, %r0;
	@%p0 bra again;
	activemask.b32 %r3;
	setp.ne.s32 %p1, %r3, -1;
	@%p1 mov.u32 %r1, 77777;
	st.global.u32 [%rd3], %r1;`, 64, func(i uint32) uint32 { return i * (i + 1) / 2 }},
		{"early exit", "", `
	setp.ge.u32 %p0, %r0, 40;
	@%p0 exit;
	bar.sync 0;
	st.global.u32 [%rd3], 5;`, 96, func(i uint32) uint32 {
			if i < 40 {
				return 5
			}
			return 0
		}},
		{"indexed branch", "", `
	and.b32 %r1, %r0, 3;
	brx.idx %r1, list;
a:	mov.u32 %r2, 10;
	bra done;
b:	mov.u32 %r2, 20;
	bra done;
c:	mov.u32 %r2, 30;
done:
	activemask.b32 %r3;
	popc.b32 %r3, %r3;
	mad.lo.s32 %r2, %r3, 100, %r2;
	st.global.u32 [%rd3], %r2;
	bra end;
list: .branchtargets a, b, c, a;
end:`, 32, func(i uint32) uint32 { return [4]uint32{3210, 3220, 3230, 3210}[i%4] }},
		{"shared memory across a barrier", "", `
	st.shared.u32 [%r31], %r0;
	bar.sync 0;
	xor.b32 %r1, %r30, 508;
	add.s32 %r1, %r29, %r1;
	ld.shared.u32 %r2, [%r1];
	st.global.u32 [%rd3], %r2;`, 128, func(i uint32) uint32 { return i ^ 127 }},
		{"local array indexed at run time", "", `
	.local .align 4 .b8 arr[16];
	.reg .b64 %l0, %l1;
	mov.u64 %l0, arr;
	st.local.u32 [%l0], 7;
	st.local.u32 [%l0+4], %r0;
	st.local.u32 [%l0+8], 9;
	st.local.u32 [%l0+12], 11;
	and.b32 %r1, %r30, 12;
	cvt.u64.u32 %l1, %r1;
	add.s64 %l1, %l1, %l0;
	ld.local.u32 %r2, [%l1];
	st.global.u32 [%rd3], %r2;`, 64, func(i uint32) uint32 { return [4]uint32{7, i, 9, 11}[i%4] }},
		{"generic addresses", "", `
	.local .align 4 .b8 arr[4];
	.reg .b64 %l0, %s0, %g0, %b0, %c0;
	mov.u64 %l0, arr;
	cvta.local.u64 %l0, %l0;
	mov.u64 %s0, buf;
	cvta.shared.u64 %s0, %s0;
	add.s64 %s0, %s0, %rd2;
	and.b32 %r1, %r0, 1;
	setp.eq.u32 %p0, %r1, 0;
	selp.b64 %g0, %l0, %s0, %p0;
	st.u32 [%g0], %r0;
	ld.u32 %r2, [%g0];
	isspacep.shared %p1, %g0;
	selp.u32 %r3, 1000, 2000, %p1;
	add.s32 %r2, %r2, %r3;
	st.u32 [%rd3], %r2;`, 32, func(i uint32) uint32 {
			if i%2 == 1 {
				return 1000 + i
			}
			return 2000 + i
		}},
		{"module variables and constants", `.const .align 4 .b32 table[4] = {5, 6, 7, 8};
.global .align 4 .b32 counter = 3;`, `
	.reg .b64 %c0, %g0;
	and.b32 %r1, %r30, 12;
	cvt.u64.u32 %c0, %r1;
	mov.u64 %g0, table;
	add.s64 %c0, %c0, %g0;
	ld.const.u32 %r2, [%c0];
	ld.global.u32 %r3, [counter];
	mad.lo.s32 %r2, %r3, 100, %r2;
	st.global.u32 [%rd3], %r2;`, 32, func(i uint32) uint32 { return 305 + i%4 }},
		{"vector loads and stores", "", `
	.reg .b64 %v0, %v1;
	mul.wide.u32 %v0, %r0, 16;
	add.s64 %v1, %rd1, %v0;
	ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%v1];
	add.s32 %r5, %r1, %r4;
	mad.lo.s32 %r5, %r2, 1000, %r5;
	st.global.u32 [%rd3], %r5;`, 64, func(i uint32) uint32 { return 8*i + 3 + (4*i+1)*1000 }},
		{"narrow loads and stores", "", `
	.reg .b64 %v0;
	.reg .b16 %h<4>;
	add.s64 %v0, %rd1, 2;
	cvt.u64.u32 %rd5, %r0;
	sub.u32 %r5, 0, %r0;
	st.shared.u8 [%r31], %r5;
	ld.shared.s8 %r1, [%r31];
	cvt.u16.u32 %h0, %r0;
	sub.s16 %h0, 3, %h0;
	st.shared.u16 [%r31+2], %h0;
	ld.shared.s16 %r2, [%r31+2];
	add.s32 %r1, %r1, %r2;
	st.global.u32 [%rd3], %r1;`, 100, func(i uint32) uint32 { return uint32(3 - 2*int32(i)) }},
		{"guards", "", `
	setp.lt.u32 %p0, %r0, 10;
	mov.u32 %r1, 1;
	@%p0 mov.u32 %r1, 2;
	@!%p0 add.s32 %r1, %r1, 10;
	@%p0 ld.global.u32 %r1, [%rd4];
	st.global.u32 [%rd3], %r1;`, 32, func(i uint32) uint32 {
			if i < 10 {
				return i
			}
			return 11
		}},
		{"barrier reduction", "", `
	and.b32 %r1, %r0, 7;
	setp.eq.u32 %p0, %r1, 0;
	barrier.cta.red.popc.aligned.u32 %r2, 0, %p0;
	st.global.u32 [%rd3], %r2;`, 96, func(i uint32) uint32 { return 12 }},
		{"producer and consumer warps", "", `
	setp.ge.u32 %p0, %r0, 32;
	@%p0 bra consumer;
	add.s32 %r1, %r0, 500;
	st.shared.u32 [%r31], %r1;
	bar.arrive 1, 64;
	bra done;
consumer:
	bar.sync 1, 64;
	ld.shared.u32 %r2, [%r31+-128];
	st.global.u32 [%rd3], %r2;
done:`, 64, func(i uint32) uint32 {
			if i < 32 {
				return 0
			}
			return 500 + i - 32
		}},
		{"a warp that spins on another", "", `
	.reg .b64 %v0;
	setp.ge.u32 %p0, %r0, 32;
	@%p0 bra second;
spin:
	ld.volatile.shared.u32 %r1, [buf];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra spin;
	ld.shared.u32 %r2, [%r31+256];
	st.global.u32 [%rd3], %r2;
	bra done;
second:
	st.shared.u32 [%r31+128], %r0;
	bar.warp.sync -1;
	setp.eq.u32 %p2, %r0, 32;
	@%p2 st.volatile.shared.u32 [buf], 1;
done:`, 64, func(i uint32) uint32 {
			if i < 32 {
				return 32 + i
			}
			return 0
		}},
		{"asynchronous copies", "", `
	cp.async.ca.shared.global [%r31], [%rd4], 4;
	cp.async.commit_group;
	cp.async.wait_group 0;
	bar.sync 0;
	xor.b32 %r1, %r30, 252;
	add.s32 %r1, %r29, %r1;
	ld.shared.u32 %r2, [%r1];
	st.global.u32 [%rd3], %r2;`, 64, func(i uint32) uint32 { return i ^ 63 }},
		{"all lanes of a store write the same", "", `
	st.shared.u32 [buf+64], 9;
	bar.sync 0;
	ld.shared.u32 %r2, [buf+64];
	st.global.u32 [%rd3], %r2;`, 128, func(uint32) uint32 { return 9 }},
	} {
		out, err := runBody(t, c.decls, c.body, c.threads)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i := 0; i < c.threads; i++ {
			if want := c.want(uint32(i)); out[i] != want {
				t.Errorf("%s: thread %d has %d, want %d", c.name, i, out[i], want)
				break
			}
		}
	}
}

// TestWarpOps are the instructions that look at other lanes.
func TestWarpOps(t *testing.T) {
	for _, c := range []struct {
		body string
		want func(l uint32) uint32
	}{
		{"shfl.sync.down.b32 %r1|%p0, %r0, 5, 31, -1; selp.u32 %r2, 100, 0, %p0; add.s32 %r1, %r1, %r2;", func(l uint32) uint32 {
			if l+5 < 32 {
				return l + 105
			}
			return l
		}},
		{"shfl.sync.up.b32 %r1|%p0, %r0, 3, 0, -1; selp.u32 %r2, 100, 0, %p0; add.s32 %r1, %r1, %r2;", func(l uint32) uint32 {
			if l >= 3 {
				return l + 97
			}
			return l
		}},
		{"shfl.sync.bfly.b32 %r1, %r0, 6, 31, -1;", func(l uint32) uint32 { return l ^ 6 }},
		{"shfl.sync.idx.b32 %r1, %r0, 2, 0x181f, -1;", func(l uint32) uint32 { return l&^7 | 2 }},
		{"shfl.sync.down.b32 %r1, %r0, 4, 0x181f, -1;", func(l uint32) uint32 {
			if l%8 < 4 {
				return l + 4
			}
			return l
		}},
		{"and.b32 %r2, %r0, 3; setp.eq.u32 %p0, %r2, 1; vote.sync.ballot.b32 %r1, %p0, -1;", func(uint32) uint32 { return 0x22222222 }},
		{"setp.lt.u32 %p0, %r0, 40; vote.sync.all.pred %p1, %p0, -1; selp.u32 %r1, 1, 0, %p1;", func(uint32) uint32 { return 1 }},
		{"setp.eq.u32 %p0, %r0, 40; vote.sync.any.pred %p1, %p0, -1; selp.u32 %r1, 1, 0, %p1;", func(uint32) uint32 { return 0 }},
		{"setp.lt.u32 %p0, %r0, 9; vote.sync.uni.pred %p1, %p0, -1; selp.u32 %r1, 1, 0, %p1;", func(uint32) uint32 { return 0 }},
		{"shr.u32 %r2, %r0, 2; match.any.sync.b32 %r1, %r2, -1;", func(l uint32) uint32 { return 15 << (l &^ 3) }},
		{"mov.u32 %r2, 4; match.all.sync.b32 %r1|%p0, %r2, -1; selp.u32 %r1, %r1, 3, %p0;", func(uint32) uint32 { return ^uint32(0) }},
		{"match.all.sync.b32 %r1|%p0, %r0, -1; selp.u32 %r2, 8, 3, %p0; add.s32 %r1, %r1, %r2;", func(uint32) uint32 { return 3 }},
		{"redux.sync.add.u32 %r1, %r0, -1;", func(uint32) uint32 { return 496 }},
		{"sub.s32 %r2, 5, %r0; redux.sync.min.s32 %r1, %r2, -1;", func(uint32) uint32 { return ^uint32(25) }},
		{"mov.u32 %r1, %lanemask_lt; popc.b32 %r1, %r1;", func(l uint32) uint32 { return l }},
		{"mov.u32 %r1, %lanemask_ge;", func(l uint32) uint32 { return ^uint32(0) << l }},
		{"atom.shared.add.u32 %r1, [buf], 2;", func(l uint32) uint32 { return 2 * l }},
		{"atom.shared.inc.u32 %r1, [buf], 4;", func(l uint32) uint32 { return l % 5 }},
		{"atom.shared.cas.b32 %r1, [buf], 0, 9;", func(l uint32) uint32 {
			if l == 0 {
				return 0
			}
			return 9
		}},
		{"atom.global.max.s32 %r1, [%rd0+4096], %r0;", func(l uint32) uint32 { return max(l, 1) - 1 }},
		{"atom.global.exch.b32 %r1, [%rd0+4096], %r0;", func(l uint32) uint32 { return max(l, 1) - 1 }},
		{"mov.u32 %r3, 1; shl.b32 %r3, %r3, %r0; red.shared.or.b32 [buf], %r3; bar.warp.sync -1; ld.shared.u32 %r1, [buf];", func(uint32) uint32 { return ^uint32(0) }},
		{".reg .f32 %f0; atom.shared.add.f32 %f0, [buf], 0f3F800000; mov.b32 %r1, %f0;", func(l uint32) uint32 { return floatBits(l) }},
	} {
		out, err := runBody(t, "", c.body+"\n\tst.global.u32 [%rd3], %r1;", 32)
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		for l := uint32(0); l < 32; l++ {
			if want := c.want(l); out[l] != want {
				t.Errorf("%s: lane %d has %#x, want %#x", c.body, l, out[l], want)
				break
			}
		}
	}
}

func floatBits(n uint32) uint32 {
	if n == 0 {
		return 0
	}
	e := bits.Len32(n) - 1
	return uint32(127+e)<<23 | n<<(23-e)&(1<<23-1)
}

// TestFaults checks that defects end as the right fault and name the place.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, body string
		threads    int
		kind       fault.Kind
		parts      []string
	}{
		{"read past a buffer", "add.s64 %rd4, %rd4, 8192;\nld.global.u32 %r1, [%rd4+4];", 32, fault.OutOfBounds,
			[]string{"ld.global.u32 %r1, [%rd4+4]", "k.ptx:2", "reads 4 bytes, 4 bytes (1 element) past the end of in, 2048 elements of u32 (8192 bytes)", "thread 0"}},
		{"write before a buffer", "st.global.u32 [%rd3+-4], 1;", 32, fault.OutOfBounds, []string{"writes 4 bytes, 4 bytes (1 element) before out, 2048", "thread 0"}},
		{"wild pointer", "mov.u64 %rd5, 64;\nst.global.u32 [%rd5], 1;", 32, fault.OutOfBounds, []string{"0x40"}},
		{"shared memory", "add.s32 %r1, %r31, 4092;\nst.shared.u32 [%r1], 1;", 32, fault.OutOfBounds, []string{"shared address 0x1000", "4096 bytes", "thread 1"}},
		{"misaligned", "ld.global.u32 %r1, [%rd4+2];", 32, fault.Misaligned, []string{"multiple of 4"}},
		{"trap", "setp.eq.u32 %p0, %r0, 35;\n@%p0 trap;", 64, fault.TrapExecuted, []string{"thread 35"}},
		{"endless loop", "again: add.s32 %r1, %r1, 1;\nbra again;", 32, fault.StepLimit, []string{"endless loop"}},
		{"lanes of a warp wait for each other", `
	setp.eq.u32 %p0, %r0, 0;
	@%p0 bra second;
spin:
	ld.volatile.shared.u32 %r1, [buf];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra spin;
	bra done;
second:
	st.volatile.shared.u32 [buf], 1;
done:`, 32, fault.StepLimit, []string{"wait for each other"}},
		{"barrier in a branch of one warp", `
	setp.lt.u32 %p0, %r0, 7;
	@%p0 bra skip;
	bar.sync 0;
skip:
	st.global.u32 [%rd3], 1;`, 32, fault.BarrierDivergence, []string{"bar.sync", "thread 0"}},
		{"warps at different barriers", `
	setp.lt.u32 %p0, %r0, 32;
	@%p0 bra other;
	bar.sync 1;
	bra done;
other:
	bar.sync 2;
done:
	st.global.u32 [%rd3], 1;`, 64, fault.BarrierDivergence, []string{"barrier 1", "barrier 2"}},
		{"barrier of more warps than there are", "bar.sync 3, 96;", 64, fault.BarrierDivergence, []string{"2 of 3 warps"}},
		{"missing barrier", `
	st.shared.u32 [%r31], %r0;
	xor.b32 %r1, %r30, 128;
	add.s32 %r1, %r29, %r1;
	ld.shared.u32 %r2, [%r1];`, 64, fault.Race, []string{"ld.shared.u32", "st.shared.u32 [%r31], %r0", "thread 32", "no barrier between"}},
		{"write after read", `
	ld.shared.u32 %r2, [buf];
	setp.eq.u32 %p0, %r0, 40;
	@%p0 st.shared.u32 [buf], 3;`, 64, fault.Race, []string{"is read by thread"}},
		{"lanes of one store", "shr.u32 %r1, %r0, 1;\nshl.b32 %r1, %r1, 2;\nadd.s32 %r1, %r1, %r29;\nst.shared.u32 [%r1], %r0;", 32, fault.Race, []string{"both in one warp"}},
		{"bytes of one word are apart, of one byte not", `
	add.s32 %r1, %r29, %r0;
	st.shared.u8 [%r1], %r0;
	ld.shared.u8 %r2, [%r1+1];`, 64, fault.Race, []string{"ld.shared.u8"}},
		{"sides of a branch", `
	setp.lt.u32 %p0, %r0, 16;
	@%p0 bra low;
	st.shared.u32 [buf], 1;
	bra done;
low:
	ld.shared.u32 %r1, [buf];
done:`, 32, fault.Race, []string{"not synchronised"}},
		{"copy not waited for", `
	cp.async.ca.shared.global [%r31], [%rd4], 4;
	cp.async.commit_group;
	ld.shared.u32 %r2, [%r31];`, 32, fault.Race, []string{"wait_group"}},
		{"newest copy not waited for", `
	cp.async.ca.shared.global [%r31], [%rd4], 4;
	cp.async.commit_group;
	cp.async.ca.shared.global [%r31+1024], [%rd4], 4;
	cp.async.commit_group;
	cp.async.wait_group 1;
	ld.shared.u32 %r2, [%r31];
	ld.shared.u32 %r2, [%r31+1024];`, 32, fault.Race, []string{"%r31+1024"}},
		{"copy waited for by its own warp only", `
	cp.async.ca.shared.global [%r31], [%rd4], 4;
	cp.async.wait_all;
	xor.b32 %r1, %r30, 128;
	add.s32 %r1, %r29, %r1;
	ld.shared.u32 %r2, [%r1];`, 64, fault.Race, []string{"barrier"}},
		{"plain access beside an atomic", `
	setp.lt.u32 %p0, %r0, 32;
	@%p0 atom.shared.add.u32 %r1, [buf], 1;
	@!%p0 st.shared.u32 [buf], 1;`, 64, fault.Race, []string{"st.shared.u32", "atom.shared"}},
	} {
		_, err := runBody(t, "", c.body, c.threads)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Kind != c.kind {
			t.Errorf("%s: %v, want %v", c.name, err, c.kind)
			continue
		}
		for _, part := range c.parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not name %q", c.name, err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the message has several lines: %q", c.name, err)
		}
	}
}
