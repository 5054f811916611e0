package compile

// plainLoops keeps loops as nvcc writes them. In nvcc 13.0's PTX of deploy/calibrate/validation/further ray_spheres
// (UNROLL 1) the loop moves an address on, counts beside it, and ends with both.
//   - clang takes the fewest registers: it counts in bytes, computes the address anew in each
//     iteration and compares half of the count. -lsr-insns-cost takes the fewest instructions, as nvcc's does.
//   - clang puts the end of a loop before the rest, which then jumps back to it.
//     -disable-block-placement leaves blocks in the program's order.
//
// By the instructions executed (simulate --level model, smsp__inst_executed.sum over iterations and warps) clang
// needs 30.3 an iteration without the two, 27.3 with them and nvcc 27.2.
var plainLoops = []string{"-mllvm", "-lsr-insns-cost", "-mllvm", "-disable-block-placement"}
