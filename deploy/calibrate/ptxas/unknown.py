#!/usr/bin/env python3
"""Bisects how many multiply-adds a loop of an unknown number of iterations may have for ptxas to make four at a time.

    unknown.py | gzip -9n > ../results/unknown-ptxas-13.0.jsonl.gz

Needs ptxas and cuobjdump, and no GPU. Each line is what stands in the loop beside them and before it, one
multiplication always: of at most so many multiply-adds there are several iterations at a time, -1 where
there are none even then.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from unroll import FMA, loops

KERNEL = """.version 8.5
.target %s
.address_size 64
.const .align 16 .b8 tab[16384];
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
.reg .pred %%p<64>; .reg .b32 %%r<200>; .reg .f32 %%f<400>; .reg .f64 %%d<128>; .reg .b64 %%rd<200>; .reg .b16 %%h<4>; .shared .align 16 .b8 sh[16384];
ld.param.u64 %%rd1, [p0]; ld.param.u64 %%rd2, [p1]; ld.param.u32 %%r9, [p2];
cvta.to.global.u64 %%rd3, %%rd1; cvta.to.global.u64 %%rd4, %%rd2;
mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd5, %%r1, 4; add.s64 %%rd6, %%rd3, %%rd5; add.s64 %%rd7, %%rd4, %%rd5;
mov.u32 %%r3, sh; shl.b32 %%r4, %%r1, 4; add.s32 %%r5, %%r3, %%r4; mov.u64 %%rd9, tab; add.s64 %%rd8, %%rd5, %%rd9;
ld.global.f32 %%f1, [%%rd7]; ld.global.f32 %%f2, [%%rd7+4096]; ld.global.f32 %%f3, [%%rd7+8192];
ld.global.u32 %%r20, [%%rd7+12288]; ld.global.u32 %%r21, [%%rd7+16384]; ld.global.f64 %%d1, [%%rd7+65536]; ld.global.f64 %%d2, [%%rd7+131072];
ld.global.u64 %%rd20, [%%rd7+65536]; ld.global.u64 %%rd21, [%%rd7+131072];
setp.ge.s32 %%p20, %%r1, %%r9; @%%p20 bra OUT;
mov.u32 %%r2, %%r1; mov.u64 %%rd38, %%rd20; sub.s64 %%rd30, %%rd6, %%rd20; sub.s64 %%rd31, %%rd7, %%rd20;
LOOP:
%s
add.s32 %%r2, %%r2, 128; setp.lt.s32 %%p1, %%r2, %%r9; @%%p1 bra LOOP;
OUT:
st.global.f32 [%%rd6], %%f1; st.global.u32 [%%rd6+4096], %%r2; st.global.u32 [%%rd6+8192], %%r20; st.global.f64 [%%rd6+65536], %%d1; st.global.u64 [%%rd6+65536], %%rd20;
ret;
}
"""
LOAD, STORE, TABLE = "add.s64 %rd7, %rd7, 2048;", "add.s64 %rd6, %rd6, 2048;", "add.s64 %rd8, %rd8, 2048;"
SHARED = "add.s32 %r5, %r5, 2048;"
# What stands beside the multiply-adds, and the steps of the pointers that it takes.
BESIDE = {
    "fma": (FMA,), "add": ("add.f32 %f1, %f1, %f3;",), "max": ("max.f32 %f1, %f1, %f3;",), "abs": ("abs.f32 %f200, %f1; add.f32 %f1, %f200, %f3;",),
    "neg": ("neg.f32 %f200, %f1; add.f32 %f1, %f200, %f3;",), "mov": ("mov.f32 %f{x}, %f1; mov.f32 %f1, %f{x}; add.f32 %f1, %f1, %f2;",),
    "selp": ("setp.gt.f32 %p5, %f1, %f2; selp.f32 %f1, %f3, %f1, %p5;",),
    "and.pred": ("setp.gt.f32 %p5, %f1, %f2; setp.lt.f32 %p6, %f1, %f3; and.pred %p7, %p5, %p6; selp.f32 %f1, %f3, %f1, %p7;",),
    "iadd": ("add.s32 %r20, %r20, %r21;",), "mad": ("mad.lo.s32 %r20, %r20, %r21, %r21;",), "mul.hi": ("mul.hi.u32 %r20, %r20, %r21;",),
    "logic": ("xor.b32 %r20, %r20, %r21; add.s32 %r20, %r20, %r9;",), "shl": ("shl.b32 %r20, %r20, 3; xor.b32 %r20, %r20, %r21;",),
    "min": ("min.s32 %r20, %r20, %r9; xor.b32 %r20, %r20, %r21;",), "prmt": ("prmt.b32 %r20, %r20, %r21, 0x4321;",),
    "bfe": ("bfe.u32 %r20, %r20, 3, 9; add.s32 %r20, %r20, %r21;",), "popc": ("popc.b32 %r20, %r20; add.s32 %r20, %r20, %r21;",),
    "shf": ("shf.l.wrap.b32 %r20, %r20, %r21, 7;",), "wide": ("mul.wide.s32 %rd22, %r20, %r21; add.s64 %rd20, %rd22, %rd20; cvt.u32.u64 %r20, %rd20;",),
    "add64": ("add.s64 %rd20, %rd20, %rd21;",), "mul64": ("mul.lo.s64 %rd20, %rd20, %rd21;",), "shl64": ("shl.b64 %rd20, %rd20, 3; xor.b64 %rd20, %rd20, %rd21;",),
    "cvt": ("cvt.rn.f32.s32 %f{x}, %r20; add.f32 %f1, %f1, %f{x}; xor.b32 %r20, %r20, %r21;",),
    "cvt.f64": ("cvt.rn.f64.s32 %d3, %r20; add.f64 %d1, %d1, %d3; add.s32 %r20, %r20, %r21;",), "dfma": ("fma.rn.f64 %d1, %d1, %d2, %d2;",),
    "cvt.f16": ("mov.b32 {{%h1,%h2}}, %r20; cvt.f32.f16 %f200, %h1; add.f32 %f1, %f1, %f200; add.s32 %r20, %r20, %r21;",),
    "fma.f16x2": ("fma.rn.f16x2 %r20, %r20, %r21, %r21;",), "add.f16x2": ("add.rn.f16x2 %r20, %r20, %r21;",),
    "ex2.ftz": ("ex2.approx.ftz.f32 %f1, %f1;",), "ex2": ("ex2.approx.f32 %f1, %f1;",), "lg2": ("lg2.approx.f32 %f1, %f1;",), "sin.ftz": ("sin.approx.ftz.f32 %f1, %f1;",),
    "rsqrt.ftz": ("rsqrt.approx.ftz.f32 %f1, %f1;",), "rsqrt": ("rsqrt.approx.f32 %f1, %f1;",), "sqrt.ftz": ("sqrt.approx.ftz.f32 %f1, %f1;",),
    "sqrt": ("sqrt.approx.f32 %f1, %f1;",), "rcp.ftz": ("rcp.approx.ftz.f32 %f1, %f1;",), "tanh": ("tanh.approx.f32 %f1, %f1;",),
    "div.approx.ftz": ("div.approx.ftz.f32 %f1, %f1, %f2;",), "div.full.ftz": ("div.full.ftz.f32 %f1, %f1, %f2;",),
    "div.u32.7": ("div.u32 %r20, %r20, 7; add.u32 %r20, %r20, %r21;",), "div.s32.3": ("div.s32 %r20, %r20, 3; add.s32 %r20, %r20, %r21;",),
    "rem.u32.7": ("rem.u32 %r20, %r20, 7; add.u32 %r20, %r20, %r21;",), "rem.s32.3": ("rem.s32 %r20, %r20, 3; add.s32 %r20, %r20, %r21;",),
    "div.u32": ("div.u32 %r20, %r21, %r20;",), "div.s32": ("div.s32 %r20, %r21, %r20;",), "rem.u32": ("rem.u32 %r20, %r21, %r20;",),
    "ld": ("ld.global.f32 %f{x}, [%rd7+{g}]; fma.rn.f32 %f1, %f{x}, %f2, %f1;", LOAD), "ld.nc": ("ld.global.nc.f32 %f{x}, [%rd7+{g}]; fma.rn.f32 %f1, %f{x}, %f2, %f1;", LOAD),
    "ld.v4": ("ld.global.v4.f32 {{%f{x}, %f{x1}, %f{x2}, %f{x3}}}, [%rd7+{v}]; fma.rn.f32 %f1, %f{x}, %f{x1}, %f1; fma.rn.f32 %f1, %f{x2}, %f{x3}, %f1;", LOAD),
    "ld.f64": ("ld.global.f64 %d{x}, [%rd7+{v}]; fma.rn.f64 %d1, %d{x}, %d2, %d1;", LOAD),
    "ld.sum": ("add.s64 %rd{y}, %rd7, %rd21; ld.global.f32 %f200, [%rd{y}+{g}]; add.f32 %f1, %f1, %f200;", LOAD),
    "ld.index": ("mul.wide.s32 %rd{y}, %r2, 4; add.s64 %rd{y}, %rd{y}, %rd7; ld.global.f32 %f200, [%rd{y}+{g}]; add.f32 %f1, %f1, %f200;",),
    "ld.shared": ("ld.shared.f32 %f{x}, [%r5+{s}]; fma.rn.f32 %f1, %f{x}, %f2, %f1;", SHARED),
    "ld.shared.v4": ("ld.shared.v4.f32 {{%f{x}, %f{x1}, %f{x2}, %f{x3}}}, [%r5+{t}]; fma.rn.f32 %f1, %f{x}, %f{x1}, %f1; fma.rn.f32 %f1, %f{x2}, %f{x3}, %f1;", SHARED),
    "ld.shared.index": ("shl.b32 %r{y}, %r2, 2; add.s32 %r{y}, %r{y}, %r3; ld.shared.f32 %f200, [%r{y}+{s}]; add.f32 %f1, %f1, %f200;",),
    "ld.const": ("ld.const.f32 %f{x}, [%rd8+{s}]; fma.rn.f32 %f1, %f{x}, %f2, %f1;", TABLE), "ld.const.fixed": ("ld.const.f32 %f{x}, [tab+{s}]; fma.rn.f32 %f1, %f{x}, %f2, %f1;",),
    "st": ("st.global.f32 [%rd6+{g}], %f1;", STORE), "st.guarded": ("@%p20 st.global.f32 [%rd6+{g}], %f1;", STORE), "st.shared": ("st.shared.f32 [%r5+{s}], %f1;", SHARED),
    "st.shared.v4": ("st.shared.v4.f32 [%r5+{t}], {{%f1, %f2, %f3, %f1}};", SHARED),
    "copy": ("ld.global.nc.f32 %f{x}, [%rd7+{g}]; st.global.f32 [%rd6+{g}], %f{x};", LOAD, STORE), "fill": ("ld.global.nc.f32 %f{x}, [%rd7+{g}]; st.shared.f32 [%r5+{s}], %f{x};", LOAD, SHARED),
    "drain": ("ld.shared.f32 %f{x}, [%r5+{s}]; st.global.f32 [%rd6+{g}], %f{x};", SHARED, STORE),
    "atom.shared": ("atom.shared.add.u32 %r{y}, [%r5+{s}], %r21; xor.b32 %r20, %r20, %r{y};", SHARED), "red.shared": ("red.shared.add.u32 [%r5+{s}], %r21;", SHARED),
    "red": ("red.global.add.u32 [%rd6+{g}], %r21;", STORE), "shfl": ("shfl.sync.bfly.b32 %r{y}, %r20, 1, 31, -1; xor.b32 %r20, %r20, %r{y};",),
}
# Stores to where an iteration's own sums lead, beside loads that step, or not.
STRAY = {
    "copy to a sum": "add.s64 %rd37, %rd30, %rd38; ld.global.nc.f32 %f10, [%rd7]; st.global.f32 [%rd37], %f10; add.s64 %rd38, %rd38, 2048; " + LOAD,
    "copy by index": "mul.wide.s32 %rd36, %r2, 4; add.s64 %rd37, %rd36, %rd3; ld.global.nc.f32 %f10, [%rd7]; st.global.f32 [%rd37], %f10; " + LOAD,
    "copy by a step": "ld.global.nc.f32 %f10, [%rd7]; st.global.f32 [%rd6], %f10; add.s64 %rd6, %rd6, %rd21; " + LOAD,
    "copy from a sum": "add.s64 %rd36, %rd31, %rd38; ld.global.nc.f32 %f10, [%rd36]; st.global.f32 [%rd6], %f10; add.s64 %rd38, %rd38, 2048; " + STORE,
    "store to a sum": "add.s64 %rd37, %rd30, %rd38; st.global.f32 [%rd37], %f1; add.s64 %rd38, %rd38, 2048;",
    "fill by a sum": "add.s64 %rd36, %rd31, %rd38; ld.global.nc.f32 %f10, [%rd36]; st.shared.f32 [%r5], %f10; add.s64 %rd38, %rd38, 2048; " + SHARED,
    "shared copy to a sum": "add.s32 %r30, %r5, %r21; add.s32 %r31, %r4, %r20; ld.shared.f32 %f10, [%r30]; st.shared.f32 [%r31], %f10; add.s32 %r20, %r20, 2048; " + SHARED,
    "shared and global to a sum": "add.s64 %rd37, %rd30, %rd38; ld.global.nc.f32 %f10, [%rd7]; ld.shared.f32 %f11, [%r5]; add.f32 %f10, %f10, %f11; st.global.f32 [%rd37], %f10; add.s64 %rd38, %rd38, 2048; " + LOAD + SHARED,
}
MOST = 200


def body(mix):
    lines, steps = [], []
    for kind, times in mix:
        for i in range(times):
            lines.append(BESIDE[kind][0].format(x=10 + 4 * i, x1=11 + 4 * i, x2=12 + 4 * i, x3=13 + 4 * i, y=40 + i, g=512 * i, s=4 * i, t=16 * i, v=2048 * i))
        steps += [s for s in BESIDE[kind][1:] if s not in steps]
    return " ".join(lines + steps)


def unrolled(stem, arch, text, sums):
    with open(stem + ".ptx", "w") as f:
        f.write(KERNEL % (arch, text + " mul.rn.f32 %f1, %f1, %f2;\n" + FMA * sums))
    subprocess.run(["ptxas", "-arch=" + arch, stem + ".ptx", "-o", stem + ".cubin"], check=True)
    code = subprocess.run(["cuobjdump", "-sass", stem + ".cubin"], check=True, capture_output=True, text=True).stdout
    os.remove(stem + ".ptx")
    os.remove(stem + ".cubin")
    products = [int(m[1], 16) for m in re.finditer(r"/\*([0-9a-f]{4,5})\*/ +FMUL ", code)]
    return max((sum(start <= p < end for p in products) for start, end in loops(code)), default=0) > 1


def bisect(stem, arch, name, text):
    low, high = -1, MOST
    while high - low > 1:
        middle = (low + high) // 2 if low >= 0 else 0
        if unrolled(stem, arch, text, middle):
            low = middle
        elif middle == 0:
            break
        else:
            high = middle
    return {"arch": arch, "beside": name, "body": text, "most": low}


def main():
    mixes = [[("fma", 0)]] + [[(kind, n)] for kind in BESIDE for n in (1, 2, 3, 4, 6, 8, 12, 16, 20, 24)]
    mixes += [[(kind, n), ("ld.nc", 1)] for kind in BESIDE for n in (1, 2, 4) if kind != "ld.nc"]
    mixes += [[(kind, n), ("ld.shared", m)] for kind, n in (("ld.nc", 1), ("ld.nc", 4), ("ld.nc", 8), ("st", 2), ("st.shared", 2), ("ld.const", 2)) for m in (1, 2, 4, 6, 8, 12, 16, 20)]
    jobs = [("sm_90", " and ".join(f"{n} {kind}" for kind, n in mix), body(mix)) for mix in mixes]
    jobs += [(arch, f"{n} {kind}", body([(kind, n)])) for arch in ("sm_75", "sm_80") for kind in BESIDE for n in (1, 4)]
    jobs += [("sm_90", name, text) for name, text in STRAY.items()]
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda job: bisect(f"{work}/{job[0]}", *job[1]), enumerate(jobs)):
            print(json.dumps(result))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
