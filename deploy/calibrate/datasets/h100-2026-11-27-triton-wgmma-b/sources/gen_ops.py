"""Writes ops.cuh: the matrix instructions, A from shared memory (ss) or registers (rs)."""
out = ["// written by gen_ops.py", "#pragma once", "#include <cstdint>", "template <int N> struct Op;"]
for n in (64, 128, 256):
    r = n // 2
    regs = ", ".join("%%%d" % i for i in range(r))
    body = []
    for kind, k, ty, c, acc, ss, rs in (("f16", 16, "f32.f16.f16", "f", "float", ", 1, 1, 0, 0", ", 1, 1, 0"), ("s8", 32, "s32.s8.s8", "r", "int", "", "")):
        outs = ", ".join('"+%s"(d[%d])' % (c, i) for i in range(r))
        head = 'asm volatile("{\\n.reg .pred p;\\nsetp.ne.b32 p, %%%d, 0;\\nwgmma.mma_async.sync.aligned.m64n%dk%d.%s {%s}, '
        body.append('  static __device__ __forceinline__ void ss(%s (&d)[%d], uint64_t a, uint64_t b, int keep) {\n    ' % (acc, r) + head % (r + 2, n, k, ty, regs)
                    + '%%%d, %%%d, p%s;\\n}\\n"\n        : %s : "l"(a), "l"(b), "r"(keep));\n  }' % (r, r + 1, ss, outs))
        body.append('  static __device__ __forceinline__ void rs(%s (&d)[%d], const uint32_t (&a)[4], uint64_t b, int keep) {\n    ' % (acc, r) + head % (r + 5, n, k, ty, regs)
                    + '{%s}, %%%d, p%s;\\n}\\n"\n        : %s : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));\n  }' % (", ".join("%%%d" % (r + i) for i in range(4)), r + 4, rs, outs))
    out.append("template <> struct Op<%d> {\n%s\n};" % (n, "\n".join(body)))
open("ops.cuh", "w").write("\n".join(out) + "\n")
