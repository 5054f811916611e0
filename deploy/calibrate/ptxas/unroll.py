#!/usr/bin/env python3
"""Bisects how many iterations a loop of a known number may have for ptxas to unroll it whole.

    unroll.py | gzip -9n > ../results/unroll-ptxas-13.0.jsonl.gz

Needs ptxas and cuobjdump, and no GPU. Each line is a loop body, made so many times, by how the
loop ends: "one" test of its induction, that "and" another predicate in one branch, or another
branch "before" the body. Of most iterations the machine code has no loop, of "kept" it has
one; whole is 0 where it has one of two iterations. Between the two it was not looked (2.5 %).
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ARCH = "sm_90"
KERNEL = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
.reg .pred %%p<16>; .reg .b32 %%r<128>; .reg .f32 %%f<128>; .reg .b64 %%rd<32>; .shared .align 16 .b8 sh[16384];
ld.param.u64 %%rd1, [p0]; ld.param.u64 %%rd2, [p1]; ld.param.u32 %%r9, [p2];
cvta.to.global.u64 %%rd3, %%rd1; cvta.to.global.u64 %%rd4, %%rd2;
mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd5, %%r1, 4; add.s64 %%rd6, %%rd3, %%rd5; add.s64 %%rd7, %%rd4, %%rd5;
mov.u32 %%r3, sh; shl.b32 %%r4, %%r1, 2; add.s32 %%r5, %%r3, %%r4;
ld.global.f32 %%f1, [%%rd7]; ld.global.f32 %%f2, [%%rd7+4096]; ld.global.f32 %%f3, [%%rd7+8192];
ld.global.u32 %%r20, [%%rd7+12288]; ld.global.u32 %%r21, [%%rd7+16384];
mov.u32 %%r2, 0;
LOOP:
%s
OUT:
st.global.f32 [%%rd6], %%f1; st.global.u32 [%%rd6+4096], %%r2; st.global.u32 [%%rd6+8192], %%r20;
ret;
}
"""
NEXT = "add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, {n};"
ENDS = {
    "one": ("", NEXT + " @%p1 bra LOOP;"),
    "and": ("", NEXT + " setp.neu.f32 %p2, %f1, 0f3F800000; and.pred %p3, %p1, %p2; @%p3 bra LOOP;"),
    "before": ("setp.eq.f32 %p4, %f1, %f2; @%p4 bra OUT;\n", NEXT + " @%p1 bra LOOP;"),
}
FMA = "fma.rn.f32 %f1, %f1, %f2, %f3;"
BODIES = {
    "fma": FMA,
    "ld.global": "ld.global.f32 %f{x}, [%rd7+{g}]; fma.rn.f32 %f1, %f{x}, %f2, %f1;",
    "ld.shared": "ld.shared.f32 %f{x}, [%r5+{s}]; fma.rn.f32 %f1, %f{x}, %f2, %f1;",
    "st.global": FMA + " st.global.f32 [%rd6+{t}], %f1;",
    "ex2.ftz": "ex2.approx.ftz.f32 %f1, %f1; " + FMA,
    "ex2": "ex2.approx.f32 %f1, %f1; " + FMA,
    "rcp.ftz": "rcp.approx.ftz.f32 %f1, %f1; " + FMA,
    "selp": "setp.gt.f32 %p5, %f1, %f2; selp.f32 %f1, %f3, %f1, %p5; " + FMA,
    "mad": "mad.lo.s32 %r20, %r20, %r21, %r21;",
    "logic": "xor.b32 %r20, %r20, %r21; add.s32 %r20, %r20, %r9; shr.u32 %r20, %r20, 1;",
    "induction": "add.s32 %r22, %r2, %r21; xor.b32 %r20, %r20, %r22; mad.lo.s32 %r20, %r20, %r21, %r9;",
}
MOST = 4096


def machine(work, end, body, times, n):
    """The machine code of a loop of n iterations of so many bodies."""
    lines = [BODIES[body].format(x=10 + i, g=4 * i + 32768, s=4 * i, t=4 * i + 65536) for i in range(times)]
    if body == "ld.global":
        lines.append("add.s64 %rd7, %rd7, 1024;")
    before, after = ENDS[end]
    stem = f"{work}/{end}-{body}-{times}-{n}"
    with open(stem + ".ptx", "w") as f:
        f.write(KERNEL % (before + "\n".join(lines) + "\n" + after.format(n=n)))
    subprocess.run(["ptxas", f"-arch={ARCH}", stem + ".ptx", "-o", stem + ".cubin"], check=True)
    code = subprocess.run(["cuobjdump", "-sass", stem + ".cubin"], check=True, capture_output=True, text=True).stdout
    os.remove(stem + ".ptx")
    os.remove(stem + ".cubin")
    return code


def loops(code):
    """The addresses that each branch backwards leads to and stands at; the one after a kernel's end, to itself, is none."""
    jumps = re.finditer(r"/\*([0-9a-f]{4,5})\*/[^;]*BRA\S* (?:\S+, )?0x([0-9a-f]+)", code)
    spans = [(int(j[2], 16), int(j[1], 16)) for j in jumps]
    return [(start, end) for start, end in spans if start < end]


def whole(work, end, body, times, n):
    return not loops(machine(work, end, body, times, n))


def bisect(work, end, body, times):
    low, high = 2, MOST
    if not whole(work, end, body, times, low):
        return {"ends": end, "body": body, "times": times, "whole": 0, "kept": low}
    while high - low > max(1, low // 40):
        middle = (low + high) // 2 if high < 3 * low else int((low * high) ** 0.5)
        if whole(work, end, body, times, middle):
            low = middle
        else:
            high = middle
    return {"ends": end, "body": body, "times": times, "whole": low, "kept": high}


def main():
    sums = [*range(1, 13), 14, 16, 18, 20, 22, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80, 96, 128, 192, 256]
    jobs = [(end, "fma", m) for end in ENDS for m in sums]
    jobs += [("one", body, m) for body in BODIES if body != "fma" for m in (1, 2, 4, 6, 8, 12, 16, 24)]
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda job: bisect(work, *job), jobs):
            print(json.dumps(result))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
