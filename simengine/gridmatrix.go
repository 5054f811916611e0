package simengine

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/coalesce"
)

const tensorPipe = "sm__inst_executed_pipe_tensor.sum"

// countProducts sets the counter of tensor cores' instructions to those of all CTAs of the grid, where CTAs differ: a few
// stand for all else, which is exact only in the mean. It is done for a launch as a profiler makes one, whose counters
// are asked for: the blocks that every CTA goes through take longer to find than the rest of the prediction. Where that
// is more work than a configuration may take, the counter stays as it is.
func (r *recording) countProducts(out *Report, program *assemble.Program) {
	if out.Metrics[tensorPipe] == 0 || r.runner.Program().SamePath() {
		return
	}
	if n, ok := r.gridProducts(program); ok {
		out.Metrics[tensorPipe] = n
	}
}

// gridProducts is how many instructions of tensor cores all CTAs execute; false if that takes too long to find. Along axes
// of the grid that do not decide what CTAs execute the first stands for all.
func (r *recording) gridProducts(program *assemble.Program) (sum float64, ok bool) {
	each := productsOfBlocks(program)
	grid, axes, alike := r.launch.Grid, r.runner.Program().PathAxes(), 1.0
	for axis, n := range []*int{&grid.X, &grid.Y, &grid.Z} {
		if !axes[axis] {
			alike *= float64(*n)
			*n = 1
		}
	}
	var weight []int64
	for k := range grid.Count() {
		x, y, z := k%int64(grid.X), k/int64(grid.X)%int64(grid.Y), k/int64(grid.X)/int64(grid.Y)
		warps, err := sampleExecutor{r}.Path(x+int64(r.launch.Grid.X)*(y+int64(r.launch.Grid.Y)*z), 0)
		if err != nil {
			return 0, false
		}
		for i := range warps {
			weight = coalesce.Weights(&warps[i], weight)
			for j, s := range warps[i].Steps {
				sum += float64(weight[j]) * each[s.Block]
			}
		}
	}
	return sum * alike, true
}

// productsOfBlocks is how many instructions of tensor cores each block of a kernel has.
func productsOfBlocks(program *assemble.Program) []float64 {
	each := make([]float64, len(program.Blocks))
	for b := range program.Blocks {
		for i := range program.Blocks[b].Instrs {
			switch program.Blocks[b].Instrs[i].Class {
			case assemble.Tensor, assemble.TensorShort, assemble.TensorSingle, assemble.TensorSingleShort, assemble.TensorDouble, assemble.Wgmma:
				each[b]++
			}
		}
	}
	return each
}
