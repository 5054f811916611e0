package exec

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/ir"
)

// A wmmaCase is one shape of wmma with its layouts and state space.
type wmmaCase struct {
	m, n, k           int
	ab, c             ir.Type
	row, brow, crow   bool
	space             ir.Space
	aRegs, bRegs, cRs int
}

func (c wmmaCase) String() string {
	return fmt.Sprintf("m%dn%dk%d %v %v %v%v%v %v", c.m, c.n, c.k, c.ab, c.c, c.row, c.brow, c.crow, c.space)
}

func wmmaCases() (list []wmmaCase) {
	add := func(m, n, k int, ab, c ir.Type, a, b, r int) {
		for i := range 8 {
			for _, space := range []ir.Space{ir.Generic, ir.Global, ir.Shared} {
				w := wmmaCase{m, n, k, ab, c, i&1 == 0, i&2 == 0, i&4 == 0, space, a, b, r}
				if (ab == ir.S8 || ab == ir.U8) && (!w.row || w.brow) {
					continue // refused by name
				}
				list = append(list, w)
			}
		}
	}
	for _, s := range [][5]int{{16, 16, 4, 4, 2}, {32, 8, 8, 2, 1}, {8, 32, 2, 8, 4}} {
		m, n := s[0], s[1]
		add(m, n, 16, ir.F16, ir.F32, 8, 8, 8)
		add(m, n, 16, ir.F16, ir.F16, 8, 8, 4)
		add(m, n, 16, ir.BF16, ir.F32, s[2], s[3], 8)
		add(m, n, 16, ir.S8, ir.S32, max(1, s[2]/2), max(1, s[3]/2), 8)
		add(m, n, 16, ir.U8, ir.S32, max(1, s[2]/2), max(1, s[3]/2), 8)
	}
	add(16, 16, 8, ir.TF32, ir.F32, 4, 4, 8)
	add(8, 8, 4, ir.F64, ir.F64, 1, 1, 2)
	return list
}

// smallInts is element i of a matrix: integers that every type has and whose products and sums
// no type rounds.
func smallInts(t ir.Type) func(int64) float64 {
	if t == ir.U8 {
		return func(i int64) float64 { return float64((i*i + 3*i) % 7) }
	}
	return func(i int64) float64 { return float64((i*i+3*i)%7) - 3 }
}

func layoutName(row bool) string {
	if row {
		return "row"
	}
	return "col"
}

