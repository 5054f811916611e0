// device.h - the part of the CUDA C++ device language that tuned kernels use, for
//   clang++ -x cuda --cuda-device-only -nocudainc -nocudalib -include device.h
// with clang 14 or newer and no CUDA toolkit. Written from the PTX ISA and clang's
// builtin list; it uses no NVIDIA header and none of clang's own __clang_cuda_*.h.
// Not provided, each an error that names it: malloc, __maxnreg__, textures, surfaces, the barrier of a grid, Bessel functions, tgamma, lgamma and erfinv of doubles, the unsynchronised
// warp operations, thrust, curand, most of cub. What host code names, and printf, is in warptune/host.h.
#ifndef WARPTUNE_DEVICE_H
#define WARPTUNE_DEVICE_H
#if !defined(__clang__) || !defined(__CUDA__)
#error "device.h needs clang -x cuda"
#endif
#include "warptune/language.h"
#include "warptune/vector.h"
#include "warptune/builtin.h"
#include "warptune/cast.h"
#include "warptune/integer.h"
#include "warptune/simdparts.h"
#include "warptune/simd.h"
#include "warptune/constants.h"
#include "warptune/fixed.h"
#include "warptune/math.h"
#include "warptune/double.h"
#include "warptune/floating.h"
#include "warptune/inverse.h"
#include "warptune/special.h"
#ifdef WARPTUNE_FAST_MATH
#pragma float_control(precise, on, push)  // -use_fast_math is for single precision; the passes undo some of it
#endif
#include "warptune/double_exp.h"
#include "warptune/double_trig.h"
#include "warptune/double_special.h"
#ifdef WARPTUNE_FAST_MATH
#pragma float_control(pop)
#endif
#include "warptune/overload.h"
#include "warptune/load.h"
#include "warptune/warp.h"
#include "warptune/atomic.h"
#include "warptune/async.h"
#include "warptune/cluster.h"
#endif
