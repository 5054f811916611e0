"""Draws samples of spaces that others measured whole on older GPUs, for warptune fidelity.

    python3 prepare.py --replay DIR --hub DIR --paper DIR --out OUT && cd OUT && xargs -d '\\n' -P8 -I{} sh -c {} <compile.txt
    warptune fidelity --arch GPU --kernels OUT --ptx-dir OUT --timings OUT/SPACE.jsonl

--replay holds the tables (parameters, status, time_ms); --hub and --paper are checkouts of
AutoTuningAssociation/benchmark_hub and fjwillemsen/kernel_tuner_paper, whose kernels they are.
"""
import argparse
import csv
import gzip
import hashlib
import json
import os
import random

# name: kernel, compute capability, tables, how many besides the 30 fastest of each
SPACES = {
    "convolution": ("convolution_kernel", 75, ["convolution-RTX_2080_Ti", "convolution-RTX_Titan"], 270),
    "xgemm": ("Xgemm", 75, ["gemm-RTX_2080_Ti", "gemm-RTX_Titan"], 270),
    "pnpoly": ("cn_pnpoly", 86, ["pnpoly-RTX_3090"], 220),
    "expdist": ("ExpDist", 86, ["expdist-A4000"], 170),
}
SEED = 20261121

# OpenCL as CUDA: what CLBlast's kernel needs of it.
CL = """#define USE_INLINE_KEYWORD
#define __kernel
#define __global
#define __local __shared__
#define restrict __restrict__
#define inline static __device__ __forceinline__
#define barrier(x) __syncthreads()
#define get_local_id(d) ((int)((d) == 0 ? threadIdx.x : threadIdx.y))
#define get_group_id(d) ((int)((d) == 0 ? blockIdx.x : blockIdx.y))
struct __align__(16) float8 { float s0, s1, s2, s3, s4, s5, s6, s7; };
struct __align__(16) float16 { float s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sA, sB, sC, sD, sE, sF; };
"""


def read(path):
    with open(path) as f:
        return f.read()


def table(path):
    """The configurations with a time, by their parameters."""
    out = {}
    with gzip.open(path, "rt") as f:
        rows = csv.reader(f)
        head = next(rows)
        status, time = head.index("status"), head.index("time_ms")
        for row in rows:
            if row[status] == "ok":
                key = tuple((n, int(v)) for n, v in zip(head[:status], row) if n != "nvml_gr_clock")
                out[key] = float(row[time])
    return out


