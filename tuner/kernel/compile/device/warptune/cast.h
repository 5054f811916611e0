// Reinterpretation and conversion with an explicit rounding.
#pragma once
WARPTUNE_FN float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
WARPTUNE_FN float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
WARPTUNE_FN int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
WARPTUNE_FN unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
WARPTUNE_FN double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
WARPTUNE_FN long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
WARPTUNE_FN double __hiloint2double(int hi, int lo) { return __nvvm_lohi_i2d(lo, hi); }
WARPTUNE_FN int __double2hiint(double v) { return __nvvm_d2i_hi(v); }
WARPTUNE_FN int __double2loint(double v) { return __nvvm_d2i_lo(v); }

#define WARPTUNE_CVT(NAME, FROM, TO, OP, IN, OUT) \
  WARPTUNE_FN TO NAME(FROM a) { TO r; asm("cvt." OP " %0, %1;" : OUT(r) : IN(a)); return r; }
#define WARPTUNE_ROUNDINGS(NAME, FROM, TO, PTX, I, IN, OUT)  \
  WARPTUNE_CVT(NAME##_rn, FROM, TO, "rn" I "." PTX, IN, OUT) \
  WARPTUNE_CVT(NAME##_rz, FROM, TO, "rz" I "." PTX, IN, OUT) \
  WARPTUNE_CVT(NAME##_rd, FROM, TO, "rm" I "." PTX, IN, OUT) \
  WARPTUNE_CVT(NAME##_ru, FROM, TO, "rp" I "." PTX, IN, OUT)
WARPTUNE_ROUNDINGS(__float2int, float, int, "s32.f32", "i", "f", "=r")
WARPTUNE_ROUNDINGS(__float2uint, float, unsigned, "u32.f32", "i", "f", "=r")
WARPTUNE_ROUNDINGS(__float2ll, float, long long, "s64.f32", "i", "f", "=l")
WARPTUNE_ROUNDINGS(__double2int, double, int, "s32.f64", "i", "d", "=r")
WARPTUNE_ROUNDINGS(__double2uint, double, unsigned, "u32.f64", "i", "d", "=r")
WARPTUNE_ROUNDINGS(__double2ll, double, long long, "s64.f64", "i", "d", "=l")
WARPTUNE_ROUNDINGS(__int2float, int, float, "f32.s32", "", "r", "=f")
WARPTUNE_ROUNDINGS(__uint2float, unsigned, float, "f32.u32", "", "r", "=f")
WARPTUNE_ROUNDINGS(__ll2float, long long, float, "f32.s64", "", "l", "=f")
WARPTUNE_ROUNDINGS(__double2float, double, float, "f32.f64", "", "d", "=f")
WARPTUNE_ROUNDINGS(__ll2double, long long, double, "f64.s64", "", "l", "=d")
WARPTUNE_ROUNDINGS(__ull2float, unsigned long long, float, "f32.u64", "", "l", "=f")
WARPTUNE_ROUNDINGS(__ull2double, unsigned long long, double, "f64.u64", "", "l", "=d")
WARPTUNE_ROUNDINGS(__float2ull, float, unsigned long long, "u64.f32", "i", "f", "=l")
WARPTUNE_ROUNDINGS(__double2ull, double, unsigned long long, "u64.f64", "i", "d", "=l")
#undef WARPTUNE_ROUNDINGS
WARPTUNE_FN double __int2double_rn(int v) { return v; }
WARPTUNE_FN double __uint2double_rn(unsigned v) { return v; }
#undef WARPTUNE_CVT
