// What is here of cub: reductions, scans, loads and stores of a block, reductions and scans of a warp, and the operators. They
// do what cub's do, in the same steps where only one algorithm is there; all else of it is an error that names it.
#pragma once
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_scan.cuh>
