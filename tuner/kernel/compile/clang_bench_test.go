//go:build unix

package compile

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// benchSaxpy is the README's kernel.
const benchSaxpy = `extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
  for (int k = 0; k < 4; ++k) {
    int i = (blockIdx.x * 4 + k) * 128 + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}
`

// BenchmarkClang gives the processor time of a compilation, the compiler's processes included, with the device headers
// kept and precompiled and without: of the README's kernel, and of all of ../shared/cases/wild that compile.
func BenchmarkClang(b *testing.B) {
	clang := NewClangAsNVCC(sandbox.DefaultLimits())
	if _, err := clang.Identify(b.Context()); err != nil {
		b.Skip(err)
	}
	saxpy := Request{Target: "sm_80", Compile: call.Compile{Language: call.CUDA, SourceFile: "saxpy.cu", Source: []byte(benchSaxpy), Files: fstest.MapFS{}, Entry: "saxpy"}}
	for name, requests := range map[string][]Request{"saxpy": {saxpy}, "wild": wildRequests(b)} {
		if len(requests) == 0 {
			continue
		}
		for _, kept := range []bool{false, true} {
			c, label := NewClangAsNVCC(sandbox.DefaultLimits()), name+"/plain"
			if kept {
				c.KeepHeaders(b.TempDir())
				label = name + "/kept"
				for range 2 { // the second precompiles them
					_, _ = c.Compile(b.Context(), saxpy)
				}
			}
			b.Run(label, func(b *testing.B) {
				before := processorTime()
				for range b.N {
					for _, r := range requests {
						if _, err := c.Compile(b.Context(), r); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric((processorTime()-before).Seconds()*1e3/float64(b.N*len(requests)), "cpu-ms/compilation")
			})
		}
	}
}

// processorTime is this process's and that of those it ran.
func processorTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	return sum
}

// wildRequests are the first configurations of the cases that compile.
func wildRequests(b *testing.B) (list []Request) {
	names, _ := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "cases", "wild", "*.json"))
	for _, name := range names {
		if strings.Contains(name, "curand") || strings.Contains(name, "redefine") {
			continue // refused
		}
		d, _, err := kernel.Load(name)
		if err != nil {
			b.Fatal(err)
		}
		s, err := d.Space(nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		l, err := d.Launch(s.At(0), nil)
		if err != nil {
			continue
		}
		list = append(list, Request{Compile: l.Compile, Target: "sm_80"})
	}
	return list
}
