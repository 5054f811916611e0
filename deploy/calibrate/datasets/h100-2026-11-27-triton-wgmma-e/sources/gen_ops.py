"""Writes ops.cuh: bf16 matrix instructions, A from shared memory with K innermost, B from shared memory with N innermost."""
out = ["// written by gen_ops.py", "#pragma once", "#include <cstdint>", "template <int N> struct Wg;"]
for n in (64, 96, 128, 192, 256):
    r = n // 2
    regs = ", ".join("%%%d" % i for i in range(r))
    outs = ", ".join('"+f"(d[%d])' % i for i in range(r))
    out.append("template <> struct Wg<%d> {\n" % n + '  static __device__ __forceinline__ void nn(float (&d)[%d], uint64_t a, uint64_t b, int keep) {\n'
               '    asm volatile("{\\n.reg .pred p;\\nsetp.ne.b32 p, %%%d, 0;\\nwgmma.mma_async.sync.aligned.m64n%dk16.f32.bf16.bf16 {%s}, %%%d, %%%d, p, 1, 1, 0, 1;\\n}\\n"\n        : %s : "l"(a), "l"(b), "r"(keep));\n  }'
               % (r, r + 2, n, regs, r, r + 1, outs) + "\n};")
open("ops.cuh", "w").write("\n".join(out) + "\n")
r = 32
regs = ", ".join("%%%d" % i for i in range(r))
outs = ", ".join('"+f"(d[%d])' % i for i in range(r))
open("ops.cuh", "a").write("static __device__ __forceinline__ void wg64_nt(float (&d)[32], uint64_t a, uint64_t b, int keep) {\n"
    '  asm volatile("{\\n.reg .pred p;\\nsetp.ne.b32 p, %%34, 0;\\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%s}, %%32, %%33, p, 1, 1, 0, 0;\\n}\\n"\n      : %s : "l"(a), "l"(b), "r"(keep));\n}\n' % (regs, outs))
