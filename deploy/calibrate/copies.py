#!/usr/bin/env python3
"""Counts how many iterations at a time ptxas has of a loop of a known number that it does not unroll whole.

    copies.py > results/copies-ptxas-13.0.jsonl

Needs ptxas and cuobjdump, and no GPU. Each line is a loop of so many iterations of a body, made
so many times: for each loop of the machine code, in order, how many iterations one turn makes, and
how many are made outside loops. Bodies and the kernel around them are those of unroll.py.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from unroll import ARCH, BODIES, ENDS, KERNEL

ITERATIONS = [*range(2, 41), 42, 45, 48, 49, 50, 54, 55, 56, 60, 63, 64, 65, 66, 70, 72, 77, 80, 81, 96, 97, 98, 99, 100, 127, 128, 129, 256, 1000, 1001]
SUMS = [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64, 66, 68, 70, 72, 74, 76, 78, 80, 82, 84, 88, 92, 96, 104, 112, 128, 160, 200]
OTHERS = {"ld.global": (4, 8, 12, 16, 20, 24, 28, 32), "ld.shared": (4, 8, 12, 16, 20, 24, 28, 32), "st.global": (4, 8, 12, 16, 20, 24, 28, 32), "mad": (24, 32, 40, 48, 56, 64, 72, 80)}
COUNTED = {"mad": "IMAD"}


def copies(work, body, times, n):
    lines = [BODIES[body].format(x=10 + i, g=4 * i + 32768, s=4 * i, t=4 * i + 65536) for i in range(times)]
    if body == "ld.global":
        lines.append("add.s64 %rd7, %rd7, 1024;")
    before, after = ENDS["one"]
    stem = f"{work}/{body}-{times}-{n}"
    with open(stem + ".ptx", "w") as f:
        f.write(KERNEL % (before + "\n".join(lines) + "\n" + after.format(n=n)))
    subprocess.run(["ptxas", f"-arch={ARCH}", stem + ".ptx", "-o", stem + ".cubin"], check=True)
    code = subprocess.run(["cuobjdump", "-sass", stem + ".cubin"], check=True, capture_output=True, text=True).stdout
    os.remove(stem + ".ptx")
    os.remove(stem + ".cubin")
    kind = COUNTED.get(body, "FFMA") + r" "
    sums = [int(m[1], 16) for m in re.finditer(r"/\*([0-9a-f]{4,5})\*/ +" + kind, code)]
    loops = []
    for j in re.finditer(r"/\*([0-9a-f]{4,5})\*/[^;]*BRA\S* (?:\S+, )?0x([0-9a-f]+)", code):
        end, start = int(j[1], 16), int(j[2], 16)
        here = sum(start <= s < end for s in sums)
        if start < end and here:
            loops.append(here / times)
    return {"body": body, "times": times, "iterations": n, "loops": loops, "outside": len(sums) / times - sum(loops)}


def main():
    jobs = [("fma", m, n) for m in SUMS for n in ITERATIONS] + [(b, m, n) for b, times in OTHERS.items() for m in times for n in ITERATIONS]
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda job: copies(work, *job), jobs):
            print(json.dumps(result))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
