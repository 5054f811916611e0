#!/usr/bin/env python3
"""Counts how many iterations at a time ptxas has of a loop of a known number that it does not unroll whole.

    copies.py | gzip -9n > ../results/copies-ptxas-13.0.jsonl.gz

Needs ptxas and cuobjdump, and no GPU. Each line is a loop of so many iterations of a body, made
so many times: for each loop of the machine code, in order, how many iterations one turn makes, and
how many are made outside loops. Bodies and the kernel around them are those of unroll.py.
"""
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from unroll import loops, machine

ITERATIONS = [*range(2, 41), 42, 45, 48, 49, 50, 54, 55, 56, 60, 63, 64, 65, 66, 70, 72, 77, 80, 81, 96, 97, 98, 99, 100, 127, 128, 129, 256, 1000, 1001]
SUMS = [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64, 66, 68, 70, 72, 74, 76, 78, 80, 82, 84, 88, 92, 96, 104, 112, 128, 160, 200]
OTHERS = {"ld.global": (4, 8, 12, 16, 20, 24, 28, 32), "ld.shared": (4, 8, 12, 16, 20, 24, 28, 32), "st.global": (4, 8, 12, 16, 20, 24, 28, 32), "mad": (24, 32, 40, 48, 56, 64, 72, 80)}
COUNTED = {"mad": "IMAD"}


def copies(work, body, times, n):
    code = machine(work, "one", body, times, n)
    sums = [int(m[1], 16) for m in re.finditer(r"/\*([0-9a-f]{4,5})\*/ +" + COUNTED.get(body, "FFMA") + " ", code)]
    turns = [sum(start <= s < end for s in sums) / times for start, end in loops(code)]
    return {"body": body, "times": times, "iterations": n, "loops": [t for t in turns if t > 0], "outside": len(sums) / times - sum(turns)}


def main():
    jobs = [("fma", m, n) for m in SUMS for n in ITERATIONS] + [(b, m, n) for b, times in OTHERS.items() for m in times for n in ITERATIONS]
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda job: copies(work, *job), jobs):
            print(json.dumps(result))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