def draw(tables, n):
    """The 30 fastest of each table, and one out of each of n equal slices of the ranks of the first."""
    common = set.intersection(*map(set, tables))
    pick = set()
    for t in tables:
        pick |= set(sorted(sorted(common), key=t.get)[:30])
    rest = sorted(sorted(common - pick), key=tables[0].get)
    rng = random.Random(SEED)
    for i in range(n):
        pick.add(rest[rng.randrange(i * len(rest) // n, (i + 1) * len(rest) // n)])
    return sorted(pick)


def sources(hub, paper):
    """The kernels as nvcc takes them."""
    old = os.path.join(hub, "currently_unused/kernels")
    gemm = "".join(read(f"{old}/gemm/{f}.opencl") for f in ("common", "xgemm_part1", "xgemm_part2", "xgemm_part3"))
    for real in ("realM* ", "realN* "):
        gemm = gemm.replace("__local " + real, real)
    gemm = gemm.replace("__kernel __attribute__((reqd_work_group_size(MDIMC, NDIMC, 1)))", 'extern "C" __global__ __launch_bounds__(MDIMC*NDIMC)')
    return {
        "convolution": read(old + "/convolution.cu"),
        "xgemm": CL + gemm,
        "pnpoly": read(old + "/pnpoly.cu").replace("__global__ void cn_pnpoly(", 'extern "C" __global__ void cn_pnpoly(', 1),
        "expdist": read(os.path.join(paper, "kernels/expdist/expdist.cu")),
    }


def vector(name, kind, size, fill, **more):
    return {"Name": name, "Type": kind, "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": size, **fill, **more}


def scalar(name, kind, value):
    return {"Name": name, "Type": kind, "MemoryType": "Scalar", "AccessType": "ReadOnly", **constant(value)}


def constant(value):
    return {"FillType": "Constant", "FillValue": value}


def uniform(top):
    return {"FillType": "Random", "FillValue": top}


def normal(step, around="%s"):
    """Normally distributed, nearly (J. Tukey's lambda distribution of 0.14), of the multiples of an irrational number."""
    u = f"((i*{step})%1.0*0.999998+0.000001)"
    return {"FillType": "Generator", "DataSource": around % f"4.91*({u}**0.14-(1-{u})**0.14)"}


def launches():
    """How each kernel is launched, by the tuning scripts beside the sources; inputs are about as random as theirs, and distributed alike where it matters:
    pnpoly's fills no vertices, so that all slopes are 0/0, and how far away expdist's points are decides which exponential functions are too small to divide."""
    area, n = "ProblemSize[0]*ProblemSize[1]", "ProblemSize[0]"
    golden, plastic, square = 0.6180339887498949, 0.7548776662466927, 0.5698402909980532
    tiles = f"(({n}+block_size_%s*tile_size_%s-1)//(block_size_%s*tile_size_%s))"
    return {
        "convolution": dict(
            ProblemSize=[4096, 4096], LocalSize={"X": "block_size_x", "Y": "block_size_y"},
            GridDivX=["block_size_x", "tile_size_x"], GridDivY=["block_size_y", "tile_size_y"],
            Arguments=[vector("output", "float", area, constant(0)), vector("input", "float", "4110*4110", uniform(1.0)),
                       vector("filter", "float", "225", uniform(1.0)), vector("d_filter", "float", "225", uniform(1.0), MemType="Constant")]),
        "xgemm": dict(
            ProblemSize=[4096, 4096], LocalSize={"X": "MDIMC", "Y": "NDIMC"}, GridDivX=["MWG"], GridDivY=["NWG"],
            Arguments=[scalar("m", "int32", 4096), scalar("n", "int32", 4096), scalar("k", "int32", 4096), scalar("alpha", "float", 1.0), scalar("beta", "float", 1.0),
                       vector("A", "float", area, uniform(1.0)), vector("B", "float", area, uniform(1.0)), vector("C", "float", area, constant(0))]),
        "pnpoly": dict(
            ProblemSize=[20000000], LocalSize={"X": "block_size_x", "Y": "1"}, GridDivX=["block_size_x", "tile_size"],
            Arguments=[vector("bitmap", "int32", n, constant(0)), vector("points", "float2", n, uniform(1.0)), scalar("n", "int32", n),
                       vector("d_vertices", "float2", "600", constant(0), MemType="Constant")]),
        "expdist": dict(
            ProblemSize=[32768], LocalSize={"X": "block_size_x", "Y": "block_size_y"},
            GlobalSize={"X": tiles % (("x",) * 4), "Y": f"use_column*n_y_blocks+(1-use_column)*{tiles % (('y',) * 4)}"},
            Arguments=[vector("A", "double", "2*" + n, normal(golden)), vector("B", "double", "2*" + n, normal(golden, f"%s+0.00001*((i*{plastic})%%1.0-0.5)")),
                       scalar("m", "int32", n), scalar("n", "int32", n), vector("scale_A", "double", n, normal(plastic, "abs(0.01*%s)")),
                       vector("scale_B", "double", n, normal(square, "abs(0.01*%s)")), vector("cost", "double", "1024*32768", constant(0))]),
    }


def definition(name, kernel, keys, launch):
    params = [{"Name": p, "Type": "int", "Values": str(sorted({dict(k)[p] for k in keys})), "Default": v} for p, v in keys[0]]
    spec = {"Language": "CUDA", "KernelName": kernel, "KernelFile": name + ".cu", "GlobalSizeType": "CUDA", "GlobalSize": {"X": "1"}, "SharedMemory": 0, **launch}
    return {"General": {"FormatVersion": 1, "BenchmarkName": name}, "ConfigurationSpace": {"TuningParameters": params, "Conditions": []}, "KernelSpecification": spec}


def compile_line(name, stem, cc, key):
    """One nvcc call; unroll factors are constants, as Kernel Tuner has them, since pragmas expand no macros."""
    unroll = "".join(f"constexpr int {n} = {v};\\n" for n, v in key if n.startswith("loop_unroll"))
    macros = " ".join(f"-D{n}={v}" for n, v in key if not n.startswith("loop_unroll"))
    return f'printf "{unroll}#include \\"{name}.cu\\"\\n" >{stem}.cu && nvcc -std=c++17 -ptx -arch=sm_{cc} {macros} -Dkernel_tuner=1 -Dblock_size_z=1 {stem}.cu -o {stem}.ptx'


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("replay", "hub", "paper", "out"):
        p.add_argument("--" + flag, required=True)
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    code, launch, lines = sources(a.hub, a.paper), launches(), []
    for name, (kernel, cc, names, n) in SPACES.items():
        tables = [table(os.path.join(a.replay, f + ".csv.gz")) for f in names]
        keys = draw(tables, n)
        with open(os.path.join(a.out, name + ".cu"), "w") as f:
            f.write(code[name])
        with open(os.path.join(a.out, name + ".json"), "w") as f:
            json.dump(definition(name, kernel, keys, launch[name]), f, indent=1)
        stems = {k: name + "-" + hashlib.sha1(json.dumps(k).encode()).hexdigest()[:10] for k in keys}
        lines += [compile_line(name, stems[k], cc, k) for k in keys]
        for t, table_name in zip(tables, names):
            with open(os.path.join(a.out, table_name + ".jsonl"), "w") as f:
                for k in keys:
                    us = t[k] * 1000
                    f.write(json.dumps({"kernel": name, "group": table_name, "params": dict(k), "ptx": stems[k],
                                        "time_us": {"median": us, "min": us, "max": us, "reps": 1, "launches": 1}}) + "\n")
    with open(os.path.join(a.out, "compile.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