// text is a kernel that multiplies matrices A and B, adds C and stores D, with leading
// dimensions longer than needed.
func (c wmmaCase) text() string {
	var b strings.Builder
	reg := func(prefix string, t ir.Type, n int) {
		typ := "b32"
		if t == ir.F32 || t == ir.F64 {
			typ = t.String()
		}
		fmt.Fprintf(&b, "\t.reg .%s %%%s<%d>;\n", typ, prefix, n)
	}
	b.WriteString(".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n")
	b.WriteString("\t.reg .u64 %p<8>;\n\t.reg .u32 %s<4>;\n\t.reg .b32 %w;\n\t.reg .pred %q;\n\t.shared .align 16 .b8 tile[32768];\n")
	reg("a", c.ab, c.aRegs)
	reg("b", c.ab, c.bRegs)
	reg("c", c.c, c.cRs)
	for i := range 4 {
		fmt.Fprintf(&b, "\tld.param.u64 %%p%d, [p%d];\n", i, i)
	}
	space := ""
	if c.space != ir.Generic {
		space = "." + c.space.String()
	}
	at := [4]string{"[%p0]", "[%p1]", "[%p2]", "[%p3]"}
	if c.space == ir.Shared {
		for i := range 3 { // each matrix at 8 KB of its own; D replaces C
			fmt.Fprintf(&b, "\tmov.u32 %%s%d, tile;\n\tadd.u32 %%s%d, %%s%d, %d;\n", i, i, i, i*8192)
			fmt.Fprintf(&b, "\tmov.u64 %%p4, %%p%d;\n\tmov.u32 %%s3, %%s%d;\n", i, i)
			fmt.Fprintf(&b, "copy%d:\n\tld.global.u32 %%w, [%%p4];\n\tst.shared.u32 [%%s3], %%w;\n\tadd.u64 %%p4, %%p4, 4;\n\tadd.u32 %%s3, %%s3, 4;\n\tsub.u32 %%w, %%s3, %%s%d;\n\tsetp.lt.u32 %%q, %%w, 8192;\n\t@%%q bra copy%d;\n", i, i, i)
			at[i] = fmt.Sprintf("[%%s%d]", i)
		}
		at[3] = at[2]
		b.WriteString("\tbar.sync 0;\n")
	}
	shape := fmt.Sprintf("m%dn%dk%d", c.m, c.n, c.k)
	fmt.Fprintf(&b, "\twmma.load.a.sync.aligned.%s.%s%s.%v %s, %s, %d;\n", layoutName(c.row), shape, space, c.ab, list("a", 0, c.aRegs), at[0], c.ld(c.row, c.m, c.k))
	fmt.Fprintf(&b, "\twmma.load.b.sync.aligned.%s.%s%s.%v %s, %s, %d;\n", layoutName(c.brow), shape, space, c.ab, list("b", 0, c.bRegs), at[1], c.ld(c.brow, c.k, c.n))
	fmt.Fprintf(&b, "\twmma.load.c.sync.aligned.%s.%s%s.%v %s, %s, %d;\n", layoutName(c.crow), shape, space, c.c, list("c", 0, c.cRs), at[2], c.ld(c.crow, c.m, c.n))
	types := fmt.Sprintf("%v.%v.%v.%v", c.c, c.ab, c.ab, c.c)
	if c.ab == ir.F16 {
		types = fmt.Sprintf("%v.%v", c.c, c.c)
	}
	fmt.Fprintf(&b, "\twmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;\n", layoutName(c.row), layoutName(c.brow), shape, types, list("c", 0, c.cRs), list("a", 0, c.aRegs), list("b", 0, c.bRegs), list("c", 0, c.cRs))
	fmt.Fprintf(&b, "\twmma.store.d.sync.aligned.%s.%s%s.%v %s, %s, %d;\n", layoutName(c.crow), shape, space, c.c, at[3], list("c", 0, c.cRs), c.ld(c.crow, c.m, c.n))
	if c.space == ir.Shared {
		b.WriteString("\tbar.sync 0;\n\tmov.u32 %s3, %s2;\nback:\n\tld.shared.u32 %w, [%s3];\n\tst.global.u32 [%p3], %w;\n\tadd.u64 %p3, %p3, 4;\n\tadd.u32 %s3, %s3, 4;\n\tsub.u32 %w, %s3, %s2;\n\tsetp.lt.u32 %q, %w, 8192;\n\t@%q bra back;\n")
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

func (c wmmaCase) ld(row bool, rows, cols int) int {
	if !row {
		cols = rows
	}
	return (cols + 8 + 15) &^ 15 // PTX wants a multiple of 16 bytes
}

func at(row bool, ld, i, j int) int64 {
	if row {
		return int64(i*ld + j)
	}
	return int64(j*ld + i)
}

// TestWmma multiplies matrices of every type and shape, in every layout, in device and in shared
// memory.
func TestWmma(t *testing.T) {
	for _, c := range wmmaCases() {
		k := buildKernel(t, "wmma.ptx", []byte(c.text()))
		elem := func(t ir.Type) ir.Type {
			if t == ir.TF32 {
				return ir.F32
			}
			return t
		}
		var buffers []memory.Buffer
		for i, e := range []ir.Type{c.ab, c.ab, c.c, c.c} {
			buffers = append(buffers, memory.Buffer{Name: fmt.Sprint("b", i), Elem: elem(e), Count: int64(8192 / e.Size()), Fill: memory.Generated(smallInts(c.ab))})
		}
		out := warpOutput(t, k, Options{}, buffers...)
		f := smallInts(c.ab)
		la, lb, lc := c.ld(c.row, c.m, c.k), c.ld(c.brow, c.k, c.n), c.ld(c.crow, c.m, c.n)
		for i := range c.m {
			for j := range c.n {
				n := at(c.crow, lc, i, j)
				want := f(n)
				for x := range c.k {
					want += f(at(c.row, la, i, x)) * f(at(c.brow, lb, x, j))
				}
				if got := elementOf(c.c, out, n); got != want {
					t.Fatalf("%v: row %d, column %d is %v, want %v", c, i, j, got, want)
				}
			}
		}
	}
}

// elementOf is element i of a buffer.
func elementOf(t ir.Type, data []byte, i int64) float64 {
	f := mma.FragmentOf(t, 8, 8)
	var v [8]byte
	copy(v[:], data[int(i)*t.Size():][:t.Size()])
	return f.Decode(binary.LittleEndian.Uint64(v[:]))
}

// matrixOps are instructions on matrices as a warp executes them: registers of B, A and C are
// words of a buffer, 16 a lane, and so are results.
func matrixOps() map[string]string {
	ops := map[string]string{}
	product := func(types string, d, a, b int, shapes ...string) {
		for _, s := range shapes {
			ops["mma."+s+"."+types] = fmt.Sprintf("mma.sync.aligned.%s.row.col.%s %s, %s, %s, %s;", s, types, list("d", 0, d), list("r", 0, a), list("r", 4, b), list("r", 8, d))
		}
	}
	product("f32.f16.f16.f32", 4, 4, 2, "m16n8k16")
	product("f32.f16.f16.f32", 4, 2, 1, "m16n8k8")
	product("f16.f16.f16.f16", 2, 4, 2, "m16n8k16")
	product("f16.f16.f16.f16", 2, 2, 1, "m16n8k8")
	product("f32.bf16.bf16.f32", 4, 4, 2, "m16n8k16")
	product("f32.bf16.bf16.f32", 4, 2, 1, "m16n8k8")
	product("f32.tf32.tf32.f32", 4, 4, 2, "m16n8k8")
	product("f32.tf32.tf32.f32", 4, 2, 1, "m16n8k4")
	for _, t := range []string{"s32.s8.s8.s32", "s32.u8.u8.s32", "s32.s8.u8.s32", "s32.u8.s8.s32"} {
		product(t, 4, 4, 2, "m16n8k32")
		product(t, 4, 2, 1, "m16n8k16")
		product(t, 2, 1, 1, "m8n8k16")
	}
	for n := 1; n <= 4; n *= 2 {
		ops[fmt.Sprintf("ldmatrix.x%d", n)] = fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x%d.shared.b16 %s, [%%at];", n, list("d", 0, n))
		ops[fmt.Sprintf("ldmatrix.x%d.trans", n)] = fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x%d.trans.shared.b16 %s, [%%at];", n, list("d", 0, n))
	}
	ops["movmatrix"] = "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %r0;"
	return ops
}

func list(prefix string, first, n int) string {
	var b []string
	for i := range n {
		b = append(b, fmt.Sprintf("%%%s%d", prefix, first+i))
	}
	return "{" + strings.Join(b, ", ") + "}"
}

// matrixText is a kernel for one instruction. Of ldmatrix row i of the matrices lies at 16 bytes times
// 5*i%32, so that no two rows are neighbours.
func matrixText(op string) string {
	floats := ""
	if strings.Contains(op, ".f32.") {
		floats = "f"
	}
	var b strings.Builder
	b.WriteString(".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n")
	b.WriteString("\t.reg .b32 %r<16>;\n\t.reg .b32 %d<4>;\n\t.reg .f32 %f<8>;\n\t.reg .u32 %t, %at, %b;\n\t.reg .u64 %p<4>;\n\t.shared .align 16 .b8 tile[512];\n")
	b.WriteString("\tmov.u32 %t, %tid.x;\n\tld.param.u64 %p0, [in];\n\tld.param.u64 %p1, [out];\n\tmul.wide.u32 %p2, %t, 64;\n\tadd.u64 %p0, %p0, %p2;\n\tmul.wide.u32 %p2, %t, 16;\n\tadd.u64 %p1, %p1, %p2;\n")
	for i := range 12 {
		fmt.Fprintf(&b, "\tld.global.b32 %%r%d, [%%p0+%d];\n", i, 4*i)
	}
	b.WriteString("\tmov.u32 %b, tile;\n\tmad.lo.u32 %at, %t, 16, %b;\n\tst.shared.v4.b32 [%at], {%r0, %r1, %r2, %r3};\n\tbar.sync 0;\n")
	b.WriteString("\tmul.lo.u32 %t, %t, 5;\n\tand.b32 %t, %t, 31;\n\tmad.lo.u32 %at, %t, 16, %b;\n")
	for i := range 4 {
		fmt.Fprintf(&b, "\tmov.b32 %%d%d, 0;\n", i)
	}
	if floats != "" {
		for i := range 4 {
			fmt.Fprintf(&b, "\tmov.b32 %%f%d, %%r%d;\n", i, 8+i)
		}
		op = strings.ReplaceAll(strings.ReplaceAll(op, "%d", "%f"), "{%r8, %r9, %r10, %r11}", "{%f0, %f1, %f2, %f3}")
	}
	fmt.Fprintf(&b, "\t%s\n", op)
	if floats != "" {
		for i := range 4 {
			fmt.Fprintf(&b, "\tmov.b32 %%d%d, %%f%d;\n", i, i)
		}
	}
	b.WriteString("\tst.global.v4.b32 [%p1], {%d0, %d1, %d2, %d3};\n\tret;\n}\n")
	return b.String()
}

// matrixInput is the words that a kernel of matrixText reads: small integers of the type that the
// instruction multiplies, and of the one that it adds.
func matrixInput(name string) []byte {
	types := map[string]ir.Type{"f16": ir.F16, "bf16": ir.BF16, "tf32": ir.F32, "s8": ir.S8, "u8": ir.U8, "s32": ir.S32, "f32": ir.F32}
	words := strings.Split(name, ".")
	ab, bb, c := ir.U8, ir.U8, ir.S32
	if words[0] == "mma" {
		ab, bb, c = types[words[3]], types[words[4]], types[words[2]]
	}
	var data []byte
	for i := range 32 * 16 {
		t := ab
		switch {
		case i%16 >= 8:
			t = c
		case i%16 >= 4:
			t = bb
		}
		var word uint64
		for e := range 4 / t.Size() {
			v := smallInts(t)(int64(5*i + e))
			if words[0] != "mma" {
				v = float64((4*i + e) % 251)
			}
			word |= element.Encode(t, v) & (1<<(8*t.Size()) - 1) << (8 * t.Size() * e)
		}
		data = binary.LittleEndian.AppendUint32(data, uint32(word))
	}
	return data
}

// TestMatricesAgainstSilicon runs each instruction on matrices with the same registers as an H200 did and wants the
// same results. The file testdata/matrices.txt.gz has a line of words in hexadecimal for each. MATRICES=DIR writes
// the kernels and what they read there instead, for deploy/calibrate/microbench/fragments.cu.
func TestMatricesAgainstSilicon(t *testing.T) {
	if dir := os.Getenv("MATRICES"); dir != "" {
		for name, op := range matrixOps() {
			if os.WriteFile(filepath.Join(dir, name+".ptx"), []byte(matrixText(op)), 0o644) != nil || os.WriteFile(filepath.Join(dir, name+".in"), matrixInput(name), 0o644) != nil {
				t.Fatal("not written")
			}
		}
		return
	}
	text, err := results.Content("testdata/matrices.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[name] = words
	}
	for name, op := range matrixOps() {
		if got := runMatrix(t, name, op); got != want[name] {
			t.Errorf("%s gives\n%s, want\n%s", name, got, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s was measured and is not run", name)
	}
}

// runMatrix is the results of an instruction in hexadecimal.
func runMatrix(t *testing.T, name, op string) string {
	k := buildKernel(t, name, []byte(matrixText(op)))
	out := warpOutput(t, k, Options{Races: true}, memory.Buffer{Name: "in", Elem: ir.B32, Count: 512, Fill: memory.Bytes(matrixInput(name))}, memory.Buffer{Name: "out", Elem: ir.B32, Count: 128, Fill: memory.Fill{}})
	return hex.EncodeToString(out)
}

// An ldmatrix that only some lanes execute, or whose other lanes' addresses lead nowhere, loads
// the rows of those that do.
func TestLoadMatricesInPart(t *testing.T) {
	for name, body := range map[string]string{
		"addresses of the others out of range": ".reg .b32 %q<4>;\nsetp.lt.u32 %p0, %r0, 3;\nshl.b32 %r2, %r0, 4;\nselp.b32 %r1, %r2, 2147483392, %p0;\n@%p0 ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%q0, %q1, %q2, %q3}, [%r1];\nst.global.u32 [%rd3], %q0;",
		"transposed":                           ".reg .b32 %q<4>;\nsetp.lt.u32 %p0, %r0, 3;\nshl.b32 %r2, %r0, 4;\nselp.b32 %r1, %r2, 2147483392, %p0;\n@%p0 ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%q0, %q1}, [%r1];\nst.global.u32 [%rd3], %q0;",
		"none of those that give an address":   ".reg .b32 %q<4>;\nand.b32 %r3, %r0, 31;\nsetp.gt.u32 %p0, %r3, 16;\nshl.b32 %r2, %r0, 29;\n@%p0 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%q0}, [%r2];\nst.global.u32 [%rd3], %q0;",
	} {
		ended := runMutant(bodyKernel("", body), 2)
		if len(ended) != 2 {
			t.Fatalf("%s: not compiled: %v", name, ended)
		}
		for mode, err := range ended {
			if err != nil {
				t.Errorf("%s, %v: %v", name, mode, err)
			}
		}
	}
}
