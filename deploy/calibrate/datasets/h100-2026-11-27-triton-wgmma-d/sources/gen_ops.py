"""Writes ops.cuh: matrix instructions: e4m3 from shared memory, fp16 from shared memory, fp16 with A in registers and B with N outermost in memory rows."""
out = ["// written by gen_ops.py", "#pragma once", "#include <cstdint>", "template <int N> struct Wg;"]
for n in (64, 128, 192, 256):
    r = n // 2
    regs = ", ".join("%%%d" % i for i in range(r))
    outs = ", ".join('"+f"(d[%d])' % i for i in range(r))
    body = []
    for name, k, ty, tail in (("e4m3", 32, "e4m3.e4m3", ", 1, 1"), ("f16", 16, "f16.f16", ", 1, 1, 0, 0")):
        body.append('  static __device__ __forceinline__ void %s(float (&d)[%d], uint64_t a, uint64_t b, int keep) {\n'
                    '    asm volatile("{\\n.reg .pred p;\\nsetp.ne.b32 p, %%%d, 0;\\nwgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s {%s}, %%%d, %%%d, p%s;\\n}\\n"\n        : %s : "l"(a), "l"(b), "r"(keep));\n  }'
                    % (name, r, r + 2, n, k, ty, regs, r, r + 1, tail, outs))
    body.append('  static __device__ __forceinline__ void rs_tn(float (&d)[%d], const uint32_t* a, uint64_t b) {\n'
                '    asm volatile("wgmma.mma_async.sync.aligned.m64n%dk16.f32.f16.f16 {%s}, {%s}, %%%d, 1, 1, 1, 1;\\n"\n        : %s : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));\n  }'
                % (r, n, regs, ", ".join("%%%d" % (r + i) for i in range(4)), r + 4, outs))
    out.append("template <> struct Wg<%d> {\n%s\n};" % (n, "\n".join(body)))
open("ops.cuh", "w").write("\n".join(out) + "\n")
