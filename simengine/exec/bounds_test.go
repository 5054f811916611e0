package exec

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// strays is a kernel whose threads read, write or add at %rd9. %rd5 and %rd6 point to x and y, of 100 floats each,
// and %rd7 to a table with the address of y. n is 1024, the bytes from x to y.
func strays(body string) string {
	return `.version 8.5
.target sm_90
.address_size 64
.global .align 4 .f32 first[4];
.global .align 4 .f32 second[4];
.const .align 4 .f32 cfirst[4];
.const .align 4 .f32 csecond[4];
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 table, .param .u64 n, .param .align 8 .b8 s[16])
{
	.reg .pred %p<8>;
	.reg .b32 %r<32>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<24>;
	.shared .align 16 .b8 buf[256];
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u64 %rd3, [table];
	ld.param.u64 %rd4, [n];
	cvta.to.global.u64 %rd5, %rd1;
	cvta.to.global.u64 %rd6, %rd2;
	cvta.to.global.u64 %rd7, %rd3;
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd8, %r0, 4;
	setp.lt.u32 %p0, %r0, 16;
` + body + `
	ret;
}
`
}

// A pointer belongs to the argument or variable it comes from, wherever it strays.
func TestPointersBelongToTheirArgument(t *testing.T) {
	const load = "\nld.global.f32 %f0, [%rd9];"
	const past = "past the end of x, 100 elements of f32 (400 bytes)"
	for _, c := range []struct {
		name, body string
		want       string // of the fault; "": none
	}{
		{"an element", "add.s64 %rd9, %rd5, %rd8;" + load, ""},
		{"the last element", "add.s64 %rd9, %rd5, 396;" + load, ""},
		{"the next buffer", "add.s64 %rd9, %rd5, %rd8;\nld.global.f32 %f0, [%rd9+1024];", "reads 4 bytes, 624 bytes (156 elements) " + past},
		{"the last buffer", "add.s64 %rd9, %rd6, %rd8;\nld.global.f32 %f0, [%rd9+-1024];", "reads 4 bytes, 1024 bytes (256 elements) before y, 100 elements of f32 (400 bytes)"},
		{"the gap", "add.s64 %rd9, %rd5, 400;" + load, "reads 4 bytes right " + past},
		{"across the end", "add.s64 %rd9, %rd5, 384;\nld.global.v4.f32 {%f0,%f1,%f2,%f3}, [%rd9+0];\nld.global.v2.u64 {%rd10,%rd11}, [%rd9];\nadd.s64 %rd9, %rd9, 16;\nld.global.u64 %rd10, [%rd9+-8];\nadd.s64 %rd9, %rd9, -4;\nld.global.u8 %r1, [%rd9+3];\nld.global.u8 %r1, [%rd9+4];", "reads 1 byte right " + past},
		{"a store", "st.global.f32 [%rd5+1024], 0f00000000;", "writes 4 bytes, 624 bytes (156 elements) " + past},
		{"an atomic", "atom.global.add.f32 %f0, [%rd5+1024], 0f3f800000;", "624 bytes (156 elements) " + past},
		{"an asynchronous copy", "mov.u32 %r1, buf;\ncp.async.ca.shared.global [%r1], [%rd5+1024], 16;", "reads 16 bytes, 624 bytes (156 elements) " + past},
		{"a generic load", "ld.f32 %f0, [%rd1+1024];", "624 bytes (156 elements) " + past},
		{"a walking pointer", "mov.u64 %rd9, %rd5;\nmov.u32 %r1, 0;\nl:\nld.global.f32 %f0, [%rd9];\nadd.s64 %rd9, %rd9, 4;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 200;\n@%p1 bra l;", "reads 4 bytes right " + past},
		{"64-bit index scaled by a shift", "shl.b64 %rd10, %rd4, 0;\nadd.s64 %rd9, %rd5, %rd10;" + load, "624 bytes (156 elements) " + past},
		{"64-bit index from a parameter", "add.s64 %rd9, %rd5, %rd4;" + load, "624 bytes (156 elements) " + past},
		{"64-bit index from memory", "ld.global.u64 %rd10, [%rd7+8];\nshl.b64 %rd11, %rd10, 2;\nadd.s64 %rd9, %rd5, %rd11;" + load, "624 bytes (156 elements) " + past},
		{"one of two", "selp.b64 %rd9, %rd5, %rd6, %p0;" + load, ""},
		{"one of two, through branches", "mov.u64 %rd9, %rd5;\n@%p0 bra l;\nmov.u64 %rd9, %rd6;\nl:" + load, ""},
		{"neither of two", "selp.b64 %rd9, %rd5, %rd6, %p0;\nld.global.f32 %f0, [%rd9+404];", "reads 4 bytes, 4 bytes (1 element) past the end of"},
		{"aligned down", "add.s64 %rd9, %rd5, 20;\nshr.u64 %rd9, %rd9, 4;\nshl.b64 %rd9, %rd9, 4;" + load, ""},
		{"aligned down, masked", "and.b64 %rd9, %rd5, -256;\nld.global.f32 %f0, [%rd9+1024];", "624 bytes (156 elements) " + past},
		{"by the difference of two", "sub.s64 %rd10, %rd6, %rd5;\nadd.s64 %rd9, %rd5, %rd10;" + load, ""},
		{"a pointer from memory", "ld.global.u64 %rd9, [%rd7];" + load, ""},
		{"a pointer in a structure", "ld.param.u64 %rd9, [s+8];" + load, ""},
		{"a pointer from memory to nothing", "ld.global.u64 %rd9, [%rd7];\nld.global.f32 %f0, [%rd9+400];", "the nearest of those it may be meant for"},
		{"a variable", "mov.u64 %rd9, first;\nld.global.f32 %f0, [%rd9+12];", ""},
		{"the next variable", "mov.u64 %rd9, first;\nld.global.f32 %f0, [%rd9+16];", "right past the end of first, 16 elements"},
		{"the last variable", "ld.global.f32 %f0, [second+-4];", "4 bytes before second"},
		{"a constant", "mov.u64 %rd9, csecond;\nld.const.f32 %f0, [%rd9+12];", ""},
		{"the next constant", "mov.u64 %rd9, cfirst;\nld.const.f32 %f0, [%rd9+20];", "reads 4 bytes, 4 bytes (1 element) past the end of cfirst, 4 elements of f32 (16 bytes)"},
		{"the last constant", "ld.const.f32 %f0, [csecond+-4];", "reads 4 bytes, 4 bytes (1 element) before csecond"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := buildKernel(t, "k.ptx", []byte(strays(c.body)))
			m, params := strayMemory(t, k)
			l := Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{32, 1, 1}, Params: params}
			for _, mode := range []Mode{Full, Slice} {
				err := NewRunner(compileFor(t, k, mode)).Run(l, m, 0, Options{}, nil)
				var f *fault.Fault
				switch {
				case c.want == "" && err != nil:
					t.Errorf("%v: %v", mode, err)
				case c.want != "" && (!errors.As(err, &f) || f.Kind != fault.OutOfBounds || !strings.Contains(f.Error(), c.want)):
					t.Errorf("%v: %v, want %q", mode, err, c.want)
				}
			}
		})
	}
}

