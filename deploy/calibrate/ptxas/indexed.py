#!/usr/bin/env python3
"""Makes pieces of code with an array in local memory whose places are chosen at run time, and
reads whether ptxas holds it in registers.

    indexed.py | gzip -9n > ../results/indexed-ptxas-13.0.jsonl.gz

Needs ptxas and cuobjdump, and no GPU (a minute of 16 cores). Each line is one piece (see
PARAMETERS in indexed_pieces.py), by architecture: "stack" is the bytes left in
local memory, 0 where the array is held; "ldl", "stl", "isetp", "mov", "pmov" (guarded), "sel",
"r2" (P2R and R2P), "back" (branches backwards) and "ins" are the machine code's instructions.

What they say (sm_75 and sm_90 but for the sizes; simengine/ir/heldworth.go has it as code):

  - Only arrays that are accessed by words of 32 bits, alone or in vectors, are held (of 16 bits
    too, which is not modelled); never of 8 or 64.
  - An access may be at any place of the whole variable (pad, base: what else is in it counts)
    that its address can be congruent to, modulo 16 at most and modulo the alignment of the
    variable. Bounds of the index, the number of iterations and a cap of registers
    (maxnreg) make no difference.
  - The places of all accesses, times ten for each loop around them, are compared with the
    instructions of the kernel, times ten for each loop around them. Branches make no difference.
  - Loops are unrolled first.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from indexed_pieces import Piece, head
from indexed_sweeps import pieces

ARCHS = ("sm_75", "sm_90")
TOGETHER = 24  # kernels of one file
USED = re.compile(r"Compiling entry function '(\w+)'.*?\n.*?\n\s*(\d+) bytes stack frame, (\d+) bytes spill.*?\n.*?Used (\d+) registers")
LINE = re.compile(r"/\*([0-9a-f]{4,5})\*/\s+(@!?U?P\d )?\s*(\w[\w.]*)([^;]*);")
COUNTED = {"LDL": "ldl", "STL": "stl", "ISETP": "isetp", "SEL": "sel", "FSEL": "sel", "P2R": "r2", "R2P": "r2"}


def count(code):
    """What a function's machine code is made of."""
    c = dict.fromkeys(("ldl", "stl", "isetp", "mov", "pmov", "sel", "r2", "back", "ins"), 0)
    for m in LINE.finditer(code):
        op, base = m[3], m[3].split(".")[0]
        if op == "NOP":
            continue
        c["ins"] += 1
        if base in COUNTED:
            c[COUNTED[base]] += 1
        elif base == "MOV" or op.startswith("IMAD.MOV"):
            c["mov"] += 1
            c["pmov"] += bool(m[2])
        elif base == "BRA":
            to = re.search(r"0x([0-9a-f]+)", m[4])
            c["back"] += bool(to and int(to[1], 16) < int(m[1], 16))
    return c


def assemble(work, number, arch, some):
    """What becomes of some pieces, made as one file."""
    stem = f"{work}/{number}-{arch}"
    with open(stem + ".ptx", "w") as f:
        f.write(head(arch) + "".join(Piece(f"k{j}", p).text() for j, p in enumerate(some)))
    log = subprocess.run(["ptxas", "-v", f"-arch={arch}", stem + ".ptx", "-o", stem + ".cubin"], check=True, capture_output=True, text=True).stderr
    code = subprocess.run(["cuobjdump", "-sass", stem + ".cubin"], check=True, capture_output=True, text=True).stdout
    os.remove(stem + ".ptx")
    os.remove(stem + ".cubin")
    used = {m[1]: {"stack": int(m[2]), "regs": int(m[4])} for m in USED.finditer(log)}
    made = {part.split()[0]: count(part) for part in code.split("Function : ")[1:]}
    return [{**p, "arch": arch, **used[f"k{j}"], **made[f"k{j}"]} for j, p in enumerate(some)]


def main():
    everything = pieces()
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(work, i, a, everything[i : i + TOGETHER]) for a in ARCHS for i in range(0, len(everything), TOGETHER)]
        for results in pool.map(lambda job: assemble(*job), jobs):
            for r in results:
                print(json.dumps(r))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
