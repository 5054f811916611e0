package exec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/irtest"
	"github.com/warptune/warptune/simengine/ir/unroll"
)

// countedLoop is a random kernel around a loop that unroll.Loops takes:
// its body mixes inductions, moves round the loop, accumulators, loads and
// stores, and every register it writes is stored in the end.
func countedLoop(r *rand.Rand) string {
	reg := func() string { return fmt.Sprintf("%%r%d", 1+r.IntN(5)) }
	var body []string
	for range 3 + r.IntN(8) {
		a, b, c := reg(), reg(), reg()
		body = append(body, [...]string{
			fmt.Sprintf("add.s32 %s, %s, %d;", a, b, r.IntN(9)-4),
			fmt.Sprintf("sub.s32 %s, %s, %d;", a, b, r.IntN(9)-4),
			fmt.Sprintf("mov.u32 %s, %s;", a, b),
			fmt.Sprintf("mov.u32 %s, %%r0;", a),
			fmt.Sprintf("add.s32 %s, %s, %s;", a, b, c),
			fmt.Sprintf("mad.lo.s32 %s, %s, 3, %s;", a, b, c),
			fmt.Sprintf("xor.b32 %s, %s, %s;", a, b, c),
			fmt.Sprintf("ld.global.u32 %s, [%%rd4+%d];", a, 4*r.IntN(4)),
			fmt.Sprintf("st.global.u32 [%%rd3+%d], %s;", 4*r.IntN(4), a),
			"add.s64 %rd4, %rd4, 4;",
			"add.s64 %rd3, %rd3, 4;",
		}[r.IntN(11)])
	}
	step := 1 + r.IntN(5)
	cmp := [...]string{"lt", "le"}[r.IntN(2)]
	start, end := r.IntN(60), 20+r.IntN(80)
	if r.IntN(2) == 0 {
		step, cmp = -step, [...]string{"gt", "ge"}[r.IntN(2)]
		start, end = end+20, start+20
	}
	typ := [...]string{"s32", "u32"}[r.IntN(2)]
	if typ == "u32" && step > 0 && r.IntN(2) == 0 {
		start = -32 - r.IntN(40) // wraps round to the start, at once or too late
	}
	bound, apart := fmt.Sprint(end), 1 // of the lanes' starts
	switch {
	case r.IntN(3) == 0: // until it meets a constant
		apart, end = 1+r.IntN(5), -r.IntN(2)
		step, cmp, typ, start, bound = -apart, "ne", "s32", end+apart*(1+r.IntN(20)), fmt.Sprint(end)
	case r.IntN(2) == 0:
		bound = "%r7"
	}
	begin := fmt.Sprintf("mad.lo.s32 %%r0, %%r8, %d, %d;", apart, start)
	test := "@%p1 bra LOOP;"
	if r.IntN(3) == 0 { // a known number of iterations, or at most that many
		n, second := 1+r.IntN(14), r.IntN(2) == 0
		if !second && r.IntN(2) == 0 { // more than are written out: some at a time
			n = 6 + r.IntN(30)
			for range 36 + r.IntN(8) {
				body = append(body, fmt.Sprintf("xor.b32 %s, %s, %s;", reg(), reg(), reg()))
			}
		}
		cmp = [...]string{map[bool]string{true: "lt", false: "gt"}[step > 0], "ne"}[r.IntN(2)]
		start, typ = 100+r.IntN(9), [...]string{"s32", "u32"}[r.IntN(2)]
		bound = fmt.Sprint(start + n*step)
		begin = fmt.Sprintf("mov.u32 %%r0, %d;", start)
		if second {
			test = fmt.Sprintf("setp.ne.s32 %%p2, %s, %d; and.pred %%p3, %%p2, %%p1; @%%p3 bra LOOP;", reg(), r.IntN(20))
		}
	}
	at := r.IntN(len(body) + 1)
	body = append(body[:at:at], append([]string{fmt.Sprintf("add.s32 %%r0, %%r0, %d;", step)}, body[at:]...)...)
	return fmt.Sprintf(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
	.reg .pred %%p<4>;
	.reg .b32 %%r<12>;
	.reg .b64 %%rd<8>;
	ld.param.u64 %%rd4, [in];
	ld.param.u64 %%rd1, [out];
	mov.u32 %%r8, %%tid.x;
	mul.wide.u32 %%rd2, %%r8, 4096;
	add.s64 %%rd3, %%rd1, %%rd2;
	mov.u64 %%rd5, %%rd3;
	%s
	mov.u32 %%r1, %%r8; mov.u32 %%r2, 7; mov.u32 %%r3, 11; mov.u32 %%r4, 0; mov.u32 %%r5, %%r0;
	mov.u32 %%r7, %d;
LOOP:
	%s
	setp.%s.%s %%p1, %%r0, %s;
	%s
	st.global.u32 [%%rd5+4000], %%r0;
	st.global.u32 [%%rd5+4004], %%r1;
	st.global.u32 [%%rd5+4008], %%r2;
	st.global.u32 [%%rd5+4012], %%r3;
	st.global.u32 [%%rd5+4016], %%r4;
	st.global.u32 [%%rd5+4020], %%r5;
	st.global.u64 [%%rd5+4024], %%rd4;
	ret;
}
`, begin, end, strings.Join(body, "\n\t"), cmp, typ, bound, test)
}

// TestUnrolledComputesTheSame runs random loops as they are and unrolled.
func TestUnrolledComputesTheSame(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 400 {
		text := countedLoop(r)
		k := buildKernel(t, "loop.ptx", []byte(text))
		u := unroll.Loops(k)
		if u == k {
			t.Fatalf("loop %d of seed %d is not unrolled:\n%s", i, seed, text)
		}
		if err := irtest.Verify(u); err != nil {
			t.Fatalf("loop %d of seed %d: %v\n%s", i, seed, err, u)
		}
		if a, b := loopOutput(t, k), loopOutput(t, u); !bytes.Equal(a, b) {
			t.Fatalf("loop %d of seed %d leaves other memory when unrolled:\n%s\n%s", i, seed, text, u)
		}
	}
}

// TestPartsAreUnrolled: of the random loops some are made several iterations at a time.
func TestPartsAreUnrolled(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	parts := 0
	for range 400 {
		u := unroll.Loops(buildKernel(t, "loop.ptx", []byte(countedLoop(r))))
		longest := 0
		for b := range u.Blocks {
			if blk := &u.Blocks[b]; u.Instrs[blk.End-1].Op == ir.Bra && u.Instrs[blk.End-1].Target == blk.Start {
				longest = max(longest, blk.End-blk.Start)
			}
		}
		if longest > 4*36 {
			parts++
		}
	}
	if parts < 20 {
		t.Errorf("%d of 400 loops of seed %d are", parts, seed)
	}
}

// loopOutput is what a kernel of countedLoop leaves in memory.
func loopOutput(t *testing.T, k *ir.Kernel) []byte {
	return warpOutput(t, k, Options{}, memory.Buffer{Name: "in", Elem: ir.S32, Count: 4096, Fill: memory.Random(1, 1000)}, memory.Buffer{Name: "out", Elem: ir.S32, Count: 32 * 1024, Fill: memory.Fill{}})
}

// warpOutput is what one warp of a kernel, whose parameters are buffers, leaves in the last of
// them.
func warpOutput(t *testing.T, k *ir.Kernel, opt Options, buffers ...memory.Buffer) []byte {
	t.Helper()
	mem := memory.New(0)
	var args []memory.Arg
	for _, b := range buffers {
		if _, err := mem.Alloc(b); err != nil {
			t.Fatal(err)
		}
		args = append(args, memory.Arg{Buffer: b.Name})
	}
	params, err := mem.BindParams(k, args)
	if err != nil {
		t.Fatal(err)
	}
	launch := Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{32, 1, 1}, Params: params}
	if err := NewRunner(compileFor(t, k, Full)).Run(launch, mem, 0, opt, nil); err != nil {
		t.Fatalf("%v\n%s", err, k)
	}
	out, err := mem.ReadBuffer(args[len(args)-1].Buffer)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
