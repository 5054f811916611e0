"""Writes wgmma_ops.cuh: one function a width of the matrix instruction."""
out = ["// written by gen_wgmma.py", "#pragma once", "#include <cstdint>", "template <int N> struct Mma;"]
for n in (64, 96, 128, 192, 256):
    r = n // 2
    regs = ", ".join("%%%d" % i for i in range(r))
    body = []
    for name, k, ty, trans in (("bf16", 16, "bf16.bf16", ", 0, 0"), ("tf32", 8, "tf32.tf32", "")):
        outs = ", ".join('"+f"(d[%d])' % i for i in range(r))
        body.append('  static __device__ __forceinline__ void %s(float (&d)[%d], uint64_t a, uint64_t b, int keep) {\n'
                    '    asm volatile("{\\n.reg .pred p;\\nsetp.ne.b32 p, %%%d, 0;\\n'
                    'wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s {%s}, %%%d, %%%d, p, 1, 1%s;\\n}\\n"\n        : %s : "l"(a), "l"(b), "r"(keep));\n  }'
                    % (name, r, r + 2, n, k, ty, regs, r, r + 1, trans, outs))
    out.append("template <> struct Mma<%d> {\n%s\n};" % (n, "\n".join(body)))
open("wgmma_ops.cuh", "w").write("\n".join(out) + "\n")
