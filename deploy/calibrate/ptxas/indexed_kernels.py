#!/usr/bin/env python3
"""Compiles the kernels of indexed_kernels.cu, and reads which of their arrays ptxas holds in registers.

    indexed_kernels.py | gzip -9n > ../results/indexed-kernels-nvcc-13.0.jsonl.gz

Needs nvcc and cuobjdump, and no GPU (ten seconds of 16 cores). Each line is a kernel by the
elements of its array (z), the copies of its inner loop (u) and the architecture: the bytes left
in local memory (stack), the registers, and how many instructions of some kinds there are.
"""
import itertools
import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "indexed_kernels.cu")
USED = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack.*?Used (\d+) reg", re.S)
OPERATION = re.compile(r"/\*[0-9a-f]{4,5}\*/\s+(?:@!?U?P\d )?\s*(\w[\w.]*)")


def compiled(work, arch, z, u):
    stem = f"{work}/{arch}-{z}-{u}"
    subprocess.run(["nvcc", "-ptx", f"-arch={arch}", f"-DZLEN={z}", f"-DUFAC={u}", SOURCE, "-o", stem + ".ptx"], check=True)
    log = subprocess.run(["ptxas", "-v", f"-arch={arch}", stem + ".ptx", "-o", stem + ".cubin"], check=True, capture_output=True, text=True).stderr
    code = subprocess.run(["cuobjdump", "-sass", stem + ".cubin"], check=True, capture_output=True, text=True).stdout
    used = {m[1]: (int(m[2]), int(m[3])) for m in USED.finditer(log)}
    for part in code.split("Function : ")[1:]:
        name, ops = part.split()[0], [op for op in OPERATION.findall(part) if op != "NOP"]
        yield {
            "kernel": name, "z": z, "u": u, "arch": arch, "stack": used[name][0], "regs": used[name][1], "ins": len(ops),
            **{k: sum(op.startswith(k.upper()) for op in ops) for k in ("ldl", "stl", "isetp")},
        }


def main():
    jobs = list(itertools.product(("sm_75", "sm_90"), (4, 6, 8, 16, 32), (1, 2, 4, 8)))
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as pool:
        for results in pool.map(lambda job: list(compiled(work, *job)), jobs):
            for r in results:
                print(json.dumps(r))


if __name__ == "__main__":
    main()
