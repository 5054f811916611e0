package reference

import (
	"math"
	"slices"
)

type definition struct {
	problem func(p map[string]int64) []int64
	expect  func(c *call)
}

// kernels has an entry for every built-in kernel; a test holds that.
var kernels = map[string]definition{
	"copy":            {linear(1, 5), copyAll},
	"copy_strided":    {linear(1, 5), copyStrided},
	"random_gather":   {func(p map[string]int64) []int64 { return []int64{2 * p["BLOCK_SIZE"] * p["ITEMS"], 4096} }, gather},
	"transpose_naive": {func(p map[string]int64) []int64 { return []int64{2 * max(p["BLOCK_X"], p["BLOCK_Y"])} }, transpose},
	"transpose_tiled": {func(p map[string]int64) []int64 { return []int64{2 * p["TILE"]} }, transpose},
	"stencil_1d":      {linear(1, 0), stencil},
	"laplace_2d":      {func(p map[string]int64) []int64 { return []int64{2 * max(p["BLOCK_X"], p["BLOCK_Y"])} }, laplace},
	"blur":            {func(p map[string]int64) []int64 { return []int64{2 * p["BLOCK_X"], 2 * p["BLOCK_Y"]} }, blur},
	"moving_average":  {func(p map[string]int64) []int64 { return append(linear(1, 3)(p), 5) }, movingAverage},
	"table_lookup":    {func(p map[string]int64) []int64 { return append(linear(1, 3)(p), 1000) }, tableLookup},
	"const_filter":    {linear(1, 0), constFilter},
	"reduce":          {linear(2, 33), reduceBlocks},
	"reduce_atomic":   {linear(1, 33), reduceAll},
	"prefix_sum":      {linear(1, 5), prefixSum},
	"histogram":       {linear(1, 9), histogram},
	"median_1d":       {linear(1, 7), median},
	// fat_threads masks its index with n-1: a power of two.
	"fat_threads":   {func(map[string]int64) []int64 { return []int64{1024, 3} }, fatThreads},
	"compute_bound": {func(p map[string]int64) []int64 { return append(linear(1, 5)(p), 7) }, computeBound},
	"nbody":         {func(p map[string]int64) []int64 { return []int64{2 * p["BLOCK_SIZE"] * p["BODIES"]} }, nbody},
	"sgemm":         {func(p map[string]int64) []int64 { return []int64{max(p["BM"], p["BN"], 2*min(p["BM"], p["BN"]))} }, sgemm},
}

// linear is two blocks of BLOCK_SIZE threads with factor*ITEMS elements each, and
// tail elements more.
func linear(factor, tail int64) func(map[string]int64) []int64 {
	return func(p map[string]int64) []int64 {
		items, ok := p["ITEMS"]
		if !ok {
			items = 1
		}
		return []int64{2*factor*p["BLOCK_SIZE"]*items + tail}
	}
}

func copyAll(c *call) { exact(c, "out", c.f32("in")[:c.n(0)]) }

func copyStrided(c *call) {
	in, out := c.f32("in"), make([]float32, c.n(0))
	for i := range out {
		out[i] = in[i*c.p("STRIDE")]
	}
	exact(c, "out", out)
}

func gather(c *call) {
	in, out := c.f32("in"), make([]float32, c.n(0))
	for i, j := range c.i32("idx") {
		out[i] = in[j]
	}
	exact(c, "out", out)
}

func transpose(c *call) {
	n := c.n(0)
	in, out := c.f32("in"), make([]float32, n*n)
	for row := range n {
		for col := range n {
			out[col*n+row] = in[row*n+col]
		}
	}
	exact(c, "out", out)
}

func stencil(c *call) {
	in, out := c.i32("in"), make([]int32, c.n(0))
	for i := range out {
		for _, v := range in[i : i+2*c.p("RADIUS")+1] {
			out[i] += v
		}
	}
	exact(c, "out", out)
}

func laplace(c *call) {
	n := c.n(0)
	u, out := c.f32("u1"), slices.Clone(c.f32("u1"))
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			id := j*n + i
			out[id] = 0.25 * (u[id-1] + u[id+1] + u[id-n] + u[id+n])
		}
	}
	exact(c, "u2", out)
}

func blur(c *call) {
	width, height, r := c.n(0), c.n(1), c.p("R")
	in, out := c.u8("in"), make([]uint8, width*height)
	for y := range height {
		for x := range width {
			s := 0
			for dy := -r; dy <= r; dy++ {
				for dx := -r; dx <= r; dx++ {
					s += int(in[min(max(y+dy, 0), height-1)*width+min(max(x+dx, 0), width-1)])
				}
			}
			out[y*width+x] = uint8(s / ((2*r + 1) * (2*r + 1)))
		}
	}
	exact(c, "out", out)
}

// movingAverage adds in the kernel's order: additions do not contract.
func movingAverage(c *call) {
	r := c.n(1)
	in, out := c.f32("in"), make([]float32, c.n(0))
	for i := range out {
		var s float32
		for _, v := range in[i : i+2*r+1] {
			s += v
		}
		out[i] = s / float32(2*r+1)
	}
	exact(c, "out", out)
}

func tableLookup(c *call) {
	cells := float32(c.n(1))
	table := c.f32("table")
	var y, slack []float64
	for _, x := range c.f32("x")[:c.n(0)] {
		p := x * cells
		j := int(p)
		a, d := float64(table[j]), float64(table[j+1])-float64(table[j])
		y = append(y, a+(float64(p)-float64(j))*d)
		// x*cells - j may be contracted, which leaves out p's own rounding.
		slack = append(slack, (math.Abs(a)+math.Abs(d)*float64(1+p))*0x1p-22)
	}
	near(c, "y", y, slack)
}

func constFilter(c *call) {
	in, coef := c.f32("in"), c.f32("coef")
	taps, block, lane := c.p("TAPS"), c.p("BLOCK_SIZE"), c.p("DIVERGENT")
	var out, slack []float64
	for i := range c.n(0) {
		var s sum
		for k := range taps {
			s.add(float64(coef[(k+lane*(i%block))&255]) * float64(in[i+k]))
		}
		out, slack = append(out, s.value), append(slack, s.slack())
	}
	near(c, "out", out, slack)
}
