package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// neighbours is a kernel of CTAs of 64 threads whose thread t stands for element e(t) of its CTA: it
// swaps, through shared memory and a barrier, with thread t^1, unless it leaves. How those leave whose
// element is beyond n, and what they do before, differs.
func neighbours(leave, body string) string {
	return `.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 perm, .param .u32 n)
{
	.reg .pred %p<8>;
	.reg .b32 %r<32>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<16>;
	.shared .align 16 .b8 buf[256];
	ld.param.u64 %rd0, [x];
	ld.param.u64 %rd1, [perm];
	ld.param.u32 %r1, [n];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd2, %r0, 4;
	add.s64 %rd2, %rd1, %rd2;
	ld.global.u32 %r2, [%rd2];
	mov.u32 %r3, %ctaid.x;
	mad.lo.u32 %r4, %r3, 64, %r2;
	mul.wide.u32 %rd3, %r4, 4;
	add.s64 %rd4, %rd0, %rd3;
	shl.b32 %r5, %r0, 2;
	mov.u32 %r6, buf;
	add.u32 %r5, %r6, %r5;
	xor.b32 %r7, %r5, 4;
	mov.u32 %r8, 7;
	setp.ge.u32 %p0, %r4, %r1;
` + leave + body + `
}
`
}

// swaps is what threads do that do not leave: with or without a loop round the barrier.
const (
	swaps = `
	ld.global.u32 %r9, [%rd4];
	st.shared.u32 [%r5], %r9;
	bar.sync 0;
	ld.shared.u32 %r10, [%r7];
	st.global.u32 [%rd4], %r10;
	bra end;
last:
	st.global.u32 [%rd4], %r8;
end:
	ret;`
	swapsInALoop = `
	ld.global.u32 %r9, [%rd4];
	st.shared.u32 [%r5], %r9;
	mov.u32 %r11, 0;
again:
	bar.sync 0;
	ld.shared.u32 %r10, [%r7];
	bar.sync 0;
	st.shared.u32 [%r5], %r10;
	add.u32 %r11, %r11, 1;
	setp.lt.u32 %p1, %r11, 9;
	@%p1 bra again;
	st.global.u32 [%rd4], %r10;
	bra end;
last:
	st.global.u32 [%rd4], %r8;
end:
	ret;`
)

// leaving are the ways in which threads leave: each with what the words of those that
// leave hold afterwards, 0 for what they held.
var leaving = []struct {
	name, ptx string
	word      uint32
}{
	{"to the common exit", "@%p0 bra end;", 0},
	{"by a guarded return", "@%p0 ret;", 0},
	{"by a guarded exit", "@%p0 exit;", 0},
	{"by a return of their own", `
	@!%p0 bra stay;
	ret;
stay:`, 0},
	{"after work of their own", `
	@!%p0 bra stay;
	st.global.u32 [%rd4], %r8;
	ret;
stay:`, 7},
	{"after work behind the others", `
	@%p0 bra out;
	bra stay;
out:
	st.global.u32 [%rd4], %r8;
	ret;
stay:`, 7},
	{"after work, by the common exit", `
	@!%p0 bra stay;
	st.global.u32 [%rd4], %r8;
	bra end;
stay:`, 7},
	{"through blocks without effect", `
	@!%p0 bra stay;
	add.u32 %r12, %r0, 1;
	setp.gt.u32 %p2, %r12, 5;
	@%p2 bra end;
	add.u32 %r12, %r12, 1;
	bra end;
stay:`, 0},
	{"after work, at the end of the program", "@%p0 bra last;", 7},
	{"out of two branches", `
	@!%p0 bra stay;
	setp.gt.u32 %p2, %r0, 5;
	@%p2 bra one;
	st.global.u32 [%rd4], %r8;
	bra end;
one:
	st.global.u32 [%rd4], %r8;
	ret;
stay:`, 7},
}

// exchanged is what x, of words i, holds afterwards, by a plain reference.
func exchanged(total, n int, perm []int, word uint32, times int) []uint32 {
	x := make([]uint32, total)
	for i := range x {
		x[i] = uint32(i)
	}
	for c := 0; c < total; c += 64 {
		for t := range 64 {
			e, o := c+perm[t], c+perm[t^1]
			switch {
			case e >= n && word != 0:
				x[e] = word
			case e < n && o >= n && times%2 == 1:
				x[e] = 0 // what the other never stored
			case e < n && times%2 == 1:
				x[e] = uint32(o)
			}
		}
	}
	return x
}

func permutation(kind string, rng *rand.Rand) []int {
	perm := make([]int, 64)
	for i := range perm {
		perm[i] = i
	}
	switch kind {
	case "reversed":
		for i := range perm {
			perm[i] = 63 - i
		}
	case "shuffled":
		perm = rng.Perm(64)
	case "odd lanes first":
		for i := range perm {
			perm[i] = i%2*32 + i/2
		}
	}
	return perm
}

