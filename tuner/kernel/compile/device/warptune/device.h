// warptune/device.h - the part of the CUDA C++ device language that tuned kernels use, for
//   clang++ -x cuda --cuda-device-only -nocudainc -nocudalib -include warptune/device.h
// with clang 14 or newer and no CUDA toolkit. Written from the PTX ISA and clang's
// builtin list; it uses no NVIDIA header and none of clang's own __clang_cuda_*.h.
// Not provided, each an error that names it: malloc, __maxnreg__, texture references, mipmaps, cubes, the barrier of a grid, Bessel functions, tgamma, lgamma and erfinv of doubles, the unsynchronised
// warp operations, thrust, curand, most of cub. What host code names, and printf, is in warptune/host.h.
#ifndef WARPTUNE_DEVICE_H
#define WARPTUNE_DEVICE_H
#if !defined(__clang__) || !defined(__CUDA__)
#error "device.h needs clang -x cuda"
#endif
#include "language.h"
#include "vector.h"
#include "builtin.h"
#include "cast.h"
#include "integer.h"
#include "simdparts.h"
#include "simd.h"
#include "constants.h"
#include "fixed.h"
#include "math.h"
#include "double.h"
#include "floating.h"
#include "inverse.h"
#include "special.h"
#ifdef WARPTUNE_FAST_MATH
#pragma float_control(precise, on, push)  // -use_fast_math is for single precision; the passes undo some of it
#endif
#include "double_exp.h"
#include "double_trig.h"
#include "double_special.h"
#ifdef WARPTUNE_FAST_MATH
#pragma float_control(pop)
#endif
#include "overload.h"
#include "load.h"
#include "warp.h"
#include "atomic.h"
#include "async.h"
#include "cluster.h"
#include "texture.h"
#endif
