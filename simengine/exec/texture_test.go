package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/texture"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// textureKernel has the thread's index in %r0 and as a float in %f0, the object in %rd0, and stores %r1 to %r4.
func textureKernel(body string) []byte {
	return fmt.Appendf(nil, `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 out)
{
	.reg .b64 %%rd<8>;
	.reg .b32 %%r<16>;
	.reg .f32 %%f<16>;
	.reg .pred %%p<2>;
	ld.param.u64 %%rd0, [t];
	ld.param.u64 %%rd1, [out];
	cvta.to.global.u64 %%rd1, %%rd1;
	mov.u32 %%r0, %%tid.x;
	cvt.rn.f32.u32 %%f0, %%r0;
	mul.wide.u32 %%rd2, %%r0, 16;
	add.s64 %%rd3, %%rd1, %%rd2;
	mov.u32 %%r1, 0; mov.u32 %%r2, 0; mov.u32 %%r3, 0; mov.u32 %%r4, 0;
	%s
	st.global.v4.u32 [%%rd3], {%%r1, %%r2, %%r3, %%r4};
	ret;
}
`, body)
}

// journalOfTextures keeps the requests that an observer is told of.
type journalOfTextures struct{ requests []trace.TextureRequest }

func (j *journalOfTextures) Step(int, int, uint32)                                     {}
func (j *journalOfTextures) Repeat(int, int, int64)                                    {}
func (j *journalOfTextures) Access(int, int, ir.Space, int, uint32, *[WarpSize]uint64) {}
func (j *journalOfTextures) Texture(_ int, q *TextureRequest)                          { j.requests = append(j.requests, *q) }

// runTexture runs 32 threads on an object whose texel i holds i in its first channel, 1000 c + i in channel c.
func runTexture(t *testing.T, mode Mode, o texture.Object, body string) ([]uint32, []byte, []trace.TextureRequest, error) {
	t.Helper()
	k := buildKernel(t, "k.ptx", textureKernel(body))
	m := memory.New(0)
	if err := m.LoadModule(k); err != nil {
		t.Fatal(err)
	}
	fill := memory.Generated(func(i int64) float64 {
		return float64(i%int64(o.Channels)*1000 + i/int64(o.Channels))
	})
	for _, b := range []memory.Buffer{{Name: "array", Elem: o.Elem, Count: o.Texels() * int64(o.Channels), Fill: fill}, {Name: "out", Elem: ir.U32, Count: 128, Fill: memory.Constant(0)}} {
		if _, err := m.AllocTiled(b, int64(o.Bytes())); err != nil {
			t.Fatal(err)
		}
	}
	handle, err := m.AddTexture("array", o)
	if err != nil {
		t.Fatal(err)
	}
	params, err := m.BindParams(k, []memory.Arg{{Bytes: binary.LittleEndian.AppendUint64(nil, handle)}, {Buffer: "out"}})
	if err != nil {
		t.Fatal(err)
	}
	j := &journalOfTextures{}
	if err := NewRunner(compileFor(t, k, mode)).Run(Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{32, 1, 1}, Params: params}, m, 0, Options{}, j); err != nil {
		return nil, nil, nil, err
	}
	data, err := m.ReadBuffer("out")
	if err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, 128)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	array, err := m.ReadBuffer("array")
	if err != nil {
		t.Fatal(err)
	}
	return out, array, j.requests, nil
}

var (
	array2D = texture.Object{Elem: ir.F32, Channels: 1, Dims: 2, Size: [3]int{32, 8, 1}}
	ints2D  = texture.Object{Elem: ir.S32, Channels: 2, Dims: 2, Size: [3]int{32, 8, 1}}
)

func changed(o texture.Object, change func(*texture.Object)) texture.Object {
	change(&o)
	return o
}

