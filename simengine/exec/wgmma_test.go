package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/ir"
)

// tileLayout places a matrix of lines of k elements in shared memory, as the PTX ISA draws it.
type tileLayout struct {
	swizzle         int
	transposed      bool
	leading, stride int // bytes
	bytes           int
}

// newLayout chooses where core matrices lie.
func newLayout(r *rand.Rand, swizzle int, transposed bool, lines, k, size int) tileLayout {
	t := tileLayout{swizzle: swizzle, transposed: transposed}
	pad := 16 * r.IntN(3)
	atom := 8 * max(swizzle, 16) // bytes of 8 lines
	switch {
	case swizzle == 0 && !transposed:
		t.leading = 128 + pad
		t.stride = 2*t.leading + pad
	case swizzle == 0:
		t.leading = 128 + pad
		t.stride = k/8*t.leading + pad
	case !transposed:
		t.leading, t.stride = 16, atom
	default:
		t.stride = atom
		t.leading = k / 8 * atom
	}
	for i := range lines {
		for j := range k {
			t.bytes = max(t.bytes, t.offset(i, j, size)+size)
		}
	}
	t.bytes = (t.bytes + 1023) &^ 1023
	return t
}

// offset is where element j of a line lies.
func (t *tileLayout) offset(i, j, size int) int {
	per := 16 / size
	switch {
	case t.swizzle == 0 && !t.transposed: // core matrices of 8 lines of 16 bytes
		return i/8*t.stride + i%8*16 + j/per*t.leading + j%per*size
	case t.swizzle == 0:
		return i/8*t.stride + j/8*t.leading + j%8*16 + i%8*size
	}
	row, byteInRow, base := i, j*size, 0
	if t.transposed { // a row is a column of elements of several lines
		row, byteInRow = j, i%(t.swizzle/size)*size
		base = i / (t.swizzle / size) * t.leading
	}
	at := base + row/8*t.stride + row%8*t.swizzle + byteInRow
	line, chunk := at/128, at/16%8
	return line*128 + (chunk^line%(t.swizzle/16))*16 + at%16
}

// descriptor describes the matrix at an address.
func (t *tileLayout) descriptor(addr int) uint64 {
	mode := map[int]uint64{0: 0, 128: 1, 64: 2, 32: 3}[t.swizzle]
	return uint64(addr>>4) | uint64(t.leading>>4)<<16 | uint64(t.stride>>4)<<32 | mode<<62
}

// wgmmaCase is one product.
type wgmmaCase struct {
	d, a, b        ir.Type
	n, k           int
	shared         bool // A is
	negA, negB     bool
	transA, transB bool
	scale, sat     bool
	swizzleA       int
	swizzleB       int
}

func randomProduct(r *rand.Rand) wgmmaCase {
	types := [][3]ir.Type{{ir.F32, ir.F16, ir.F16}, {ir.F16, ir.F16, ir.F16}, {ir.F32, ir.BF16, ir.BF16}, {ir.F32, ir.TF32, ir.TF32},
		{ir.F32, ir.E4M3, ir.E5M2}, {ir.F16, ir.E5M2, ir.E4M3}, {ir.F32, ir.E4M3, ir.E4M3}, {ir.S32, ir.S8, ir.U8}, {ir.S32, ir.U8, ir.U8}, {ir.S32, ir.S8, ir.S8}}
	t := types[r.IntN(len(types))]
	swizzles := []int{0, 32, 64, 128}
	c := wgmmaCase{d: t[0], a: t[1], b: t[2], n: 8 * (1 + r.IntN(32)), k: 32 / min(t[1].Size(), 4), shared: r.IntN(2) == 0, scale: r.IntN(3) > 0,
		swizzleA: swizzles[r.IntN(4)], swizzleB: swizzles[r.IntN(4)]}
	if c.d == ir.S32 {
		c.n = 16 * (1 + r.IntN(16))
		c.sat = r.IntN(2) == 0
		return c
	}
	c.negA, c.negB = r.IntN(2) == 0, r.IntN(2) == 0
	if c.a == ir.F16 || c.a == ir.BF16 {
		c.transA, c.transB = c.shared && r.IntN(2) == 0, r.IntN(2) == 0
		if c.transB && c.swizzleB > 0 {
			per := c.swizzleB / 2
			c.n = per * (1 + r.IntN(256/per))
		}
	}
	return c
}

func (c *wgmmaCase) String() string { return fmt.Sprintf("%+v", *c) }

// instruction spells the product: registers d of D, a of A.
func (c *wgmmaCase) instruction(d, a []string, descA, descB string) string {
	name := map[ir.Type]string{ir.E4M3: "e4m3", ir.E5M2: "e5m2"}
	spell := func(t ir.Type) string {
		if s := name[t]; s != "" {
			return s
		}
		return t.String()
	}
	text := fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d.", c.n, c.k)
	if c.sat {
		text += "satfinite."
	}
	text += fmt.Sprintf("%s.%s.%s {%s}, ", spell(c.d), spell(c.a), spell(c.b), strings.Join(d, ", "))
	if c.shared {
		text += descA
	} else {
		text += "{" + strings.Join(a, ", ") + "}"
	}
	text += ", " + descB + ", %p1"
	sign := map[bool]string{false: ", 1", true: ", -1"}
	bit := map[bool]string{false: ", 0", true: ", 1"}
	if c.d != ir.S32 {
		text += sign[c.negA] + sign[c.negB]
		if c.a == ir.F16 || c.a == ir.BF16 {
			if c.shared {
				text += bit[c.transA]
			}
			text += bit[c.transB]
		}
	}
	return text + ";"
}

