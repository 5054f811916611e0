package bounds_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/bounds"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// The addresses that random programs compute of a thread's index are where they are said to be.
func TestRandomAddresses(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	known, evaluated := 0, 0
	for range 300 {
		p := randomProgram(rng)
		m := ptxtest.Module(t, "test.ptx", ptxtest.Header+".visible .entry k()\n.reqntid 64\n{\n"+p.text()+"\n}\n")
		k := m.Kernels[0]
		r := bounds.Of(k)
		exact := bounds.Exactly(r)
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			if in.Op != ir.St {
				continue
			}
			if each := exact.Shared(pc); each != nil {
				evaluated++
				for tid, at := range each {
					if a := p.value(uint32(tid)); a != at {
						t.Fatalf("thread %d stores at %d, said to store at %d\n%s", tid, a, at, p.text())
					}
				}
			}
			at, ok := r.Shared(&in.Src[0])
			if !ok {
				continue
			}
			known++
			for tid := range uint32(64) {
				if a := p.value(tid); int64(a) < at.Low || int64(a) > at.High {
					t.Fatalf("thread %d stores at %d, said to be in %v\n%s", tid, a, at, p.text())
				}
			}
		}
	}
	if known < 50 || evaluated < 20 {
		t.Errorf("of 300 addresses bounds are known of %d, values of %d", known, evaluated)
	}
}

// step is one instruction of a program: register a, and register b or a constant.
type step struct {
	op, a, b int
	constant uint32 // used if b is -1
}

type program []step

var operations = []struct {
	text  string
	value func(a, b uint32) uint32
}{
	{"add.s32", func(a, b uint32) uint32 { return a + b }},
	{"sub.s32", func(a, b uint32) uint32 { return a - b }},
	{"mul.lo.s32", func(a, b uint32) uint32 { return a * b }},
	{"and.b32", func(a, b uint32) uint32 { return a & b }},
	{"or.b32", func(a, b uint32) uint32 { return a | b }},
	{"xor.b32", func(a, b uint32) uint32 { return a ^ b }},
	{"min.s32", func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) }},
	{"max.s32", func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }},
	{"min.u32", func(a, b uint32) uint32 { return min(a, b) }},
	{"max.u32", func(a, b uint32) uint32 { return max(a, b) }},
	{"shl.b32", func(a, b uint32) uint32 { return a << min(b, 32) }},
	{"shr.u32", func(a, b uint32) uint32 { return a >> min(b, 32) }},
	{"rem.u32", func(a, b uint32) uint32 { return a % b }},
	{"div.u32", func(a, b uint32) uint32 { return a / b }},
}

func randomProgram(rng *rand.Rand) program {
	var p program
	for i := range 2 + rng.IntN(8) {
		s := step{op: rng.IntN(len(operations)), a: rng.IntN(i + 1), b: -1}
		switch operations[s.op].text {
		case "shl.b32", "shr.u32":
			s.constant = rng.Uint32N(6)
		case "rem.u32", "div.u32":
			s.constant = 1 + rng.Uint32N(100)
		default:
			if s.constant = rng.Uint32N(1 << rng.Uint32N(12)); rng.IntN(8) == 0 {
				s.constant = -s.constant
			}
			if rng.IntN(3) == 0 {
				s.b = rng.IntN(i + 1)
			}
		}
		p = append(p, s)
	}
	return p
}

func (p program) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, ".reg .b32 %%r<%d>;\n.extern .shared .align 16 .b8 tile[];\nmov.u32 %%r0, %%tid.x;\nmov.u32 %%r%d, tile;\n", len(p)+3, len(p)+2)
	for i, x := range p {
		b := fmt.Sprintf("%%r%d", x.b)
		if x.b < 0 {
			b = fmt.Sprint(int32(x.constant))
		}
		fmt.Fprintf(&s, "%s %%r%d, %%r%d, %s;\n", operations[x.op].text, i+1, x.a, b)
	}
	fmt.Fprintf(&s, "st.shared.b32 [%%r%d], 0;\nret;", len(p))
	return s.String()
}

// value is what the last instruction computes in a thread.
func (p program) value(tid uint32) uint32 {
	of := []uint32{tid}
	for _, x := range p {
		b := x.constant
		if x.b >= 0 {
			b = of[x.b]
		}
		of = append(of, operations[x.op].value(of[x.a], b))
	}
	return of[len(of)-1]
}

// A stage that comes back to the first after the last is one of them, whatever the number of iterations.
func TestStages(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .u32 n", `
	.reg .b32 %r<9>;
	.reg .pred %p<3>;
	.extern .shared .align 16 .b8 tile[];
	ld.param.u32 %r5, [n];
	mov.u32 %r1, -1;
	mov.u32 %r4, tile;
LOOP:
	add.s32 %r2, %r1, 1;
	setp.gt.s32 %p1, %r2, 2;
	selp.b32 %r7, 0, %r2, %p1;
	mov.u32 %r1, %r7;
	shl.b32 %r3, %r7, 10;
	add.s32 %r6, %r4, %r3;
	st.shared.b32 [%r6+64], 0;
	add.s32 %r5, %r5, -1;
	setp.ne.s32 %p2, %r5, 0;
	@%p2 bra LOOP;
	ret;`)
	r := bounds.Of(k)
	for pc := range k.Instrs {
		if in := &k.Instrs[pc]; in.Op == ir.St {
			if at, ok := r.Shared(&in.Src[0]); !ok || at != (bounds.Range{Low: 64, High: 2<<10 + 64}) {
				t.Errorf("stores at %v (%v), want 64 to 2112", at, ok)
			}
		}
	}
}
