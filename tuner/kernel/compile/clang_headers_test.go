package compile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// usesHeaders includes what device.h has included before, and what it has not.
const usesHeaders = `#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cub/cub.cuh>
namespace cg = cooperative_groups;
extern "C" __global__ void k(float *x, half *h) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  __shared__ typename cub::BlockReduce<float, 128>::TempStorage memory;
  float v = tile.shfl_xor(x[threadIdx.x] * N, 1) + __half2float(h[threadIdx.x]) + sinf(x[0]);
  x[threadIdx.x] = cub::BlockReduce<float, 128>(memory).Sum(v);
}
`

// pchFiles are the precompiled headers below a directory.
func pchFiles(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, "device-*", "*.pch"))
	return names
}

// TestKeptHeaders: headers that are kept and precompiled change no PTX, whatever is in the directory.
func TestKeptHeaders(t *testing.T) {
	needClang(t)
	overwrite := func(t *testing.T, names []string, text []byte) {
		if len(names) == 0 {
			t.Fatal("there is no such file")
		}
		for _, name := range names {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, before := range map[string]func(*testing.T, string){
		"nothing": func(*testing.T, string) {},
		"intact":  func(t *testing.T, dir string) { compiledTwice(t, dir, 1) },
		"a header": func(t *testing.T, dir string) {
			compiledTwice(t, dir, 1)
			names, _ := filepath.Glob(filepath.Join(dir, "device-*", "warptune", "math.h"))
			overwrite(t, names, []byte("#error damaged\n"))
		},
		"half a precompiled header": func(t *testing.T, dir string) {
			compiledTwice(t, dir, 1)
			overwrite(t, pchFiles(dir), []byte("CPCH"))
		},
		"another's precompiled header": func(t *testing.T, dir string) {
			compiledTwice(t, dir, 1)
			text := []byte("CPCH of another compiler")
			for _, name := range pchFiles(dir) {
				key := filepath.Base(name)[:16]
				overwrite(t, []string{filepath.Join(filepath.Dir(name), precompiledName(key, text))}, text)
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		},
		"a file": func(t *testing.T, dir string) { overwrite(t, []string{dir}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a b")
			before(t, dir)
			want := 1
			if name == "a file" || name == "another's precompiled header" {
				want = 0
			}
			compiledTwice(t, dir, want)
		})
	}
}

// compiledTwice compiles by one driver that keeps its headers in dir, and compares with what another comes to that keeps none.
// Then precompiled headers are in dir.
func compiledTwice(t *testing.T, dir string, precompiled int) {
	t.Helper()
	kept, alone := NewClangAsNVCC(sandbox.DefaultLimits()).KeepHeaders(dir), NewClangAsNVCC(sandbox.DefaultLimits())
	for _, n := range []string{"2", "3"} {
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text("#define N " + n + "\n" + usesHeaders)})
		r.Entry, r.Target = "k", "sm_80"
		want, err := alone.Compile(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := kept.Compile(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.PTX, want.PTX) || got.Compiler != want.Compiler {
			t.Errorf("%s: got\n%s\nwant\n%s", got.Compiler, got.PTX, want.PTX)
		}
	}
	if names := pchFiles(dir); len(names) != precompiled {
		t.Errorf("precompiled headers %q, want %d", names, precompiled)
	}
}

// TestMessagesNameNoPlace: what clang says of the headers does not tell where they are kept.
func TestMessagesNameNoPlace(t *testing.T) {
	needClang(t)
	dir := t.TempDir()
	c := NewClang("", sandbox.DefaultLimits()).KeepHeaders(dir)
	for range 3 {
		_, err := c.Compile(t.Context(), ofKernel(t, "#include <cooperative_groups.h>\nextern \"C\" __global__ void k(float *x, cudaTextureObject_t t) { *x = texCubemap<float>(t, 0.f, 0.f, 0.f); }"))
		own, ok := err.(*Error)
		if !ok || bytes.Contains([]byte(own.Message), []byte(dir)) || bytes.Contains([]byte(own.Message), []byte(deviceMount)) {
			t.Errorf("%+v", err)
		}
	}
}
