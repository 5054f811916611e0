#!/usr/bin/env python3
"""Launches what launch records say, once to warm up and once where a profiler looks.

    ncu --profile-from-start off --cache-control none --clock-control none --warp-sampling-interval 0 \\
        --metrics group:smsp__pcsamp_warp_stall_reasons -o samples python3 replay.py RECORDS.jsonl[.gz] PTX.zip
    ncu --import samples.ncu-rep --page source --csv --print-source sass

gives the samples of each instruction, and ncu-report (a Python package) those of each reason. Needs ptxas, PyTorch and a
GPU of compute capability 9.0. Buffers hold random numbers: integers of the range that the record has.
"""
import ctypes
import gzip
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor

import torch

cuda = ctypes.CDLL("libcuda.so.1")
TYPES = {"half": torch.float16, "float": torch.float32, "bfloat16": torch.bfloat16, "int32": torch.int32, "int64": torch.int64,
         "float8_e4m3fn": torch.float8_e4m3fn, "int8": torch.int8}
SCALARS = {"float": ctypes.c_float, "fp32": ctypes.c_float, "i64": ctypes.c_int64}
# cuda.h: CUtensorMapDataType, ...Swizzle, ...L2promotion; CUfunction_attribute, CUfunc_cache and CUlaunchAttributeID.
ELEMENTS = {"half": 6, "float": 7, "bfloat16": 9, "int32": 4, "float8_e4m3fn": 0, "int8": 0}
SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
PROMOTIONS = {"none": 0, "64B": 1, "128B": 2, "256B": 3}
MAX_DYNAMIC_SHARED, PREFER_SHARED, CLUSTER_DIMENSION = 8, 1, 4


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


def check(result, what):
    if result:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value}")


def assemble(archive, stems, folder):
    def one(stem):
        ptx, cubin = f"{folder}/{stem}.ptx", f"{folder}/{stem}.cubin"
        with open(ptx, "wb") as f:
            f.write(archive.read(stem + ".ptx"))
        subprocess.run(["ptxas", "-arch=sm_90a", ptx, "-o", cubin], check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, stems))


def buffer(a):
    kind = TYPES[a["type"]]
    if kind.is_floating_point:
        return (torch.randn(a["count"], device="cuda", dtype=torch.float16) * 0.5).to(kind)
    return torch.randint(a.get("min", 0), a.get("max", 0) + 1, (a["count"],), device="cuda", dtype=kind)


def tensor_map(a, kept):
    base, room = buffer(a["base"]), torch.empty(192, dtype=torch.uint8)
    kept += [base, room]
    at, rank = (room.data_ptr() + 63) // 64 * 64, len(a["shape"])
    check(cuda.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at), ELEMENTS[a["element"]], rank, ctypes.c_void_p(base.data_ptr()), (ctypes.c_uint64 * rank)(*a["shape"]),
        (ctypes.c_uint64 * max(1, rank - 1))(*a["strides"]), (ctypes.c_uint32 * rank)(*a["box"]), (ctypes.c_uint32 * rank)(*[1] * rank),
        0, SWIZZLES[a["swizzle"]], PROMOTIONS[a["l2promotion"]], 0), a["name"])
    return ctypes.c_void_p(at)


def parameters(r, kept):
    """Pointers to the values of all parameters, the scratch memory of Triton's trailing ones included."""
    out = []

    def add(value):
        kept.append(value)
        out.append(ctypes.cast(ctypes.pointer(value), ctypes.c_void_p))
    for a in r["args"]:
        if a.get("tensormap"):
            out.append(tensor_map(a, kept))
        elif a["vector"]:
            kept.append(buffer(a))
            add(ctypes.c_uint64(kept[-1].data_ptr()))
        else:
            add(SCALARS.get(a["type"], ctypes.c_int32)(a["value"]))
    for size in r.get("scratch", []):
        room = torch.zeros(size * r["grid"][0] * r["grid"][1] * r["grid"][2] + 256, device="cuda", dtype=torch.uint8)
        kept.append(room)
        add(ctypes.c_uint64(room.data_ptr() if size else 0))
    return (ctypes.c_void_p * len(out))(*out)


def launch(r, cubin):
    module, function, kept = ctypes.c_void_p(), ctypes.c_void_p(), []
    check(cuda.cuModuleLoad(ctypes.byref(module), cubin.encode()), "load")
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, r["entry"].encode()), r["entry"])
    if r["dynamic_smem"] > 48 << 10:
        check(cuda.cuFuncSetAttribute(function, MAX_DYNAMIC_SHARED, r["dynamic_smem"]), "dynamic shared memory")
        if "triton" in r:
            check(cuda.cuFuncSetCacheConfig(function, PREFER_SHARED), "carve-out")
    values, attribute, config = parameters(r, kept), Attribute(), Config()
    config.grid[:], config.block[:], config.shared = r["grid"], r["block"], r["dynamic_smem"]
    config.stream = torch.cuda.current_stream().cuda_stream
    if max(r["cluster"]) > 1:
        attribute.id, attribute.value[0:3] = CLUSTER_DIMENSION, r["cluster"]
        config.attributes, config.count = ctypes.addressof(attribute), 1
    for profiled in (False, True):
        torch.cuda.synchronize()
        if profiled:
            torch.cuda.cudart().cudaProfilerStart()
        check(cuda.cuLaunchKernelEx(ctypes.byref(config), function, values, None), "launch")
        torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()
    check(cuda.cuModuleUnload(module), "unload")


def main(path, ptx):
    torch.zeros(1, device="cuda")
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        records = [json.loads(line) for line in f]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(ptx) as archive:
        assemble(archive, sorted({r["ptx"] for r in records}), folder)
        for r in records:
            try:
                launch(r, f"{folder}/{r['ptx']}.cubin")
                print("ok", r["kernel"], r["params"], flush=True)
            except (RuntimeError, KeyError) as e:
                print("failed", r["kernel"], r["params"], e, flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
