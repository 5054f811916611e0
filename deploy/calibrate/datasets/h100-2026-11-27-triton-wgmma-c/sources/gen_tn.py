"""Writes tn_ops.cuh: bf16 matrix instructions whose operands both lie with K outermost."""
out = ["// written by gen_tn.py", "#pragma once", "#include <cstdint>", "template <int N> struct MmaTN;"]
for n in (64, 128, 192, 256):
    r = n // 2
    regs = ", ".join("%%%d" % i for i in range(r))
    outs = ", ".join('"+f"(c[%d])' % i for i in range(r))
    out.append("template <> struct MmaTN<%d> {\n  __device__ static __forceinline__ void run(float (&c)[%d], uint64_t da, uint64_t db, int scale_d) {\n"
               "    asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %%%d, 0;\\nwgmma.mma_async.sync.aligned.m64n%dk16.f32.bf16.bf16 {%s}, %%%d, %%%d, p, 1, 1, 1, 1;\\n}\\n\"\n"
               "                 : %s\n                 : \"l\"(da), \"l\"(db), \"r\"(scale_d));\n  }\n};" % (n, r, r + 2, n, regs, r, r + 1, outs))
open("tn_ops.cuh", "w").write("\n".join(out) + "\n")