// lanePlaces is the row (of a warp's 16) and the column of the elements of a lane's registers: of D, or
// of A with so many elements a register (PTX ISA, register fragments of wgmma).
func lanePlaces(lane, cols, per int, isD bool) (places [][2]int) {
	if isD {
		for i := range cols / 2 {
			places = append(places, [2]int{lane/4 + i/2%2*8, i/4*8 + lane%4*2 + i%2})
		}
		return places
	}
	for i := range cols / 2 {
		reg, e := i/per, i%per
		places = append(places, [2]int{lane/4 + reg%2*8, reg/2*4*per + lane%4*per + e})
	}
	return places
}

// TestWgmma compares random products with plain ones.
func TestWgmma(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	runs := 250
	if testing.Short() {
		runs = 40
	}
	for n := range runs {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		c := randomProduct(r)
		if err := checkProduct(t, r, &c); err != nil {
			t.Fatalf("run %d: %v: %v", n, &c, err)
		}
	}
}

func checkProduct(t *testing.T, r *rand.Rand, c *wgmmaCase) error {
	sizeA, sizeB := min(c.a.Size(), 4), min(c.b.Size(), 4)
	la := newLayout(r, c.swizzleA, c.transA, 64, c.k, sizeA)
	lb := newLayout(r, c.swizzleB, c.transB, c.n, c.k, sizeB)
	value := func(t ir.Type) float64 {
		switch t {
		case ir.U8:
			return float64(r.IntN(256))
		case ir.S8:
			return float64(r.IntN(256) - 128)
		case ir.E4M3, ir.E5M2:
			return float64(r.IntN(9) - 4)
		}
		return float64(r.IntN(65) - 32)
	}
	image := make([]byte, la.bytes+lb.bytes)
	a, b := make([]float64, 64*c.k), make([]float64, c.n*c.k)
	for i := range 64 {
		for j := range c.k {
			a[i*c.k+j] = value(c.a)
			element.Store(image[la.offset(i, j, sizeA):], encodeAny(c.a, a[i*c.k+j]), sizeA)
		}
	}
	for i := range c.n {
		for j := range c.k {
			b[i*c.k+j] = value(c.b)
			element.Store(image[la.bytes+lb.offset(i, j, sizeB):], encodeAny(c.b, b[i*c.k+j]), sizeB)
		}
	}
	// Registers: those of D, then those of A, 128 threads each.
	perD, regsD := 1, c.n/2
	if c.d == ir.F16 {
		perD, regsD = 2, c.n/4
	}
	perA := 4 / sizeA
	regsA := 64 * c.k * sizeA / 4 / 128
	words := make([]uint32, 128*(regsD+regsA))
	initial := make([]float64, 64*c.n)
	for thread := range 128 {
		row0 := thread / 32 * 16
		for i, at := range lanePlaces(thread%32, c.n, perD, true) {
			v := float64(r.IntN(33) - 16)
			if c.sat && r.IntN(4) == 0 {
				v = math.MaxInt32 - 3
			}
			initial[(row0+at[0])*c.n+at[1]] = v
			words[thread*(regsD+regsA)+i/perD] |= uint32(encodeAny(c.d, v)) << (i % perD * 16)
		}
		for i, at := range lanePlaces(thread%32, c.k, perA, false) {
			words[thread*(regsD+regsA)+regsD+i/perA] |= uint32(encodeAny(c.a, a[(row0+at[0])*c.k+at[1]])) << (i % perA * 8 * sizeA)
		}
	}
	got, err := runProduct(t, c, image, words, regsD, regsA, la.descriptor(0), lb.descriptor(la.bytes))
	if err != nil {
		return err
	}
	for thread := range 128 {
		row0 := thread / 32 * 16
		for i, at := range lanePlaces(thread%32, c.n, perD, true) {
			m, n := row0+at[0], at[1]
			want := 0.0
			if c.scale {
				want = initial[m*c.n+n]
			}
			sum := 0.0
			for k := range c.k {
				sum += a[m*c.k+k] * b[n*c.k+k]
			}
			if c.negA != c.negB {
				sum = -sum
			}
			want += sum
			if c.d == ir.S32 {
				if c.sat {
					want = min(max(want, math.MinInt32), math.MaxInt32)
				}
				want = float64(int32(int64(want)))
			}
			bits := uint32(got[thread*regsD+i/perD] >> (i % perD * 16))
			if c.d == ir.F16 {
				bits &= 0xffff
			}
			if w := uint32(encodeAny(c.d, want)); bits != w {
				return fmt.Errorf("row %d column %d of thread %d is %#x, want %#x (%v)", m, n, thread, bits, w, want)
			}
		}
	}
	return nil
}

