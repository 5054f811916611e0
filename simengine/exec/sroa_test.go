package exec

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/irtest"
	"github.com/warptune/warptune/simengine/ir/sroa"
	"github.com/warptune/warptune/simengine/ir/unroll"
)

// arrays writes a random kernel with a private array in local memory. Every word is stored first. Then words and
// vectors are loaded, added to and stored at places computed in several ways, in straight code, behind branches and
// in loops. In the end all that it has is stored to global memory.
type arrays struct {
	*rand.Rand
	words, labels, registers int
	strings.Builder
}

func (a *arrays) line(format string, args ...any) { fmt.Fprintf(a, format+"\n", args...) }

// index computes a multiple of step below the number of words, and returns its register.
func (a *arrays) index(step int) string {
	most := a.words/step - 1
	a.registers++
	n := a.registers
	r := fmt.Sprintf("%%i%d", n)
	a.line("ld.global.u32 %%w%d, [%%rd4+%d]; min.u32 %%v%d, %%w%d, %d;", n, 4*a.IntN(64), n, n, most)
	switch a.IntN(6) {
	case 0:
		a.line("mul.lo.s32 %s, %%v%d, %d;", r, n, step)
	case 1:
		a.line("mad.lo.s32 %s, %%v%d, %d, 0;", r, n, step)
	case 2:
		a.line("add.s32 %%u%d, %%v%d, %d; sub.s32 %%w%d, %%u%d, %d; mul.lo.s32 %s, %%w%d, %d;", n, n, step, n, n, step, r, n, step)
	case 3:
		a.line("setp.gt.u32 %%p1, %%w%d, 500; selp.b32 %s, %d, %d, %%p1;", n, r, step*a.IntN(most+1), step*a.IntN(most+1))
	case 4:
		a.line("shl.b32 %s, %%v%d, %d;", r, n, bits.TrailingZeros(uint(step)))
	default:
		a.line("min.u32 %%u%d, %%w%d, %d; and.b32 %s, %%u%d, %d;", n, n, a.words-1, r, n, -step)
	}
	return r
}

// address computes the address of the words at an index, or one before it by so many bytes.
func (a *arrays) address(index string) (address string, behind int) {
	n := a.registers
	r := fmt.Sprintf("%%a%d", n)
	a.line("mul.wide.u32 %%b%d, %s, 4;", n, index)
	switch a.IntN(4) {
	case 0:
		a.line("add.s64 %s, %%rd5, %%b%d;", r, n)
	case 1:
		a.line("mov.u64 %%c%d, depot; add.s64 %s, %%b%d, %%c%d;", n, r, n, n)
	case 2:
		behind = 8
		a.line("add.s64 %%c%d, %%rd5, %%b%d; add.s64 %s, %%c%d, -8;", n, n, r, n)
	default:
		a.line("setp.lt.u32 %%p1, %%r1, 7; add.s64 %%c%d, %%rd5, %%b%d; add.s64 %%d%d, %%rd5, 0; selp.b64 %s, %%c%d, %%d%d, %%p1;", n, n, n, r, n, n)
	}
	return r, behind
}

// indexed accesses words at an index.
func (a *arrays) indexed(n int) {
	at, behind := a.address(a.index(n))
	a.access(fmt.Sprintf("%s+%d", at, behind), n)
	if a.IntN(3) == 0 { // and others by the same register
		a.line("add.s64 %s, %%rd5, %d;", at, 4*n*a.IntN(a.words/n)-behind)
		a.access(fmt.Sprintf("%s+%d", at, behind), n)
	}
}

// vector is the operand of so many registers.
func vector(n int) (suffix, registers string) {
	switch n {
	case 1:
		return "", "%r10"
	case 2:
		return ".v2", "{%r10, %r11}"
	}
	return ".v4", "{%r10, %r11, %r12, %r13}"
}

// access loads, adds to and stores words at an address.
func (a *arrays) access(address string, n int) {
	v, regs := vector(n)
	if a.IntN(4) > 0 {
		a.line("ld.local%s.u32 %s, [%s];", v, regs, address)
		a.line("xor.b32 %%r4, %%r4, %%r10; add.s32 %%r10, %%r10, %%r4;")
	}
	if a.IntN(4) > 0 {
		a.line("st.local%s.u32 [%s], %s;", v, address, regs)
	}
}

