package memory

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

func TestAllocation(t *testing.T) {
	m := New(0)
	addr := func(b Buffer) uint64 {
		t.Helper()
		a, err := m.Alloc(b)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	small := addr(Buffer{Name: "small", Elem: ir.U8, Count: 3, Fill: Fill{}})
	next := addr(Buffer{Name: "next", Elem: ir.F64, Count: 10, Fill: Fill{}})
	large := addr(Buffer{Name: "large", Elem: ir.F32, Count: 1 << 28, Fill: Random(1, 1)})
	if small%256 != 0 || next%256 != 0 || next <= small+3 || large%(2<<20) != 0 || large <= next {
		t.Errorf("buffers at %#x, %#x and %#x", small, next, large)
	}
	for _, c := range []struct {
		b    Buffer
		part string
	}{
		{Buffer{Name: "small", Elem: ir.U8, Count: 1, Fill: Fill{}}, "allocated twice"},
		{Buffer{Name: "huge", Elem: ir.U8, Count: 1 << 50, Fill: Fill{}}, "want 0 to"},
		{Buffer{Name: "negative", Elem: ir.U8, Count: -1, Fill: Fill{}}, "want 0 to"},
		{Buffer{Name: "pred", Elem: ir.Pred, Count: 1, Fill: Fill{}}, "cannot be stored"},
		{Buffer{Name: "nan", Elem: ir.F32, Count: 1, Fill: Random(1, math.NaN())}, "finite"},
		{Buffer{Name: "nil", Elem: ir.F32, Count: 1, Fill: Generated(nil)}, "without a function"},
	} {
		if _, err := m.Alloc(c.b); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v, want an error with %q", c.b.Name, err, c.part)
		}
	}
}

// TestFills checks that pages made one by one, in any order, hold what the
// elements are by definition.
func TestFills(t *testing.T) {
	const count = 5000
	for _, c := range []struct {
		name string
		elem ir.Type
		fill Fill
		ok   func(i int64, bits uint64) bool
	}{
		{"zeros", ir.F32, Fill{}, func(_ int64, v uint64) bool { return v == 0 }},
		{"constant", ir.F32, Constant(1.5), func(_ int64, v uint64) bool { return v == 0x3fc00000 }},
		{"negative", ir.S16, Constant(-2), func(_ int64, v uint64) bool { return v == 0xfffe }},
		{"floats", ir.F32, Random(9, 3), func(_ int64, v uint64) bool { f := math.Float32frombits(uint32(v)); return f >= 0 && f < 3 }},
		{"doubles", ir.F64, Random(9, 1e-3), func(_ int64, v uint64) bool { f := math.Float64frombits(v); return f >= 0 && f < 1e-3 }},
		{"halves", ir.F16, Random(9, 2), func(_ int64, v uint64) bool { return v < 0x4000 }},
		{"bytes", ir.U8, Random(9, 10), func(_ int64, v uint64) bool { return v < 10 }},
		{"integers", ir.U64, Random(9, 1<<40), func(_ int64, v uint64) bool { return v < 1<<40 }},
		{"generated", ir.S32, Generated(func(i int64) float64 { return float64(3 * i) }), func(i int64, v uint64) bool { return v == uint64(3*i) }},
	} {
		var first []byte
		for round := 0; round < 2; round++ {
			m := New(0)
			if _, err := m.Alloc(Buffer{Name: "b", Elem: c.elem, Count: count, Fill: c.fill}); err != nil {
				t.Fatal(err)
			}
			if round == 1 { // touch pages backwards before reading
				r := m.byName["b"]
				for p := int64(r.Size-1) / PageSize; p >= 0; p-- {
					m.Page(r, uint64(p))
				}
			}
			data, err := m.ReadBuffer("b")
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				first = data
			} else if !bytes.Equal(first, data) {
				t.Errorf("%s: contents depend on the order of pages", c.name)
			}
		}
		size := element.Size(c.elem)
		distinct := map[uint64]bool{}
		for i := int64(0); i < count; i++ {
			v := element.Load(first[i*int64(size):], size)
			distinct[v] = true
			if !c.ok(i, v) {
				t.Errorf("%s: element %d is %#x", c.name, i, v)
				break
			}
		}
		if c.fill.kind == fillRandom && len(distinct) < 8 {
			t.Errorf("%s: %d distinct values", c.name, len(distinct))
		}
	}
}