// encodeAny is encode of signed integers too.
func encodeAny(t ir.Type, v float64) uint64 {
	if t.IsFloat() || t == ir.E4M3 || t == ir.E5M2 || t == ir.TF32 {
		return element.Encode(t, v)
	}
	return uint64(int64(v)) & (1<<(8*t.Size()) - 1)
}

func names(format string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf(format, i))
	}
	return list
}

// runProduct runs a kernel that copies the image to shared memory, loads registers, multiplies, and
// stores D.
func runProduct(t *testing.T, c *wgmmaCase, image []byte, words []uint32, regsD, regsA int, descA, descB uint64) ([]uint32, error) {
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, "\t"+format+"\n", args...) }
	b.WriteString(".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 image, .param .u64 regs, .param .u64 out)\n{\n")
	reg := ".b32"
	if c.d == ir.F32 {
		reg = ".f32"
	}
	f(".reg .pred %%p<4>;\n\t.reg .b32 %%r<8>;\n\t.reg %s %%d<%d>;\n\t.reg .b32 %%a<%d>;\n\t.reg .b64 %%rd<8>;", reg, regsD, regsA+1)
	f(".shared .align 1024 .b8 buf[%d];", len(image))
	f("ld.param.u64 %%rd0, [image];\n\tld.param.u64 %%rd1, [regs];\n\tld.param.u64 %%rd2, [out];\n\tmov.u32 %%r0, %%tid.x;\n\tmul.lo.u32 %%r1, %%r0, 4;")
	b.WriteString("copy:\n")
	f("cvt.u64.u32 %%rd3, %%r1;\n\tadd.s64 %%rd3, %%rd3, %%rd0;\n\tld.global.u32 %%r2, [%%rd3];\n\tmov.u32 %%r3, buf;\n\tadd.s32 %%r3, %%r3, %%r1;\n\tst.shared.u32 [%%r3], %%r2;")
	f("add.s32 %%r1, %%r1, 512;\n\tsetp.lt.u32 %%p0, %%r1, %d;\n\t@%%p0 bra copy;", len(image))
	f("fence.proxy.async.shared::cta;\n\tbar.sync 0;")
	f("mad.wide.u32 %%rd4, %%r0, %d, %%rd1;", 4*(regsD+regsA))
	for i := range regsD {
		f("ld.global%s %%d%d, [%%rd4+%d];", reg, i, 4*i)
	}
	for i := range regsA {
		f("ld.global.b32 %%a%d, [%%rd4+%d];", i, 4*(regsD+i))
	}
	f("mov.u64 %%rd5, %d;\n\tmov.u64 %%rd6, %d;\n\tsetp.%s.u32 %%p1, %%r0, 0xffffffff;", descA, descB, map[bool]string{true: "ne", false: "eq"}[c.scale])
	f("wgmma.fence.sync.aligned;")
	f("%s", c.instruction(names("%%d%d", regsD), names("%%a%d", regsA), "%rd5", "%rd6"))
	f("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;")
	f("mad.wide.u32 %%rd4, %%r0, %d, %%rd2;", 4*regsD)
	for i := range regsD {
		f("st.global%s [%%rd4+%d], %%d%d;", reg, 4*i, i)
	}
	b.WriteString("\tret;\n}\n")
	k := buildKernel(t, "k.ptx", []byte(b.String()))
	m := memory.New(0)
	raw := make([]byte, 4*len(words))
	for i, w := range words {
		binary.LittleEndian.PutUint32(raw[4*i:], w)
	}
	for _, x := range []memory.Buffer{{Name: "image", Elem: ir.B8, Count: int64(len(image)), Fill: memory.Bytes(image)}, {Name: "regs", Elem: ir.B8, Count: int64(len(raw)), Fill: memory.Bytes(raw)}, {Name: "out", Elem: ir.U32, Count: int64(128 * regsD), Fill: memory.Fill{}}} {
		if _, err := m.Alloc(x); err != nil {
			t.Fatal(err)
		}
	}
	params, err := m.BindParams(k, []memory.Arg{{Buffer: "image"}, {Buffer: "regs"}, {Buffer: "out"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(k, Full)
	if err != nil {
		return nil, err
	}
	if err := NewRunner(p).Run(Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{128, 1, 1}, Params: params}, m, 0, Options{Races: true, Uninitialised: true}, nil); err != nil {
		return nil, err
	}
	data, err := m.ReadBuffer("out")
	if err != nil {
		return nil, err
	}
	out := make([]uint32, len(data)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return out, nil
}

// BenchmarkWgmma is what the multiplications of a warp in a product take.
func BenchmarkWgmma(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	g := &mma.WarpgroupMMA{Matrix: &ir.Matrix{M: 64, N: 256, K: 16, D: ir.F32, A: ir.F16, B: ir.F16, C: ir.F32}}
	var t mma.WarpgroupTiles
	for i := range t.A {
		t.A[i] = r.Float64()
	}
	for b.Loop() {
		g.Multiply(&t)
	}
}