// piece is straight code, code behind a branch or a loop.
func (a *arrays) piece() {
	n := 1 << a.IntN(3)
	a.labels++
	switch a.IntN(4) {
	case 0:
		a.access(fmt.Sprintf("depot+%d", 4*n*a.IntN(a.words/n)), n)
	case 1:
		a.indexed(n)
	case 2:
		a.line("ld.global.u32 %%r2, [%%rd4+%d]; setp.gt.u32 %%p2, %%r2, 400; @%%p2 bra OVER%d;", 4*a.IntN(64), a.labels)
		a.indexed(n)
		a.line("OVER%d:", a.labels)
		a.line("@%%p2 ld.local.u32 %%r12, [depot+%d]; @!%%p2 st.local.u32 [depot+%d], %%r4;", 4*a.IntN(a.words), 4*a.IntN(a.words))
	default:
		a.registers++
		walk := fmt.Sprintf("%%a%d", a.registers)
		a.line("mov.u64 %s, %%rd5; mov.u32 %%r5, 0;", walk)
		a.line("LOOP%d:", a.labels)
		if a.IntN(2) == 0 {
			a.line(".pragma \"nounroll\";")
		}
		a.access(walk, n)
		a.line("mad.lo.s32 %%r4, %%r4, 3, %%r5; add.s64 %s, %s, %d; add.s32 %%r5, %%r5, %d;", walk, walk, 4*n, n)
		a.line("setp.lt.s32 %%p1, %%r5, %d; @%%p1 bra LOOP%d;", a.words, a.labels)
	}
}

// kernel is the text of all of it.
func (a *arrays) kernel() string {
	a.words = 4 * (1 + a.IntN(4))
	a.line(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.local .align 16 .b8 depot[%d];
.reg .pred %%p<4>; .reg .b32 %%r<16>, %%i<9>, %%u<9>, %%v<9>, %%w<9>; .reg .b64 %%rd<12>, %%a<9>, %%b<9>, %%c<9>, %%d<9>;
ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out];
mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd3, %%r1, 256;
add.s64 %%rd4, %%rd1, %%rd3; add.s64 %%rd2, %%rd2, %%rd3; mov.u64 %%rd5, depot;
mov.u32 %%r4, %%r1; mov.u32 %%r10, 1; mov.u32 %%r11, 2; mov.u32 %%r12, 3; mov.u32 %%r13, 4;`, 4*a.words)
	for w := range a.words {
		a.line("ld.global.u32 %%r2, [%%rd4+%d]; st.local.u32 [%%rd5+%d], %%r2;", 4*w, 4*w)
	}
	for range 1 + a.IntN(6) {
		a.piece()
	}
	for range 300 { // so that what is added is little
		a.line("mad.lo.s32 %%r4, %%r4, 5, %%r10;")
	}
	for w := range a.words {
		a.line("ld.local.u32 %%r2, [depot+%d]; st.global.u32 [%%rd2+%d], %%r2;", 4*w, 4*w)
	}
	a.line("st.global.u32 [%%rd2+128], %%r4; st.global.u32 [%%rd2+132], %%r10; st.global.u32 [%%rd2+136], %%r12;\nret;\n}")
	return a.String()
}

// TestHeldComputesTheSame runs random kernels with their array in memory and in registers,
// with loops as they are and unrolled.
func TestHeldComputesTheSame(t *testing.T) {
	const seed, all = 11, 300
	r := rand.New(rand.NewPCG(seed, 0))
	held := 0
	for i := range all {
		text := (&arrays{Rand: r}).kernel()
		k := buildKernel(t, "arrays.ptx", []byte(text))
		for _, u := range []*ir.Kernel{k, unroll.Loops(k)} {
			h := sroa.Promote(u)
			if h == u {
				continue
			}
			held++
			if err := irtest.Verify(h); err != nil {
				t.Fatalf("kernel %d of seed %d: %v\n%s", i, seed, err, h)
			}
			for pc := range h.Instrs {
				if h.Instrs[pc].Space == ir.Local || h.LocalBytes != 0 {
					t.Fatalf("kernel %d of seed %d has local memory still: %s", i, seed, h.Text(pc))
				}
			}
			if a, b := arrayOutput(t, k), arrayOutput(t, h); !bytes.Equal(a, b) {
				t.Fatalf("kernel %d of seed %d leaves other memory with its array in registers:\n%s\n%s", i, seed, text, h)
			}
		}
	}
	if held < all {
		t.Errorf("%d of %d kernels have their array in registers: too few to tell", held, 2*all)
	}
}

// arrayOutput is what a kernel of arrays leaves in memory.
func arrayOutput(t *testing.T, k *ir.Kernel) []byte {
	return warpOutput(t, k, Options{}, memory.Buffer{Name: "in", Elem: ir.S32, Count: 64 * 33, Fill: memory.Random(1, 1000)}, memory.Buffer{Name: "out", Elem: ir.S32, Count: 64 * 32, Fill: memory.Fill{}})
}
