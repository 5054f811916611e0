package stages

import (
	"fmt"

	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc"
)

// plainLoops keeps loops as nvcc writes them. In nvcc 13.0's PTX of deploy/calibrate/datasets/h200-2026-11-21-project-a ray_spheres
// (UNROLL 1) the loop moves an address on, counts beside it, and ends with both.
//   - clang takes the fewest registers: it counts in bytes, computes the address anew in each
//     iteration and compares half of the count. -lsr-insns-cost takes the fewest instructions, as nvcc's does.
//   - clang puts the end of a loop before the rest, which then jumps back to it.
//     -disable-block-placement leaves blocks in the program's order.
//
// By the instructions executed (simulate --level model, smsp__inst_executed.sum over iterations and warps) clang
// needs 30.3 an iteration without the two, 27.3 with them and nvcc 27.2.
var plainLoops = []string{"-mllvm", "-lsr-insns-cost", "-mllvm", "-disable-block-placement"}

// unrollInPart has loops unrolled as by nvcc that are not unrolled whole. Four iterations go together, or two,
// while they come to at most 200 of LLVM's instructions, however much it takes to work out how many iterations
// there are, and however few. The script deploy/calibrate/ptxas/partloops.py looks at 855 loops of 57 kinds. With
// these options and what asnvcc.Front does to loops clang 19 writes the body out as often as nvcc 13.0 in 796 of
// them, clang as it is in 362. As it is, clang takes eight or fewer iterations, up to 75 instructions. It takes
// none where it would have to divide by a step, or where seven are the most that there may be. How many of a known
// number go together, and loops with others in them, are said loop by loop (asnvcc.Front).
var unrollInPart = []string{
	"-mllvm", fmt.Sprintf("-unroll-partial-threshold=%d", asnvcc.UnrolledInPart), "-mllvm", fmt.Sprintf("-unroll-max-count=%d", asnvcc.Together),
	"-mllvm", "-scev-cheap-expansion-budget=1000", "-mllvm", "-unroll-max-upperbound=1",
}
