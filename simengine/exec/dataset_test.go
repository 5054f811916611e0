package exec

import (
	"fmt"
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// problem is a kernel of the dataset bound to arguments for one launch.
type problem struct {
	kernel *ir.Kernel
	launch Launch
	mem    *memory.Device
	size   []int
	params map[string]int
}

// setUp binds a dataset kernel to its arguments (../shared/silicon/kernels)
// for problem sizes that may differ from the measured ones.
func setUp(t testing.TB, k *ir.Kernel, name string, size []int, params map[string]int, block [3]int) *problem {
	t.Helper()
	p := &problem{kernel: k, mem: memory.New(0), size: size, params: params}
	if err := p.mem.LoadModule(k); err != nil {
		t.Fatal(err)
	}
	n := int64(size[0])
	f32 := func(name string, count int64) memory.Buffer {
		return memory.Buffer{Name: name, Elem: ir.F32, Count: count, Fill: memory.Random(1, 1)}
	}
	out := func(name string, t ir.Type, count int64) memory.Buffer {
		return memory.Buffer{Name: name, Elem: t, Count: count, Fill: memory.Fill{}}
	}
	var buffers []memory.Buffer
	scalars := []int{size[0]}
	threads := params["BLOCK_SIZE"]
	if items := params["ITEMS"]; items > 0 {
		threads *= items
	}
	grid := [2]int{1, 1}
	if threads > 0 {
		grid[0] = (size[0] + threads - 1) / threads
	}
	if bx := params["BLOCK_X"]; bx > 0 {
		grid = [2]int{size[0] / bx, size[0] / params["BLOCK_Y"]}
	}
	switch name {
	case "copy":
		buffers = []memory.Buffer{f32("in", n), out("out", ir.F32, n)}
	case "copy_strided":
		buffers = []memory.Buffer{f32("in", n*int64(params["STRIDE"])), out("out", ir.F32, n)}
	case "transpose_naive", "laplace_2d":
		buffers = []memory.Buffer{f32("in", n*n), out("out", ir.F32, n*n)}
	case "transpose_tiled":
		buffers = []memory.Buffer{f32("in", n*n), out("out", ir.F32, n*n)}
		grid = [2]int{size[0] / params["TILE"], size[0] / params["TILE"]}
	case "reduce":
		grid[0] = (size[0] + 2*threads - 1) / (2 * threads)
		buffers = []memory.Buffer{f32("in", n), out("out", ir.F32, int64(grid[0]))}
	case "stencil_1d":
		buffers = []memory.Buffer{{Name: "in", Elem: ir.S32, Count: n + 2*int64(params["RADIUS"]), Fill: memory.Random(3, 1000)}, out("out", ir.S32, n)}
	case "sgemm":
		buffers = []memory.Buffer{f32("A", n*n), {Name: "B", Elem: ir.F32, Count: n * n, Fill: memory.Random(2, 1)}, out("out", ir.F32, n*n)}
		grid = [2]int{size[0] / params["BN"], size[0] / params["BM"]}
	case "blur":
		buffers = []memory.Buffer{{Name: "in", Elem: ir.U8, Count: n * int64(size[1]), Fill: memory.Random(4, 255)}, out("out", ir.U8, n*int64(size[1]))}
		scalars = size[:2]
		grid[1] = size[1] / params["BLOCK_Y"]
	case "random_gather":
		buffers = []memory.Buffer{f32("in", int64(size[1])), {Name: "idx", Elem: ir.S32, Count: n, Fill: memory.Random(5, float64(size[1]))}, out("out", ir.F32, n)}
	case "fat_threads":
		buffers = []memory.Buffer{f32("in", n+32*int64(params["WORK"])), out("out", ir.F32, n)}
		scalars = size[:2]
	case "compute_bound":
		buffers = []memory.Buffer{f32("in", n), out("out", ir.F32, n)}
		scalars = size[:2]
	case "const_filter":
		buffers = []memory.Buffer{f32("in", n+256), out("out", ir.F32, n)}
		if err := p.mem.SetVar(memory.Buffer{Name: "coef", Elem: ir.F32, Count: 256, Fill: memory.Generated(func(i int64) float64 { return float64(i%7) / 8 })}); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("no arguments for kernel %s", name)
	}
	var args []memory.Arg
	for _, b := range buffers {
		if _, err := p.mem.Alloc(b); err != nil {
			t.Fatal(err)
		}
		args = append(args, memory.Arg{Buffer: b.Name})
	}
	for _, v := range scalars {
		args = append(args, memory.Arg{Elem: ir.S32, Scalar: float64(v)})
	}
	bytes, err := p.mem.BindParams(k, args)
	if err != nil {
		t.Fatal(err)
	}
	p.launch = Launch{Grid: Dim3{grid[0], grid[1], 1}, CTA: Dim3{block[0], block[1], block[2]}, Params: bytes}
	return p
}

// runGrid runs every CTA of a launch in Full mode with all checks.
func (p *problem) runGrid(t testing.TB, opt Options) {
	t.Helper()
	r := NewRunner(compileFor(t, p.kernel, Full))
	for cta := int64(0); cta < p.launch.Grid.Count(); cta++ {
		if err := r.Run(p.launch, p.mem, cta, opt, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// small are problem sizes at which whole grids run in a moment.
var small = map[string][]int{
	"copy": {5000}, "copy_strided": {4096}, "transpose_naive": {128}, "transpose_tiled": {128}, "reduce": {1 << 14},
	"stencil_1d": {1 << 14}, "sgemm": {128}, "blur": {256, 64}, "laplace_2d": {256}, "random_gather": {1 << 14, 1 << 16},
	"fat_threads": {2048, 4}, "compute_bound": {2000, 5}, "const_filter": {4096},
}

// TestDatasetKernels runs a sample of every kernel of the dataset over a whole
// small grid and compares with plain Go.
func TestDatasetKernels(t *testing.T) {
	recs := records(t, "timings.jsonl.gz")
	seen, count := map[string]bool{}, map[string]int{}
	step := map[string]int{}
	for _, rec := range recs {
		if seen[rec.PTX] {
			continue
		}
		seen[rec.PTX] = true
		step[rec.Kernel]++
		if count[rec.Kernel] >= 6 || step[rec.Kernel]%5 != 1 {
			continue
		}
		if !fits(&rec) {
			continue
		}
		count[rec.Kernel]++
		t.Run(fmt.Sprintf("%s/%s", rec.Kernel, rec.PTX), func(t *testing.T) {
			k := buildKernel(t, rec.PTX+".ptx", ptxFile(t, "ptx.zip", rec.PTX))
			p := setUp(t, k, rec.Kernel, small[rec.Kernel], rec.Params, rec.Block)
			p.runGrid(t, Options{Races: true})
			p.verify(t, rec.Kernel)
		})
	}
}

// TestClangKernels does the same for one build of each kernel by clang.
func TestClangKernels(t *testing.T) {
	for _, rec := range variants(t, "ptx-clang.zip") {
		k := buildKernel(t, rec.PTX+".ptx", ptxFile(t, "ptx-clang.zip", rec.PTX))
		p := setUp(t, k, rec.Kernel, small[rec.Kernel], rec.Params, rec.Block)
		p.runGrid(t, Options{Races: true})
		p.verify(t, rec.Kernel)
	}
}

// fits leaves out tiles larger than the small problem.
func fits(r *record) bool {
	n := small[r.Kernel][0]
	if items := r.Params["ITEMS"]; r.Params["BLOCK_SIZE"]*max(items, 1) > n {
		return false
	}
	if r.Kernel == "blur" && r.Params["BLOCK_Y"] > small["blur"][1] {
		return false
	}
	return r.Params["BM"] <= n && r.Params["BN"] <= n && r.Params["BLOCK_X"] <= n
}
