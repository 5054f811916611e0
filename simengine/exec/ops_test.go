package exec

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// opSeed seeds the random operands; it is printed with every failure.
const opSeed = 20260

// regClass is how a PTX register of a type is declared, and its size in bytes.
func regClass(typ string) (string, int) {
	switch typ {
	case "pred":
		return "pred", 4
	case "u8", "s8", "u16", "s16", "b16", "f16", "bf16":
		return "b16", 2
	case "f32":
		return "f32", 4
	case "f64":
		return "f64", 8
	case "u64", "s64", "b64":
		return "b64", 8
	}
	return "b32", 4
}

// opKernel is a kernel in which thread i loads operand s of types[s] from
// buffer s at i, runs the body and stores %d.
func opKernel(body, dst string, srcs []string) string {
	var b strings.Builder
	b.WriteString(".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry op(.param .u64 out, .param .u64 s0, .param .u64 s1, .param .u64 s2)\n{\n")
	b.WriteString(".reg .b64 %p0, %p1, %p2, %p3, %off;\n.reg .b32 %tid;\n.reg .pred %t;\n")
	class, size := regClass(dst)
	fmt.Fprintf(&b, ".reg .%s %%d;\n.reg .b32 %%w;\n", class)
	b.WriteString("mov.u32 %tid, %tid.x;\nld.param.u64 %p0, [out];\n")
	for i, s := range srcs {
		class, n := regClass(s)
		fmt.Fprintf(&b, ".reg .%s %%s%d;\nld.param.u64 %%p%d, [s%d];\nmul.wide.u32 %%off, %%tid, 8;\nadd.s64 %%p%d, %%p%d, %%off;\n", class, i, i+1, i, i+1, i+1)
		if class == "pred" {
			fmt.Fprintf(&b, "ld.global.u32 %%w, [%%p%d];\nsetp.ne.u32 %%s%d, %%w, 0;\n", i+1, i)
			continue
		}
		fmt.Fprintf(&b, "ld.global.b%d %%s%d, [%%p%d];\n", 8*n, i, i+1)
	}
	b.WriteString(body + "\n")
	b.WriteString("mul.wide.u32 %off, %tid, 8;\nadd.s64 %p0, %p0, %off;\n")
	if class == "pred" {
		b.WriteString("selp.u32 %w, 1, 0, %d;\nst.global.u32 [%p0], %w;\n")
	} else {
		fmt.Fprintf(&b, "st.global.b%d [%%p0], %%d;\n", 8*size)
	}
	b.WriteString("ret;\n}\n")
	return b.String()
}

// runOp runs a body for every row of operands and returns the results.
func runOp(t testing.TB, body, dst string, srcs []string, rows [][3]uint64) []uint64 {
	t.Helper()
	k := buildKernel(t, "op.ptx", []byte(opKernel(body, dst, srcs)))
	m := memory.New(0)
	n := int64(len(rows))
	var args []memory.Arg
	for s := -1; s < 3; s++ {
		data := make([]byte, 8*n)
		for i := range rows {
			if s >= 0 {
				binary.LittleEndian.PutUint64(data[8*i:], rows[i][s])
			}
		}
		name := fmt.Sprintf("b%d", s+1)
		if _, err := m.Alloc(memory.Buffer{Name: name, Elem: ir.B64, Count: n, Fill: memory.Bytes(data)}); err != nil {
			t.Fatal(err)
		}
		args = append(args, memory.Arg{Buffer: name})
	}
	params, err := m.BindParams(k, args)
	if err != nil {
		t.Fatal(err)
	}
	l := Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{len(rows), 1, 1}, Params: params}
	if err := NewRunner(compileFor(t, k, Full)).Run(l, m, 0, Options{}, nil); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	out, err := m.ReadBuffer("b0")
	if err != nil {
		t.Fatal(err)
	}
	res := make([]uint64, n)
	for i := range res {
		res[i] = binary.LittleEndian.Uint64(out[8*i:])
	}
	return res
}

// edge values of every width, signed, unsigned and as floats.
var edges = []uint64{
	0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	1 << 63, 1<<63 - 1, ^uint64(0), 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x007fffff,
	0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000000, 0x3c00, 0x7c00, 0x7e00, 0x0001, 0x03ff, 0x0400, 0x7bff,
	0x3ff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000, 0x0000000000000001, 0x43e0000000000000, 0xc3e0000000000000,
}

// operands makes rows of random operands, edge values among them.
func operands(r *rand.Rand, n int) [][3]uint64 {
	rows := make([][3]uint64, n)
	for i := range rows {
		for s := range rows[i] {
			switch r.IntN(4) {
			case 0:
				rows[i][s] = edges[r.IntN(len(edges))]
			case 1:
				rows[i][s] = r.Uint64() >> r.IntN(64)
			default:
				rows[i][s] = r.Uint64()
			}
		}
	}
	return rows
}

// opCase is an instruction and what it should compute. Operands arrive with
// the bits of their types, the result is compared in the bits of dst.
type opCase struct {
	body string
	dst  string
	srcs []string
	want func(a, b, c uint64) uint64
}

func lowBits(v uint64, typ string) uint64 {
	_, n := regClass(typ)
	switch {
	case typ == "pred":
		if uint32(v) != 0 {
			return 1
		}
		return 0
	case n == 8:
		return v
	}
	return v & (1<<(8*n) - 1)
}

func checkOps(t *testing.T, cases []opCase) {
	t.Helper()
	for _, c := range cases {
		rows := operands(rand.New(rand.NewPCG(opSeed, uint64(len(c.body)))), 640)
		got := runOp(t, c.body, c.dst, c.srcs, rows)
		for i, row := range rows {
			in := [3]uint64{}
			for s := range c.srcs {
				in[s] = lowBits(row[s], c.srcs[s])
			}
			want := lowBits(c.want(in[0], in[1], in[2]), c.dst)
			if g := lowBits(got[i], c.dst); g != want {
				t.Errorf("%s of %#x = %#x, want %#x (seed %d)", c.body, in[:len(c.srcs)], g, want, opSeed)
				break
			}
		}
	}
}
