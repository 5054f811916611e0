#!/usr/bin/env python3
"""Asks ptxas how many registers filters take that share their inputs, by where their weights are.

    filters.py | gzip -9n > ../results/filters-ptxas-13.0.jsonl.gz

Needs nvcc and ptxas, and no GPU. A kernel has some filters of as many weights over words of shared memory, some words
apart, unrolled: weight by weight or filter by filter, with weights in constant memory, in a structure that is a
parameter, immediate, or in shared memory. Each line is one for one compute capability: its registers, and
its loads from shared and from constant memory.
"""
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WEIGHTS = {"constant": "wc[{k}]", "parameter": "w.v[{k}]", "shared": "sw[{k}]", "immediate": None}
ALL = list(itertools.product(WEIGHTS, ("weight", "filter"), (32, 64, 120), (2, 3, 4), (8, 16, 30), ((80, 90, 100),)))
FEW = [("constant", "weight", k, 4, 30, (75, 86, 89, 90, 100, 120)) for k in
       (40, 48, 52, 54, 56, 58, 60, 62, 63, 66, 68, 70, 72, 74, 76, 78, 80, 82, 84, 88, 92, 96, 104, 112)]


def source(weights, by, taps, filters, apart):
    """The kernel in CUDA C++."""
    parameter = ", const __grid_constant__ Weights w" if weights == "parameter" else ""
    steps = itertools.product(range(taps), range(filters))
    if by == "filter":
        steps = ((k, r) for r in range(filters) for k in range(taps))
    out = ["__constant__ float wc[128];", "struct Weights { float v[128]; };",
           f'extern "C" __global__ void filters(const float *in, float *out{parameter}) {{',
           "__shared__ float sh[1024], sw[128]; int t = threadIdx.x;",
           "for (int i = t; i < 1024; i += blockDim.x) sh[i] = in[blockIdx.x * 512 + i];",
           "if (t < 128) sw[t] = in[t];", "__syncthreads();"]
    out += [f"float s{r} = 0;" for r in range(filters)]
    for k, r in steps:
        weight = WEIGHTS[weights].format(k=k) if WEIGHTS[weights] else f"{(k * 37 % 101) / 7 + 0.1:.5f}f"
        out.append(f"s{r} += sh[t + {r * apart + k}] * {weight};")
    out += [f"out[blockIdx.x * 512 + t + {r * 512}] = s{r};" for r in range(filters)]
    return "\n".join(out + ["}", ""])


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measure(weights, by, taps, filters, apart, archs):
    """Lines of one kernel."""
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "k.cu").write_text(source(weights, by, taps, filters, apart))
        run("nvcc", "-std=c++17", "-arch=sm_90", "-ptx", folder / "k.cu", "-o", folder / "k.ptx")
        text = (folder / "k.ptx").read_text()
        for arch in archs:
            (folder / "a.ptx").write_text(text.replace(".target sm_90", f".target sm_{arch}"))
            run("ptxas", f"-arch=sm_{arch}", folder / "a.ptx", "-o", folder / "a.cubin")
            used = run("cuobjdump", "-res-usage", folder / "a.cubin")
            code = run("cuobjdump", "-sass", folder / "a.cubin")
            lines.append({"weights": weights, "by": by, "taps": taps, "filters": filters, "apart": apart, "arch": arch,
                          "registers": int(re.search(r"REG:(\d+)", used)[1]),
                          "shared_loads": len(re.findall(r"\bLDS\b", code)), "constant_loads": len(re.findall(r"\b(?:ULDC|LDCU)\b", code))})
    return lines


def main():
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(lambda k: measure(*k), ALL + FEW):
            for line in lines:
                print(json.dumps(line))


if __name__ == "__main__":
    main()
