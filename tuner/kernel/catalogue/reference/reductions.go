package reference

import (
	"math"
	"slices"
)

// blockSums adds the segments of size elements, the last of which may be short.
func blockSums(in []float32, size int) (values, slack []float64) {
	for seg := range slices.Chunk(in, size) {
		var s sum
		for _, v := range seg {
			s.add(float64(v))
		}
		values, slack = append(values, s.value), append(slack, s.slack())
	}
	return values, slack
}

func reduceBlocks(c *call) {
	values, slack := blockSums(c.f32("in")[:c.n(0)], 2*c.p("BLOCK_SIZE")*c.p("ITEMS"))
	near(c, "sums", values, slack)
}

func reduceAll(c *call) {
	in := c.f32("in")[:c.n(0)]
	before := c.f32("sum")
	values, slack := blockSums(in, len(in))
	if c.p("VARIANT") == 3 {
		// Block sums are stored, and the counter wraps to where it was.
		partial, partialSlack := blockSums(in, c.p("BLOCK_SIZE")*c.p("ITEMS"))
		near(c, "partial", partial, partialSlack)
	} else {
		values[0] += float64(before[0])
		exact(c, "partial", c.f32("partial"))
	}
	near(c, "sum", values, slack)
	exact(c, "finished", c.i32("finished"))
}

func prefixSum(c *call) {
	out := slices.Clone(c.i32("in")[:c.n(0)])
	for seg := range slices.Chunk(out, c.p("BLOCK_SIZE")) {
		for i := 1; i < len(seg); i++ {
			seg[i] += seg[i-1]
		}
	}
	exact(c, "out", out)
}

func histogram(c *call) {
	bins := c.i32("bins")
	for _, v := range c.u8("in")[:c.n(0)] {
		bins[v]++
	}
	exact(c, "bins", bins)
}

func median(c *call) {
	in, w := c.f32("in"), c.p("WINDOW")
	var out []float32
	for i := range c.n(0) {
		out = append(out, slices.Sorted(slices.Values(in[i : i+w]))[w/2])
	}
	exact(c, "out", out)
}

// fatThreads follows the recurrence in double precision. All terms are positive:
// the relative error of a thread's sum stays that of its few hundred roundings.
func fatThreads(c *call) {
	a, work, n := c.f32("a"), c.p("WORK"), c.n(0)
	var out, slack []float64
	acc := make([]float64, work)
	for i := range n {
		for k := range acc {
			acc[k] = float64(a[i+k*32])
		}
		for it := range c.n(1) {
			x := float64(a[(i+it*64)&(n-1)])
			for k := range acc {
				acc[k] = acc[k]*x + acc[(k+1)%work]
			}
		}
		var s sum
		for _, v := range acc {
			s.add(v)
		}
		out, slack = append(out, s.value), append(slack, s.slack()*4)
	}
	near(c, "out", out, slack)
}

// computeBound allows for the approximations: sin.approx and cos.approx err by at
// most 2^-20.9 within [-pi, pi] (PTX ISA), more beyond in proportion.
func computeBound(c *call) {
	iters := c.n(1)
	var out, slack []float64
	for _, x := range c.f32("in")[:c.n(0)] {
		s := 0.0
		for j := range iters {
			arg := float64(x * float32(j))
			s += math.Sin(arg) * math.Cos(arg)
		}
		out, slack = append(out, s), append(slack, float64(iters*iters)*0x1p-20)
	}
	near(c, "out", out, slack)
}

func nbody(c *call) {
	x, y, z, m := c.f32("px"), c.f32("py"), c.f32("pz"), c.f32("mass")
	n := c.n(0)
	var acc, slack [3][]float64
	for i := range n {
		var s [3]sum
		for j := range n {
			d := [3]float64{float64(x[j] - x[i]), float64(y[j] - y[i]), float64(z[j] - z[i])}
			inv := 1 / math.Sqrt(d[0]*d[0]+d[1]*d[1]+d[2]*d[2]+float64(float32(0.01)))
			for k := range d {
				s[k].add(float64(m[j]) * inv * inv * inv * d[k])
			}
		}
		for k := range s {
			acc[k], slack[k] = append(acc[k], s[k].value), append(slack[k], s[k].slack())
		}
	}
	for k, name := range []string{"ax", "ay", "az"} {
		near(c, name, acc[k], slack[k])
	}
}

func sgemm(c *call) {
	a, b, n := c.f32("A"), c.f32("B"), c.n(0)
	out, slack := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			var s sum
			for k := range n {
				s.add(float64(a[i*n+k]) * float64(b[k*n+j]))
			}
			out[i*n+j], slack[i*n+j] = s.value, s.slack()
		}
	}
	near(c, "C", out, slack)
}