// Instructions on textures give what can be told from each thread's index.
func TestTextureInstructions(t *testing.T) {
	float := func(v float32) uint32 { return math.Float32bits(v) }
	for _, c := range []struct {
		name string
		o    texture.Object
		body string
		want func(i uint32) [4]uint32
	}{
		{"fetch of linear memory", texture.Object{Elem: ir.F32, Channels: 1, Dims: 1, Size: [3]int{20, 1, 1}, Linear: true},
			"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd0, {%r0}]; mov.b32 %r1, %f1; mov.b32 %r4, %f4;",
			func(i uint32) [4]uint32 {
				if i >= 20 { // outside is zero
					return [4]uint32{}
				}
				return [4]uint32{float(float32(i)), 0, 0, 0}
			}},
		{"two channels of integers", ints2D,
			"mov.f32 %f1, 0f40400000; tex.2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%rd0, {%f0, %f1}];",
			func(i uint32) [4]uint32 { return [4]uint32{96 + i, 1096 + i, 0, 0} }},
		{"linear filter", changed(array2D, func(o *texture.Object) { o.Filter = true }),
			"add.f32 %f1, %f0, 0f3F400000; mov.f32 %f2, 0f40000000; tex.2d.v4.f32.f32 {%f3, _, _, _}, [%rd0, {%f1, %f2}]; mov.b32 %r1, %f3;",
			func(i uint32) [4]uint32 { // x.75 is a quarter of the way to the next texel; 2.0 half between rows 1 and 2
				x := float32(i) + 0.25
				return [4]uint32{float(min(x, 31) + 48), 0, 0, 0}
			}},
		{"gather", array2D,
			"add.f32 %f1, %f0, 0f3F800000; mov.f32 %f2, 0f40000000; tld4.r.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd0, {%f1, %f2}]; mov.b32 %r1, %f3; mov.b32 %r2, %f4; mov.b32 %r3, %f5; mov.b32 %r4, %f6;",
			func(i uint32) [4]uint32 {
				r := min(i+1, 31)
				return [4]uint32{float(float32(64 + i)), float(float32(64 + r)), float(float32(32 + r)), float(float32(32 + i))}
			}},
		{"layered", texture.Object{Elem: ir.F32, Channels: 1, Dims: 1, Size: [3]int{16, 1, 1}, Layers: 2},
			"shr.u32 %r5, %r0, 4; and.b32 %r6, %r0, 15; cvt.rn.f32.u32 %f1, %r6; tex.a1d.v4.f32.f32 {%f3, _, _, _}, [%rd0, {%r5, %f1}]; mov.b32 %r1, %f3;",
			func(i uint32) [4]uint32 { return [4]uint32{float(float32(i)), 0, 0, 0} }},
		{"three dimensions, and a level that is not there", texture.Object{Elem: ir.F32, Channels: 1, Dims: 3, Size: [3]int{4, 4, 2}},
			"and.b32 %r5, %r0, 3; shr.u32 %r6, %r0, 2; and.b32 %r6, %r6, 3; shr.u32 %r7, %r0, 4; cvt.rn.f32.u32 %f1, %r5; cvt.rn.f32.u32 %f2, %r6; cvt.rn.f32.u32 %f3, %r7; mov.f32 %f5, 0f40000000; tex.level.3d.v4.f32.f32 {%f4, _, _, _}, [%rd0, {%f1, %f2, %f3, %f3}], %f5; mov.b32 %r1, %f4;",
			func(i uint32) [4]uint32 { return [4]uint32{float(float32(i)), 0, 0, 0} }},
		{"queries", array2D, "txq.width.b32 %r1, [%rd0]; suq.height.b32 %r2, [%rd0];",
			func(uint32) [4]uint32 { return [4]uint32{32, 8, 0, 0} }},
		{"surface reads, zeros outside", changed(array2D, func(o *texture.Object) { o.Surface = true }),
			"shl.b32 %r5, %r0, 3; mov.u32 %r6, 2; suld.b.2d.v2.b32.zero {%r1, %r2}, [%rd0, {%r5, %r6}];",
			func(i uint32) [4]uint32 {
				if i >= 16 {
					return [4]uint32{}
				}
				return [4]uint32{float(float32(64 + 2*i)), float(float32(65 + 2*i)), 0, 0}
			}},
	} {
		out, _, requests, err := runTexture(t, Full, c.o, c.body)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i := range uint32(32) {
			if got, want := [4]uint32(out[4*i:]), c.want(i); got != want {
				t.Errorf("%s: thread %d: %#x, want %#x", c.name, i, got, want)
				break
			}
		}
		_, _, sliced, err := runTexture(t, Slice, c.o, c.body)
		if err != nil || fmt.Sprint(sliced) != fmt.Sprint(requests) {
			t.Errorf("%s: slice mode tells of other requests: %v", c.name, err)
		}
	}
}

// Surfaces are written where they are read, and outputs are row by row whatever the tiles are.
func TestSurfaceWrite(t *testing.T) {
	o := changed(array2D, func(o *texture.Object) { o.Surface = true })
	out, array, requests, err := runTexture(t, Full, o, `
	shl.b32 %r5, %r0, 2; mov.u32 %r6, 3; add.s32 %r7, %r0, 500;
	sust.b.2d.b32.trap [%rd0, {%r5, %r6}], %r7;
	suld.b.2d.b32.trap %r1, [%rd0, {%r5, %r6}];`)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(32) {
		at := 4 * (3*32 + i)
		if got := binary.LittleEndian.Uint32(array[at:]); got != 500+i || out[4*i] != 500+i {
			t.Fatalf("thread %d wrote %d and read %d, want %d", i, got, out[4*i], 500+i)
		}
		if q := &requests[0]; q.At[i] == q.Place[0][i] && i > 4 {
			t.Fatalf("thread %d: the place in the tile is the place in the row", i)
		}
	}
}

// What a kernel may not do with objects is a fault that says so.
func TestTextureFaults(t *testing.T) {
	surface := changed(array2D, func(o *texture.Object) { o.Surface = true })
	for _, c := range []struct {
		name, body, want string
		o                texture.Object
	}{
		{"a handle that is none", "add.s64 %rd0, %rd0, 7; txq.width.b32 %r1, [%rd0];", "is no texture", array2D},
		{"a surface as a texture", "tex.2d.v4.f32.f32 {%f1,_,_,_}, [%rd0, {%f0, %f0}];", "as a texture", surface},
		{"other dimensions", "tex.1d.v4.f32.f32 {%f1,_,_,_}, [%rd0, {%f0}];", "has 2 dimensions", array2D},
		{"trap outside", "mov.u32 %r5, 8; suld.b.2d.b32.trap %r1, [%rd0, {%r5, %r5}];", "outside the surface", surface},
		{"not a multiple", "mov.u32 %r5, 2; suld.b.2d.b32.trap %r1, [%rd0, {%r5, %r5}];", "multiple of 4", surface},
		{"floats of linear memory", "tex.1d.v4.f32.f32 {%f1,_,_,_}, [%rd0, {%f0}];", "tex1Dfetch", texture.Object{Elem: ir.F32, Channels: 1, Dims: 1, Size: [3]int{64, 1, 1}, Linear: true}},
	} {
		for _, mode := range []Mode{Full, Slice} {
			if _, _, _, err := runTexture(t, mode, c.o, c.body); err == nil || !strings.Contains(err.Error(), c.want) {
				if mode == Full || !strings.Contains(c.body, "txq") { // a query that nothing needs is not executed
					t.Errorf("%s, mode %v: %v, want %q", c.name, mode, err, c.want)
				}
			}
		}
	}
}
