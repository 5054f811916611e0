package exec

import (
	"math"
	"testing"
)

// verify compares the output with a plain Go computation of the kernel.
func (p *problem) verify(t *testing.T, name string) {
	t.Helper()
	n := p.size[0]
	switch name {
	case "stencil_1d":
		in, radius := readInts(t, p.mem, "in"), p.params["RADIUS"]
		equalInts(t, readInts(t, p.mem, "out"), func(i int) int32 {
			sum := int32(0)
			for o := 0; o <= 2*radius; o++ {
				sum += in[i+o]
			}
			return sum
		})
		return
	case "blur":
		p.verifyBlur(t)
		return
	}
	out := readFloats(t, p.mem, "out")
	in := func(i int) float64 { return float64(readFloatsOnce(t, p, "in")[i]) }
	work, stride := p.params["WORK"], p.params["STRIDE"]
	switch name {
	case "copy":
		equalFloats(t, out, 0, in)
	case "copy_strided":
		equalFloats(t, out, 0, func(i int) float64 { return in(i * stride) })
	case "transpose_naive", "transpose_tiled":
		equalFloats(t, out, 0, func(i int) float64 { return in(i%n*n + i/n) })
	case "random_gather":
		idx := readInts(t, p.mem, "idx")
		equalFloats(t, out, 0, func(i int) float64 { return in(int(idx[i])) })
	case "laplace_2d":
		equalFloats(t, out, 1e-6, func(i int) float64 {
			x, y := i%n, i/n
			if x == 0 || x == n-1 || y == 0 || y == n-1 {
				return in(i)
			}
			return 0.25 * (in(i-1) + in(i+1) + in(i-n) + in(i+n))
		})
	case "reduce":
		per := (n + len(out) - 1) / len(out)
		equalFloats(t, out, 1e-4, func(i int) float64 {
			sum := 0.0
			for j := i * per; j < min(n, (i+1)*per); j++ {
				sum += in(j)
			}
			return sum
		})
	case "sgemm":
		a, b := readFloats(t, p.mem, "A"), readFloats(t, p.mem, "B")
		equalFloats(t, out, 1e-4, func(i int) float64 {
			sum := 0.0
			for k := 0; k < n; k++ {
				sum += float64(a[i/n*n+k]) * float64(b[k*n+i%n])
			}
			return sum
		})
	case "compute_bound":
		equalFloats(t, out, 1e-4, func(i int) float64 {
			sum := 0.0
			for j := 0; j < p.size[1]; j++ {
				x := float64(float32(in(i)) * float32(j))
				sum += math.Sin(x) * math.Cos(x)
			}
			return sum
		})
	case "const_filter":
		equalFloats(t, out, 1e-4, func(i int) float64 {
			sum := 0.0
			for k := 0; k < p.params["TAPS"]; k++ {
				c := k
				if p.params["DIVERGENT"] == 1 {
					c = (k + i%p.params["BLOCK_SIZE"]) & 255
				}
				sum += float64(c%7) / 8 * in(i+k)
			}
			return sum
		})
	case "fat_threads":
		equalFloats(t, out, 1e-3, func(i int) float64 { return fatThread(in, i, n, p.size[1], work) })
	default:
		t.Fatalf("no reference for kernel %s", name)
	}
}

func fatThread(in func(int) float64, i, n, iters, work int) float64 {
	acc := make([]float64, work)
	for k := range acc {
		acc[k] = in(i + k*32)
	}
	for it := 0; it < iters; it++ {
		x := in((i + it*64) & (n - 1))
		for k := range acc {
			acc[k] = acc[k]*x + acc[(k+1)%work]
		}
	}
	sum := 0.0
	for _, v := range acc {
		sum += v
	}
	return sum
}

func (p *problem) verifyBlur(t *testing.T) {
	in, err := p.mem.ReadBuffer("in")
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.mem.ReadBuffer("out")
	if err != nil {
		t.Fatal(err)
	}
	w, h, r := p.size[0], p.size[1], p.params["R"]
	for i := range out {
		sum := 0
		for dy := -r; dy <= r; dy++ {
			for dx := -r; dx <= r; dx++ {
				x, y := min(max(i%w+dx, 0), w-1), min(max(i/w+dy, 0), h-1)
				sum += int(in[y*w+x])
			}
		}
		if want := byte(sum / ((2*r + 1) * (2*r + 1))); out[i] != want {
			t.Fatalf("out[%d] = %d, want %d", i, out[i], want)
		}
	}
}

var readCache = map[*problem][]float32{}

func readFloatsOnce(t *testing.T, p *problem, name string) []float32 {
	if readCache[p] == nil {
		clear(readCache)
		readCache[p] = readFloats(t, p.mem, name)
	}
	return readCache[p]
}

func equalFloats(t *testing.T, got []float32, tolerance float64, want func(int) float64) {
	t.Helper()
	for i, g := range got {
		w := want(i)
		if math.Abs(float64(g)-w) > tolerance*math.Max(1, math.Abs(w)) {
			t.Fatalf("out[%d] = %v, want %v", i, g, w)
		}
	}
}

func equalInts(t *testing.T, got []int32, want func(int) int32) {
	t.Helper()
	for i, g := range got {
		if w := want(i); g != w {
			t.Fatalf("out[%d] = %d, want %d", i, g, w)
		}
	}
}