// Threads that have left do not count at a barrier, whichever lanes they are, whole warps among them, and however
// they leave.
func TestExitedLanesDoNotCount(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, way := range leaving {
		for name, body := range map[string]string{"once": swaps, "in a loop": swapsInALoop} {
			k := buildKernel(t, "k.ptx", []byte(neighbours(way.ptx, body)))
			for _, order := range []string{"in order", "reversed", "shuffled", "odd lanes first"} {
				for _, n := range []int{65500, 300, 100, 1} {
					perm := permutation(order, rng)
					t.Run(fmt.Sprintf("%s, %s, %s, %d", way.name, name, order, n), func(t *testing.T) {
						checkExchanged(t, k, n, perm, way.word)
					})
				}
			}
		}
	}
}

// checkExchanged runs the last CTAs in both modes, and compares what the full one leaves.
func checkExchanged(t *testing.T, k *ir.Kernel, n int, perm []int, word uint32) {
	t.Helper()
	total := (n + 63) &^ 63
	want := exchanged(total, n, perm, word, 1)
	m := memory.New(0)
	order := make([]byte, 4*64)
	for i, p := range perm {
		binary.LittleEndian.PutUint32(order[4*i:], uint32(p))
	}
	for _, b := range []memory.Buffer{{Name: "x", Elem: ir.U32, Count: int64(total), Fill: memory.Generated(func(i int64) float64 { return float64(i) })}, {Name: "perm", Elem: ir.U32, Count: 64, Fill: memory.Bytes(order)}} {
		if _, err := m.Alloc(b); err != nil {
			t.Fatal(err)
		}
	}
	params, err := m.BindParams(k, []memory.Arg{{Buffer: "x"}, {Buffer: "perm"}, {Elem: ir.U32, Scalar: float64(n)}})
	if err != nil {
		t.Fatal(err)
	}
	l := Launch{Grid: Dim3{total / 64, 1, 1}, CTA: Dim3{64, 1, 1}, Params: params}
	for _, opt := range []Options{{Mode: Full, Races: true}, {Mode: Slice, Races: true}, {Mode: Slice, LoopSample: 3}, {Mode: Slice, DeviceOnly: true}} {
		m.Reset()
		r := NewRunner(compileFor(t, k, opt.Mode))
		for cta := max(0, int64(total/64)-3); cta < int64(total/64); cta++ {
			if err := r.Run(l, m, cta, opt, nil); err != nil {
				t.Fatalf("%v: %v", opt, err)
			}
		}
		if opt.Mode == Full {
			got, err := m.ReadBuffer("x")
			if err != nil {
				t.Fatal(err)
			}
			for i := max(0, total-3*64); i < total; i++ {
				if g := binary.LittleEndian.Uint32(got[4*i:]); g != want[i] {
					t.Fatalf("x[%d] is %d, want %d", i, g, want[i])
				}
			}
		}
	}
}

// Lanes that go on after they left out a barrier, or wait at another, make it a divergent one.
func TestDivergentBarriers(t *testing.T) {
	for name, body := range map[string]string{
		"one side of a branch": `
	and.b32 %r1, %r0, 1;
	setp.eq.u32 %p0, %r1, 0;
	@%p0 bra past;
	bar.sync 0;
past:
	st.global.u32 [%rd3], %r0;`,
		"a barrier each side": `
	and.b32 %r1, %r0, 1;
	setp.eq.u32 %p0, %r1, 0;
	@%p0 bra other;
	bar.sync 0;
	bra past;
other:
	bar.sync 0;
past:
	st.global.u32 [%rd3], %r0;`,
		"others read at the end": `
	and.b32 %r1, %r0, 1;
	setp.eq.u32 %p0, %r1, 0;
	@%p0 bra past;
	st.shared.u32 [%r31], %r0;
	bar.sync 0;
past:
	ld.shared.u32 %r2, [%r31];`,
		"a loop that lanes leave at different times": `
	and.b32 %r1, %r0, 3;
again:
	bar.sync 0;
	sub.u32 %r1, %r1, 1;
	setp.gt.s32 %p0, %r1, 0;
	@%p0 bra again;
	st.global.u32 [%rd3], %r0;`,
	} {
		for _, mode := range []Mode{Full, Slice} {
			k := buildKernel(t, "k.ptx", []byte(bodyKernel("", body)))
			l, m := launchBody(t, k, 64)
			err := NewRunner(compileFor(t, k, mode)).Run(l, m, 0, Options{}, nil)
			var f *fault.Fault
			if !errors.As(err, &f) || f.Kind != fault.BarrierDivergence || !strings.Contains(f.Detail, "elsewhere") {
				t.Errorf("%s, %v: %v, want a divergent barrier", name, mode, err)
			}
		}
	}
}