// TestPages runs random writes, reads and resets against a plain array, with
// so few pages that clean ones are dropped all the time.
func TestPages(t *testing.T) {
	const seed, size = 5, 64 * PageSize
	r := rand.New(rand.NewPCG(seed, 0))
	m := New(40 * PageSize)
	fill := Random(3, 256)
	if _, err := m.Alloc(Buffer{Name: "b", Elem: ir.U8, Count: size, Fill: fill}); err != nil {
		t.Fatal(err)
	}
	reg := m.byName["b"]
	model := make([]byte, size)
	fill.write(ir.U8, 0, model)
	pristine := append([]byte(nil), model...)
	written := map[uint64]bool{}
	for round := 0; round < 20000; round++ {
		at := uint64(r.IntN(size))
		page := at >> PageBits
		switch {
		case r.IntN(1000) == 0:
			m.Reset()
			copy(model, pristine)
			clear(written)
		case r.IntN(3) == 0 && (written[page] || len(written) < 30):
			p := m.Page(reg, page)
			p.Dirty = true
			p.Data[at&(PageSize-1)], model[at] = byte(round), byte(round)
			written[page] = true
		default:
			if p := m.Page(reg, page); p == nil || p.Data[at&(PageSize-1)] != model[at] {
				t.Fatalf("seed %d round %d: byte %d differs", seed, round, at)
			}
		}
		if len(m.present) > m.pageLimit {
			t.Fatalf("seed %d round %d: %d pages, the limit is %d", seed, round, len(m.present), m.pageLimit)
		}
	}
}

func TestPageLimit(t *testing.T) {
	m := New(4 * PageSize)
	if _, err := m.Alloc(Buffer{Name: "b", Elem: ir.U8, Count: 16 * PageSize, Fill: Fill{}}); err != nil {
		t.Fatal(err)
	}
	for i := uint64(0); i < 4; i++ {
		m.Page(m.byName["b"], i).Dirty = true
	}
	if m.Page(m.byName["b"], 5) != nil {
		t.Error("a fifth written page was made, the limit is 4")
	}
}

func TestBindParams(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .u32 a, .param .u64 b, .param .align 8 .b8 c[12], .param .f32 d", "ret;")
	m := New(0)
	base, err := m.Alloc(Buffer{Name: "buf", Elem: ir.F32, Count: 4, Fill: Fill{}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.BindParams(k, []Arg{{Elem: ir.S32, Scalar: -1}, {Buffer: "buf"}, {Bytes: []byte("twelve bytes")}, {Elem: ir.F32, Scalar: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	want := append([]byte{255, 255, 255, 255, 0, 0, 0, 0}, make([]byte, 8)...)
	element.Store(want[8:], base, 8)
	want = append(append(want, "twelve bytes"...), 0, 0, 0, 0x3f)
	if !bytes.Equal(got, want) {
		t.Errorf("parameters %x, want %x", got, want)
	}
	ok := []Arg{{Elem: ir.S32}, {Buffer: "buf"}, {Bytes: make([]byte, 12)}, {Elem: ir.F32}}
	for _, c := range []struct {
		at   int
		arg  Arg
		part string
	}{
		{0, Arg{Elem: ir.F64}, "argument 0 (a): a scalar of 8 bytes for a parameter of 4"},
		{1, Arg{Buffer: "none"}, "no buffer \"none\""},
		{0, Arg{Buffer: "buf"}, "a buffer for a parameter of 4 bytes"},
		{2, Arg{Bytes: make([]byte, 3)}, "3 bytes for a parameter of 12"},
	} {
		args := append([]Arg(nil), ok...)
		args[c.at] = c.arg
		if _, err := m.BindParams(k, args); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%v, want an error with %q", err, c.part)
		}
	}
	if _, err := m.BindParams(k, ok[:2]); err == nil || !strings.Contains(err.Error(), "takes 4 arguments, got 2") {
		t.Errorf("%v, want the number of arguments", err)
	}
}
