// What is here of cub: reductions of a warp and of a block, scans of a warp, and the operators. They do what cub's do, in the
// same steps; all else of it, and other algorithms, are errors that name them.
#pragma once
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