func strayMemory(t *testing.T, k *ir.Kernel) (*memory.Device, []byte) {
	t.Helper()
	m := memory.New(0)
	if err := m.LoadModule(k); err != nil {
		t.Fatal(err)
	}
	address := func(b memory.Buffer) uint64 {
		at, err := m.Alloc(b)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	x := address(memory.Buffer{Name: "x", Elem: ir.F32, Count: 100, Fill: memory.Constant(1)})
	y := address(memory.Buffer{Name: "y", Elem: ir.F32, Count: 100, Fill: memory.Constant(2)})
	table := binary.LittleEndian.AppendUint64(nil, y)
	table = binary.LittleEndian.AppendUint64(table, (y-x)/4)
	address(memory.Buffer{Name: "table", Elem: ir.U64, Count: 2, Fill: memory.Bytes(table)})
	const apart = 1024 // allocations of so many bytes have a gap between them
	if y-x != apart {
		t.Fatalf("y lies %d bytes behind x, want %d", y-x, apart)
	}
	params, err := m.BindParams(k, []memory.Arg{{Buffer: "x"}, {Buffer: "y"}, {Buffer: "table"}, {Elem: ir.U64, Scalar: float64(y - x)}, {Bytes: binary.LittleEndian.AppendUint64(make([]byte, 8), y)}})
	if err != nil {
		t.Fatal(err)
	}
	return m, params
}

// A runner that is given other arguments looks into other buffers.
func TestBoundsFollowTheArguments(t *testing.T) {
	k := buildKernel(t, "k.ptx", []byte(strays("add.s64 %rd9, %rd5, %rd8;\nld.global.f32 %f0, [%rd9+272];")))
	m, params := strayMemory(t, k)
	if _, err := m.Alloc(memory.Buffer{Name: "long", Elem: ir.F32, Count: 200, Fill: memory.Fill{}}); err != nil {
		t.Fatal(err)
	}
	long, _ := m.Address("long")
	other := append(binary.LittleEndian.AppendUint64(nil, long), params[8:]...)
	r := NewRunner(compileFor(t, k, Full))
	for i, p := range [][]byte{other, params, other, other, params} {
		err := r.Run(Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{64, 1, 1}, Params: p}, m, 0, Options{}, nil)
		if short := &p[0] == &params[0]; (err != nil) != short {
			t.Errorf("run %d: %v", i, err)
		}
	}
}
