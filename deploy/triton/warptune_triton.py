"""Triton kernels for warptune, on a machine with or without a GPU.

python -m warptune_triton capture SCRIPT --arch h100 -o DIR [--jobs N] [-- ARGUMENT ...]
    runs a script with Triton's driver replaced by a stand-in, compiles every configuration of each
    autotuned launch, and writes DIR, a folder of launch records that `warptune tune DIR` takes.

python -m warptune_triton cache TABLE SCRIPT --arch h100 [-- ARGUMENT ...]
    writes what `warptune export --format triton -o TABLE` says of a script's launches into the cache
    that Triton's autotuner keeps on disk (Triton 3.4 and newer).

@triton.autotune(..., prune_configs_by={"perf_model": warptune_triton.perf_model("h100"), "top_k": 3})
    ranks configurations by predicted times, so that only the best few are timed.

Needs Triton 3.2 or newer and nothing else. PyTorch is used if the script uses it.
"""
import argparse
import contextlib
import hashlib
import inspect
import json
import math
import os
import re
import runpy
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import types
import warnings

import triton
import triton.compiler
import triton.runtime
import triton.runtime.autotuner
import triton.testing
from triton.backends.compiler import GPUTarget
from triton.compiler import CompiledKernel
from triton.runtime.autotuner import Autotuner, Config
from triton.runtime.jit import JITFunction

# ---------------------------------------------------------------------------
# Architectures
# ---------------------------------------------------------------------------

# ARCHITECTURES are warptune's GPUs that Triton compiles for: compute capability, SMs. A test
# holds them against simengine/arch/data.
ARCHITECTURES = {
    "a100": (80, 108), "a100-40gb": (80, 108), "a4000": (86, 48), "a6000": (86, 84), "b200": (100, 148),
    "h100": (90, 132), "h100-pcie": (90, 114), "h200": (90, 132), "l40s": (89, 142), "rtx3090": (86, 82),
    "rtx4090": (89, 128),
}

# SHARED is the most shared memory that a block may ask for, bytes, by compute capability (CUDA C++
# Programming Guide, table of technical specifications).
SHARED = {80: 166912, 86: 101376, 87: 166912, 89: 101376, 90: 232448, 100: 232448, 103: 232448, 120: 101376}


class Architecture:
    """What a stand-in driver says of a GPU."""

    def __init__(self, name):
        self.name = name
        match = re.fullmatch(r"sm_?(\d+)a?|cc(\d+)\.(\d)", name)
        if name in ARCHITECTURES:
            self.capability, self.sms = ARCHITECTURES[name]
        elif match:
            self.capability, self.sms = int(match[1] or match[2] + match[3]), 100
        else:
            raise ValueError(f"unknown architecture {name!r}: want one of {', '.join(sorted(ARCHITECTURES))}, or a "
                             "compute capability such as sm_90")
        if self.capability not in SHARED:
            raise ValueError(f"architecture {name}: Triton compiles for compute capability 8.0 and later")
        self.shared = SHARED[self.capability]

    def properties(self):
        """The properties that Triton and scripts ask a device for."""
        return {
            "max_shared_mem": self.shared, "max_num_regs": 65536, "multiprocessor_count": self.sms, "warpSize": 32,
            "sm_clock_rate": 1500000, "mem_clock_rate": 2000000, "mem_bus_width": 4096,
        }


# ---------------------------------------------------------------------------
# Types, and a tensor without memory
# ---------------------------------------------------------------------------

# TYPES are Triton's element types: warptune's name, PyTorch's name, bytes.
TYPES = {
    "i1": ("uint8", "bool", 1), "i8": ("int8", "int8", 1), "i16": ("int16", "int16", 2),
    "i32": ("int32", "int32", 4), "i64": ("int64", "int64", 8), "u8": ("uint8", "uint8", 1),
    "u16": ("uint16", "uint16", 2), "u32": ("uint32", "uint32", 4), "u64": ("uint64", "uint64", 8),
    "fp16": ("half", "float16", 2), "bf16": ("bfloat16", "bfloat16", 2), "fp32": ("float", "float32", 4),
    "fp64": ("double", "float64", 8), "fp8e4nv": ("float8_e4m3fn", "float8_e4m3fn", 1),
    "fp8e5": ("float8_e5m2", "float8_e5m2", 1),
}
SHORT = {torch_name: short for short, (_, torch_name, _) in TYPES.items()}


class dtype:
    """An element type that prints as PyTorch's of the same name."""

    def __init__(self, name):
        name = str(name).split(".")[-1]
        name = TYPES[name][1] if name in TYPES else name
        if name not in SHORT:
            raise ValueError(f"unknown element type {name!r}: want one of {', '.join(sorted(SHORT))}")
        self.name, self.itemsize = name, TYPES[SHORT[name]][2]
        self.is_floating_point = "float" in name

    def __repr__(self):
        return "torch." + self.name

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


class Tensor:
    """A tensor of a shape and type with an address and no memory, for scripts without PyTorch."""

    addresses = 1 << 32  # where the next one lies

    def __init__(self, shape, dtype_, strides=None, min=None, max=None, address=None):
        self.shape = tuple(int(n) for n in ((shape,) if isinstance(shape, int) else shape))
        self.dtype = dtype_ if isinstance(dtype_, dtype) else dtype(dtype_)
        if strides is None:
            strides, step = [], 1
            for n in reversed(self.shape):
                strides.insert(0, step)
                step *= n
        self.strides = tuple(strides)
        self.min, self.max, self.device, self.is_cuda = min, max, "cuda:0", True
        self.count = reach(self.shape, self.strides)
        self.address = address
        if address is None:
            self.address = Tensor.addresses
            Tensor.addresses += -(-self.count * self.dtype.itemsize // 256) * 256 + 256

    def data_ptr(self):
        return self.address

    def stride(self, dim=None):
        return self.strides if dim is None else self.strides[dim]

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def numel(self):
        return math.prod(self.shape)

    def dim(self):
        return len(self.shape)

    ndim = property(dim)

    def element_size(self):
        return self.dtype.itemsize

    def is_contiguous(self):
        return self.strides == Tensor(self.shape, self.dtype, address=0).strides

    def transpose(self, a, b):
        """The same memory with two dimensions exchanged."""
        order = list(range(len(self.shape)))
        order[a], order[b] = order[b], order[a]
        return Tensor([self.shape[i] for i in order], self.dtype, [self.strides[i] for i in order], self.min, self.max,
                      self.address)

    def t(self):
        return self.transpose(0, 1)

    T = property(t)

    def zero_(self):
        return self

    def copy_(self, other):
        return self

    def contiguous(self):
        return self

    def clone(self):
        return Tensor(self.shape, self.dtype, self.strides, self.min, self.max)

    def new_empty(self, shape, dtype=None):
        return Tensor(shape, dtype or self.dtype)

    def __repr__(self):
        return f"warptune_triton.tensor({list(self.shape)}, {self.dtype})"


def tensor(shape, dtype, strides=None, min=None, max=None):
    """A tensor without memory: dtype is a name such as "float16", strides count elements, and min and max are the
    values that an integer tensor holds."""
    return Tensor(shape, dtype, strides, min, max)


def reach(shape, strides):
    """How many elements lie between the first and the last of a strided tensor."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides))


# ---------------------------------------------------------------------------
# The stand-in driver
# ---------------------------------------------------------------------------

launched = []  # the kernels launched through a stand-in driver that nobody has taken yet
compiled = {}  # CompiledKernel by its hash


class Launch:
    """One launch: what was compiled, the grid in programs, and the arguments as the script gave them."""

    def __init__(self, src, metadata, grid, args):
        self.src, self.metadata, self.grid, self.args = src, metadata, grid, args
        self.kernel = compiled.get(metadata.hash)


class Launcher:
    """Takes the place of Triton's launcher: notes the launch and does nothing else."""

    def __init__(self, src, metadata):
        self.src, self.metadata = src, metadata

    def __call__(self, x, y, z, stream, function, packed, launch_metadata, enter, leave, *args):
        launched.append(Launch(self.src, self.metadata, (x, y, z), args))
        triton.runtime.driver.active.after()


class Utilities:
    """Takes the place of Triton's module of driver calls."""

    def __init__(self, arch):
        self.arch = arch
        # From 3.4 on Triton asks how many threads a block of the kernel may have.
        self.threads = "n_max_threads" in inspect.getsource(CompiledKernel._init_handles)

    def get_device_properties(self, device):
        return self.arch.properties()

    def load_binary(self, name, cubin, shared, device):
        registers, local = resources(cubin, name)
        return (1, 1, registers, local // 4) + ((1024,) if self.threads else ())

    def unload_module(self, module):
        pass

    def set_printf_fifo_size(self, size):
        pass

    def cuOccupancyMaxActiveClusters(self, *args):
        return 1

    # Tensor maps of Triton 3.2 and 3.3, which scripts make themselves: a map by where it lies.
    maps = {}

    def fill_1d_tma_descriptor(self, pointer, n, box, size, address):
        self.maps[address] = (pointer, [n], [box], size, "none", "none")

    def fill_2d_tma_descriptor(self, pointer, rows, columns, box_rows, box_columns, size, address):
        inner = box_columns * size
        swizzle = "128B" if inner >= 128 else "64B" if inner >= 64 else "32B"
        self.maps[address] = (pointer, [columns, rows], [min(box_columns, 128 // size), box_rows], size, swizzle, "128B")


class Driver:
    """Takes the place of Triton's driver and says that the GPU is one of arch."""

    def __init__(self, arch):
        self.arch = arch
        self.device = "warptune " + arch.name  # no number, so that Triton's caches keep it apart from real devices
        self.utils = Utilities(arch)
        self.launcher_cls = Launcher
        self.after = lambda: None  # is called after each launch

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        return GPUTarget("cuda", self.arch.capability, 32)

    def get_current_device(self):
        return self.device

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=None):
        return 0

    def get_device_capability(self, device=None):
        return divmod(self.arch.capability, 10)

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", 0)

    def get_device_interface(self):
        import torch
        return torch.cuda

    def map_python_to_cpp_type(self, ty):
        from triton.backends.nvidia.driver import ty_to_cpp
        return ty_to_cpp(ty)

    def assemble_tensormap_to_arg(self, maps, args):
        return args

    def get_benchmarker(self):
        return once

    def get_empty_cache_for_benchmark(self):
        return None

    def clear_cache(self, cache):
        pass


def once(fn, *args, quantiles=None, **options):
    """Takes the place of a benchmark: calls fn once and says that it takes a millisecond."""
    fn()
    return 1.0 if quantiles is None else [1.0] * len(quantiles)


def resources(cubin, name):
    """Registers a thread and bytes of local memory a thread of a kernel in a cubin, which is an ELF file: the
    attributes 0x2f (register count) and 0x11 (frame size) of section .nv.info, each a symbol and a number."""
    sections = elf_sections(cubin)
    symbols = [s for s in sections if s[1] == 2]
    strings = sections[symbols[0][4]] if symbols else None
    found = {0x2f: 0, 0x11: 0}
    for at, _, start, size, _ in [s for s in sections if s[1] == 0x70000000]:
        end = start + size
        while start + 4 <= end:
            form, attribute, length = struct.unpack_from("<BBH", cubin, start)
            start += 4
            if form != 4:  # the value stands in the length
                continue
            if attribute in found and length == 8:
                symbol, value = struct.unpack_from("<II", cubin, start)
                word = struct.unpack_from("<I", cubin, symbols[0][2] + 24 * symbol)[0]
                begin = strings[2] + word
                if cubin[begin:cubin.index(b"\0", begin)].decode() == name:
                    found[attribute] = value
            start += length
    return found[0x2f], found[0x11]


def elf_sections(data):
    """The sections of a 64-bit ELF file: index, type, offset, size, link."""
    offset, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    out = []
    for i in range(count):
        _, kind, _, _, start, length, link = struct.unpack_from("<IIQQQQI", data, offset + i * size)
        out.append((i, kind, start, length, link))
    return out


# ---------------------------------------------------------------------------
# Launch records
# ---------------------------------------------------------------------------

SWIZZLES = ["none", "32B", "64B", "128B"]


def bound(launch):
    """The launch's parameters that the PTX may have: name, path of the specialisation, Triton's type, value."""
    names = list(launch.src.fn.arg_names)
    signature = launch.src.signature
    types_ = [signature.get(name, "constexpr") for name in names]
    if len(launch.args) == len(names):
        values = list(launch.args)
    else:  # Triton 3.2 passes no constexpr
        constexpr = set(launch.src.fn.constexprs)
        given = iter(launch.args)
        values = [None if i in constexpr else next(given) for i in range(len(names))]
    return [(name, (i,), ty, value) for i, (name, ty, value) in enumerate(zip(names, types_, values))]


def arguments(launch):
    """The arguments in the order of the PTX's parameters, without what Triton made a constant."""
    constants = {launch.src.fn.arg_names.index(k) if isinstance(k, str) else k for k in launch.src.constants}
    constants = {k if isinstance(k, tuple) else (k,) for k in constants}
    maps = iter(getattr(launch.metadata, "tensordesc_meta", None) or [])
    out = []

    def add(name, path, ty, value):
        if path in constants or ty == "constexpr":
            return
        if isinstance(ty, tuple):
            fields = getattr(value, "_fields", range(len(ty)))
            for i, (field, t, v) in enumerate(zip(fields, ty, value)):
                add(f"{name}.{field}", path + (i,), t, v)
        elif ty.startswith("tensordesc"):
            out.extend(descriptor(name, value, next(maps, None)))
        elif ty == "nvTmaDesc":
            out.append(old_descriptor(name, value))
        elif ty[0] == "*":
            out.append(buffer(name, ty.lstrip("*").removeprefix("k"), value))
        else:
            out.append(scalar(name, ty, value))

    for each in bound(launch):
        add(*each)
    return out


def scalar(name, ty, value):
    """A number. JSON has no word for those that are not finite: they are the texts "inf", "-inf" and "nan"."""
    if isinstance(value, float) and not math.isfinite(value):
        value = str(value)
    return {"name": name, "type": ty, "vector": False, "value": int(value) if isinstance(value, bool) else value}


def buffer(name, element, value):
    """A buffer: the elements that lie behind the pointer, and of integers the smallest and largest."""
    if not hasattr(value, "data_ptr"):
        raise TypeError(f"argument {name}: {type(value).__name__} is no tensor, so that its size is unknown")
    out = {"name": name, "type": TYPES[element][0] if element in TYPES else element, "vector": True}
    while type(value).__name__ == "TensorWrapper":
        value = value.base
    out["count"], out["offset"] = extent(value, TYPES[element][2] if element in TYPES else 1)
    if element[0] in "iu":
        low, high = (0, 1) if element == "i1" else limits(value)
        if low is not None:
            out["min"], out["max"] = low, high
    return out


def extent(value, size):
    """How many elements of memory lie from a tensor's first one on, and how many before it."""
    if isinstance(value, Tensor):
        return max(value.count, 1), 0
    if hasattr(value, "untyped_storage"):
        before = value.storage_offset()
        return max(value.untyped_storage().nbytes() // size - before, 1), before
    shape = tuple(getattr(value, "shape", ()))
    strides = value.stride() if callable(getattr(value, "stride", None)) else ()
    return max(reach(shape, strides) if len(strides) == len(shape) else math.prod(shape), 1), 0


def limits(value):
    """The smallest and the largest of an integer tensor, (None, None) where that is not known."""
    if isinstance(value, Tensor):
        return value.min, value.max
    try:
        return int(value.min().item()), int(value.max().item())
    except Exception:  # empty, or of a type that PyTorch cannot compare
        return None, None


def descriptor(name, value, meta):
    """The parameters of a host tensor descriptor: the tensor map, or from compute capability 8 on what it was made of,
    then its shape and strides."""
    shape, strides = [int(n) for n in value.shape], [int(n) for n in value.strides]
    base = buffer(name, SHORT[str(value.base.dtype).split(".")[-1]], value.base)
    nan = getattr(value, "padding", "zero") == "nan"
    if meta is None:
        out = [dict(base, name=name + ".base")]
        out += [scalar(f"{name}.size{i}", "i64", n) for i, n in enumerate(shape)]
        out += [scalar(f"{name}.step{i}", "i64", n) for i, n in enumerate(strides)]
        for flag, on in (("padding", nan), ("round_f32_to_tf32", getattr(value, "round_f32_to_tf32", False))):
            if hasattr(value, flag):
                out.append(scalar(f"{name}.{flag}", "i1", int(on)))
    elif meta.get("is_im2col"):
        raise TypeError(f"argument {name}: tensor descriptors of im2col are not described")
    else:
        size, wide = meta["elem_size"], [2 * shape[-1]] if meta.get("fp4_padded") else shape[-1:]
        out = [tensor_map(name, base, (shape[:-1] + wide)[::-1], [n * size for n in strides[:-1]][::-1],
                          list(meta["block_size"])[::-1], SWIZZLES[meta["swizzle"]], "128B", "nan" if nan else "zeros")]
    out += [scalar(f"{name}.shape{i}", "i32", n) for i, n in enumerate(shape)]
    return out + [scalar(f"{name}.stride{i}", "i64", n) for i, n in enumerate(strides)]


def tensor_map(name, base, shape, strides, box, swizzle, promotion, fill):
    return {
        "name": name, "type": "tensormap", "tensormap": True, "vector": False, "bytes": 128, "base": base,
        "element": base["type"], "shape": shape, "strides": strides, "box": box, "swizzle": swizzle,
        "interleave": "none", "l2promotion": promotion, "oobfill": fill,
    }


def old_descriptor(name, value):
    """A tensor map that the script encoded, as it had to in Triton 3.2 and 3.3."""
    known = Utilities.maps.get(value.tma_desc_cpu_ptr())
    if known is None:
        raise TypeError(f"argument {name}: this tensor map was not made through Triton's driver")
    _, shape, box, size, swizzle, promotion = known
    element = {1: "uint8", 2: "uint16", 4: "uint32"}[size]
    base = {"name": name, "type": element, "vector": True, "count": math.prod(shape), "offset": 0}
    return tensor_map(name, base, shape, [n * size for n in shape[:-1]], box, swizzle, promotion, "zeros")


PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)[^,\[\]]*(?:\[(\d+)\])?")
SIZES = {"i1": 1, "u1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
         "fp16": 2, "bf16": 2, "fp32": 4, "f32": 4, "fp64": 8}


def parameter_sizes(ptx, entry):
    """The sizes in bytes of an entry's parameters."""
    head = re.search(r"\.entry\s+" + re.escape(entry) + r"\s*\(([^)]*)\)", ptx)
    if not head:
        raise ValueError(f"the PTX has no entry {entry}")
    bits = lambda kind: 8 if kind == "pred" else int(kind[1:])
    return [bits(kind) // 8 * int(count or 1) for kind, count in PARAMETER.findall(head[1])]


def trailing(args, sizes):
    """How many parameters of the PTX follow args; an error unless args fit the others."""
    want = [8 if a["vector"] else 128 if a.get("tensormap") else SIZES[a["type"]] for a in args]
    if sizes[:len(want)] != want or any(n != 8 for n in sizes[len(want):]) or len(sizes) - len(want) > 2:
        raise ValueError(f"the PTX's parameters of {sizes} bytes are not the arguments of {want} bytes")
    return len(sizes) - len(want)


def assembler():
    """The name of the ptxas that assembles for Triton."""
    path = os.environ.get("TRITON_PTXAS_PATH")
    return f"ptxas at {path}"[:100] if path else f"ptxas of Triton {triton.__version__}"


def target_of(ptx):
    """What PTX says that it is for, such as sm_90a."""
    return re.search(r"^\s*\.target\s+(sm_\w+)", ptx, re.MULTILINE)[1]


def record(launch, files):
    """The launch record of a launch, without what says which group it is of; files receives the PTX by its stem."""
    meta, kernel = launch.metadata, launch.kernel
    ptx = kernel.asm.get("ptx")
    if ptx is None:
        raise ValueError("Triton's cache holds no PTX of this kernel: clear it, and leave TRITON_STORE_BINARY_ONLY alone")
    args = arguments(launch)
    scratch = [getattr(meta, "global_scratch_size", 0) or 0, getattr(meta, "profile_scratch_size", 0) or 0]
    n = trailing(args, parameter_sizes(ptx, meta.name))
    cluster = list(getattr(meta, "cluster_dims", None) or (getattr(meta, "num_ctas", 1), 1, 1))
    grid = [int(g) * c for g, c in zip(launch.grid, cluster)]
    if min(grid) < 1:
        raise ValueError(f"the grid {grid} is empty")
    stem = f"{launch.src.fn.__name__}-{hashlib.sha256(ptx.encode()).hexdigest()[:12]}"
    files[stem] = ptx
    out = {"ptx": stem, "entry": meta.name}
    if kernel.n_regs:
        out.update(registers=kernel.n_regs, spills=kernel.n_spills, local_bytes=4 * kernel.n_spills)
        out["assembled"] = {"by": assembler(), "target": target_of(ptx), "registers": kernel.n_regs,
                            "spill_bytes": 4 * kernel.n_spills}
    out.update(static_smem=0, dynamic_smem=meta.shared, num_warps=meta.num_warps, block=[32 * meta.num_warps, 1, 1],
               grid=grid, cluster=cluster, args=args, scratch=scratch[:n],
               trailing_params=["global_scratch", "profile_scratch"][:n])
    if getattr(meta, "launch_cooperative_grid", False):
        out["cooperative"] = True
    out.update(target=str(meta.target), triton=triton.__version__)
    return out


def plain(value):
    """A parameter's value as JSON has it: numbers, booleans, text and None as they are, anything else as its text."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def names_of(function, values, dtypes):
    """What a launch key is called: the kernel's name, its problem size and its group. The size is the positive whole
    numbers of the key, eight at most; the name is the function's with what else is in the key and the element types,
    equal ones counted, such as attention:CAUSAL=true,fp16x4. `warptune export --format triton` writes the same."""
    sizes, parts = [], []
    for name, value in values:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0 and len(sizes) < 8:
            sizes.append(value)
        else:
            parts.append(f"{name}={json.dumps(plain(value))}")
    short = [SHORT.get(str(t).split(".")[-1], str(t)) for t in dtypes]
    while short:
        n = next((i for i, t in enumerate(short) if t != short[0]), len(short))
        parts.append(short[0] + (f"x{n}" if n > 1 else ""))
        short = short[n:]
    kernel = function + ("" if not parts else ":" + ",".join(parts))
    return kernel, sizes, kernel + (" " + "x".join(map(str, sizes)) if sizes else "")


# ---------------------------------------------------------------------------
# Compiling in processes of their own
# ---------------------------------------------------------------------------

in_child = False


class Child:
    """A forked process that makes a call; what it compiles is in Triton's cache afterwards."""

    def __init__(self, call, deadline):
        self.deadline = deadline
        self.log = tempfile.TemporaryFile()
        self.pipe, write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            run_child(call, write, self.log.fileno())
        os.close(write)

    def result(self):
        """Waits for the end: None, or why the call failed."""
        with open(self.pipe, "rb") as pipe:
            text = pipe.read().decode(errors="replace")
        _, status = os.waitpid(self.pid, 0)
        self.log.seek(0)
        log = self.log.read().decode(errors="replace").splitlines()
        self.log.close()
        if os.WIFSIGNALED(status):
            return ": ".join([f"the compiler died of signal {os.WTERMSIG(status)}"] + log[-1:])
        if text.endswith("PassManager::run failed"):  # why is what MLIR printed
            text += "".join(": " + line for line in log if "error:" in line)[:500]
        return text or (None if status == 0 else f"the compiler's process ended with status {status}")

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.result()


def run_child(call, write, log):
    """The whole life of a child."""
    global in_child
    in_child = True
    status = 1
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)  # OpenMP's threads do not survive a fork
        call()
        status = 0
    except BaseException as e:
        os.write(write, failure(e).encode()[:4000])
    finally:
        os._exit(status)


def failure(e):
    """An exception as a configuration's error: its class and message, of chained ones the first."""
    while e.__cause__ is not None:
        e = e.__cause__
    return f"{type(e).__name__}: {e}".strip()


def each(calls, jobs, limit):
    """Makes the calls in processes, jobs at a time, each for limit seconds at most; gives their errors in order."""
    errors, running, waiting = [None] * len(calls), {}, list(enumerate(calls))
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                i, call = waiting.pop(0)
                child = Child(call, time.monotonic() + limit)
                running[child.pipe] = (i, child)
            first = min(child.deadline for _, child in running.values())
            ready, _, _ = select.select(list(running), [], [], max(0, first - time.monotonic()))
            for pipe in ready:
                i, child = running.pop(pipe)
                errors[i] = child.result()
            for pipe, (i, child) in list(running.items()):
                if time.monotonic() > child.deadline:
                    child.kill()
                    del running[pipe]
                    errors[i] = f"compiling took longer than {limit} s"
    finally:
        for _, child in running.values():
            child.kill()
    return errors


# ---------------------------------------------------------------------------
# Capture
# ---------------------------------------------------------------------------

class Capture:
    """The launches of a script for one architecture."""

    def __init__(self, arch, jobs=None, limit=600):
        self.driver = Driver(Architecture(arch))
        self.driver.after = self.rest
        self.jobs, self.limit = jobs or os.cpu_count() or 1, limit
        self.records, self.files = [], {}
        self.groups = {}  # configurations and failures by group
        self.done = {}    # per autotuner and key: it, the configuration to go on with, and its kernel
        self.plain = set()
        self.grouping = False

    @contextlib.contextmanager
    def active(self):
        """Triton with the stand-in driver."""
        config, known = triton.runtime.driver, dict(compiled)
        before = config.__dict__.get("_active", config.__dict__.get("active"))
        init, compile_ = CompiledKernel.__init__, triton.compiler.compile

        def remembering(kernel, src, group, hash, *rest):
            init(kernel, src, group, hash, *rest)
            compiled[hash] = kernel

        def apart(*args, **kwargs):
            # What failed or crashed in a child is not tried here; what did not is in the cache. Triton's
            # functions hold on to this one, also when another driver is active again.
            if config.active is self.driver and not in_child and not self.grouping:
                error, = each([lambda: compile_(*args, **kwargs)], 1, self.limit)
                if error:
                    raise RuntimeError(error)
            return compile_(*args, **kwargs)

        config.set_active(self.driver)
        CompiledKernel.__init__, triton.compiler.compile = remembering, apart
        try:
            yield self
        finally:
            CompiledKernel.__init__, triton.compiler.compile = init, compile_
            config.set_active(before)
            compiled.clear()
            compiled.update(known)

    def group(self, tuner, args, kwargs, configs=None):
        """Captures all configurations of an autotuned launch. Gives the records, one a configuration, and the first
        configuration that compiled with its kernel."""
        nargs = dict(zip(tuner.arg_names, args))
        tuner.nargs = nargs
        if configs is None:
            configs = tuner.configs
            if tuner.early_config_prune:
                configs = tuner.early_config_prune(configs, nargs, **kwargs)
        names, values, dtypes = launch_key(tuner, nargs, kwargs)
        function = jit_function(tuner)
        head = self.head(*names_of(function.__name__, zip(names, values), dtypes))
        calls = [lambda c=c: launch_config(tuner, nargs, args, kwargs, c) for c in configs]
        self.grouping = True
        try:
            errors = each(calls, self.jobs, self.limit)
            records, first = [], (None, None)
            for config, params, call, error in zip(configs, parameters(configs, function), calls, errors):
                body, kernel = {"error": error}, None
                if error is None:
                    body, kernel = self.one(call)
                records.append({**head, "params": params, **body})
                if kernel is not None and first[0] is None:
                    first = (config, kernel)
        finally:
            self.grouping = False
        self.add(records)
        return records, first

    def one(self, call):
        """Makes a call that launches one kernel: the body of its record, and the kernel."""
        launched.clear()
        try:
            call()
            if len(launched) != 1:
                raise ValueError(f"the configuration launched {len(launched)} kernels")
            return record(launched[0], self.files), launched[0].kernel
        except Exception as e:
            return {"error": failure(e)}, None
        finally:
            launched.clear()

    def rest(self):
        """Captures the launches that no autotuner made, each a group of one configuration, once."""
        if self.grouping or in_child:
            return
        for launch in launched:
            identity = (launch.metadata.hash, launch.grid, str([identify(v) for v in launch.args]))
            if identity not in self.plain:
                self.plain.add(identity)
                self.single(launch)
        launched.clear()

    def single(self, launch):
        function = launch.src.fn
        try:
            body = record(launch, self.files)
        except Exception as e:
            body = {"error": failure(e)}
        values = [(a["name"], a["value"]) for a in body.get("args", [])
                  if a["type"] in ("i32", "i64") and a["value"] > 0 and "." not in a["name"]]
        dtypes = [v.dtype for _, _, _, v in bound(launch) if hasattr(v, "dtype")]
        head = self.head(*names_of(function.__name__, values[:8], dtypes))
        self.add([{**head, "params": constants(launch), **body}])

    def head(self, kernel, sizes, group):
        """How a group's records begin. Another group of the same name is told apart by a number."""
        if group in self.groups:
            n = 2
            while f"{group} #{n}" in self.groups:
                n += 1
            kernel, group = f"{kernel}#{n}", f"{group} #{n}"
        return {"kernel": kernel, "group": group, "problem_size": sizes}

    def add(self, records):
        self.records += records
        self.groups[records[0]["group"]] = (len(records), sum("error" in r for r in records))

    def write(self, folder):
        """Writes the folder of launch records, in the place of an earlier one."""
        lines, ptx = os.path.join(folder, "launches.jsonl"), os.path.join(folder, "ptx")
        if os.path.isdir(folder) and os.listdir(folder) and not os.path.exists(lines):
            raise ValueError(f"{folder} is not empty and holds no launches.jsonl: name another folder")
        shutil.rmtree(ptx, ignore_errors=True)
        os.makedirs(ptx)
        for stem, text in self.files.items():
            with open(os.path.join(ptx, stem + ".ptx"), "w") as f:
                f.write(text)
        with open(lines, "w") as f:
            for r in self.records:
                f.write(json.dumps(r) + "\n")


def identify(value):
    """What tells an argument from others without looking at its elements."""
    if hasattr(value, "data_ptr"):
        return str(value.dtype), tuple(value.shape), tuple(value.stride())
    return [identify(v) for v in value] if isinstance(value, tuple) else str(value)


def jit_function(tuner):
    """The JITFunction under an autotuner and its heuristics."""
    fn = tuner.fn
    while not hasattr(fn, "params"):
        fn = fn.fn
    return fn


def launch_key(tuner, nargs, kwargs):
    """What Triton's autotuner tells launches apart by: the key's names, their values, and the element types."""
    given = {k: v for k, v in {**nargs, **kwargs}.items() if k in tuner.arg_names}
    names = [k for k in tuner.keys if k in given]
    return names, [given[k] for k in names], [v.dtype for v in given.values() if hasattr(v, "dtype")]


def launch_config(tuner, nargs, args, kwargs, config):
    """Launches a configuration as Triton's autotuner does."""
    conflicts = kwargs.keys() & config.kwargs.keys()
    if conflicts:
        raise ValueError(f"the launch gives {', '.join(sorted(conflicts))}, which the configuration gives too")
    current = {**kwargs, **config.all_kwargs()}
    hooks = [config.pre_hook] + ([tuner.pre_hook] if getattr(tuner, "user_defined_pre_hook", False) else [])
    for hook in hooks:
        if hook is None:
            continue
        try:
            hook({**nargs, **current})
        except Exception:
            if not in_child:  # where a hook may need a GPU that a forked process cannot use
                raise
    return tuner.fn.run(*args, **current)


def parameters(configs, function):
    """The parameters of configurations, with the same names in all: options other than num_warps and num_stages
    only where a configuration sets them. A number that is not set, such as maxnreg, is 0."""
    usual = Config({}).all_kwargs()
    defaults = {p.name: p.default for p in function.params if p.has_default}
    options = [{k: v for k, v in c.all_kwargs().items() if k not in c.kwargs} for c in configs]
    names = list(dict.fromkeys(k for c in configs for k in c.kwargs))
    kept = list(dict.fromkeys(k for o in options for k, v in o.items()
                              if k in ("num_warps", "num_stages") or usual.get(k) != v))
    out = []
    for c, o in zip(configs, options):
        params = {k: plain(c.kwargs.get(k, defaults.get(k))) for k in names if k in c.kwargs or k in defaults}
        for k in kept:
            unset = None if any(isinstance(other.get(k), str) for other in options) else 0
            params[k] = plain(o.get(k, usual.get(k, unset)))
        out.append(params)
    return out


def constants(launch):
    """The parameters of a launch that no autotuner made: its constexprs and options."""
    function, out = launch.src.fn, {}
    for key, value in launch.src.constants.items():
        i = function.arg_names.index(key) if isinstance(key, str) else key[0] if isinstance(key, tuple) else key
        if function.params[i].is_constexpr:
            out[function.arg_names[i]] = plain(getattr(value, "value", value))
    out.update(num_warps=launch.metadata.num_warps, num_stages=launch.metadata.num_stages)
    return out


def triton_key(tuner, args, kwargs):
    """The key under which Triton's autotuner keeps the configuration of a launch."""
    _, values, dtypes = launch_key(tuner, dict(zip(tuner.arg_names, args)), kwargs)
    return tuple(values) + tuple(str(t) for t in dtypes)


@contextlib.contextmanager
def replaced(*changes):
    """Attributes of objects replaced for a time: (object, name, value)."""
    before = [(thing, name, getattr(thing, name)) for thing, name, _ in changes]
    try:
        for thing, name, value in changes:
            setattr(thing, name, value)
        yield
    finally:
        for thing, name, value in before:
            setattr(thing, name, value)


def capturing(capture):
    """Autotuners that capture in the place of timing."""
    run = Autotuner.run

    def instead(self, *args, **kwargs):
        if in_child:
            return run(self, *args, **kwargs)
        key = triton_key(self, args, kwargs)
        where = (id(self), str(key))
        if where not in capture.done:
            print(f"warptune_triton: {jit_function(self).__name__}: compiling {len(self.configs)} configurations",
                  file=sys.stderr)
            capture.done[where] = (self, *capture.group(self, args, kwargs)[1])
        _, config, kernel = capture.done[where]
        self.best_config = self.cache[key] = config or self.configs[0]
        return kernel

    return replaced((Autotuner, "run", instead), (triton.testing, "do_bench", once))


# ---------------------------------------------------------------------------
# The autotuner's cache on disk
# ---------------------------------------------------------------------------

def caching(find, arch, done):
    """Autotuners that write what a table says of their launches into Triton's cache, and launch nothing; done receives
    (function, key, configuration or why there is none)."""
    launch = JITFunction.run

    def instead(self, *args, **kwargs):
        key = triton_key(self, args, kwargs)
        name, seen = jit_function(self).__name__, {(f, k) for f, k, _ in done}
        if (name, key) in seen or len(self.configs) < 2:
            return
        self.nargs = dict(zip(self.arg_names, args))
        best = find(self, arch, key)
        if best is None:
            done.append((name, key, "not in the table"))
        elif any(c.pre_hook for c in self.configs):
            done.append((name, key, "Triton caches no configurations with a pre_hook"))
        else:
            self.configs_timings = {}

            def timings():
                self.configs_timings = {best: [1.0, 1.0, 1.0]}

            kept = self.check_disk_cache(key, self.prune_configs(kwargs), timings)
            done.append((name, key, "a configuration is cached already" if kept else best))

    def warmup(self, *args, warmup, **kwargs):
        return launch(self, *args, warmup=True, **kwargs) if warmup else None

    return replaced((Autotuner, "run", instead), (JITFunction, "run", warmup), (triton.testing, "do_bench", once))


# ---------------------------------------------------------------------------
# Scripts that use PyTorch
# ---------------------------------------------------------------------------

@contextlib.contextmanager
def torch_on_cpu(arch):
    """PyTorch that puts on the CPU what a script wants on the GPU, if there is a PyTorch."""
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError:
        yield
        return
    cpu = torch.device("cpu")
    gpu = lambda v: isinstance(v, torch.device) and v.type == "cuda" or isinstance(v, str) and v.split(":")[0] == "cuda"
    unset = (torch.empty, torch.empty_like, torch.empty_strided, torch.Tensor.new_empty)

    class OnCPU(TorchFunctionMode):

        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func == torch.Tensor.is_cuda.__get__:
                return True
            if func == torch.Tensor.device.__get__:
                return torch.device("cuda", 0)
            if func is torch.Tensor.cuda:
                return args[0]
            if func is torch.device:
                return func(*args, **(kwargs or {}))
            args = tuple(cpu if gpu(a) else a for a in args)
            kwargs = {k: cpu if gpu(v) else v for k, v in (kwargs or {}).items() if k != "pin_memory"}
            out = func(*args, **kwargs)
            if func in unset and not out.dtype.is_floating_point and not out.dtype.is_complex:
                out.zero_()  # so that no kernel is given indices that nobody wrote
            return out

    def backward(self, *args):
        with OnCPU():  # no mode is in force while PyTorch runs Tensor.backward
            return apply(self, *args)

    apply, nothing = torch.autograd.function.BackwardCFunction.apply, lambda *args, **kwargs: None
    properties = types.SimpleNamespace(
        name="warptune " + arch.name, major=arch.capability // 10, minor=arch.capability % 10,
        multi_processor_count=arch.sms, total_memory=80 << 30, warp_size=32, L2_cache_size=50 << 20,
        shared_memory_per_block_optin=arch.shared, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048)
    event = lambda *args, **kwargs: types.SimpleNamespace(record=nothing, synchronize=nothing, wait=nothing,
                                                          query=lambda: True, elapsed_time=lambda end: 1.0)
    stream = types.SimpleNamespace(cuda_stream=0, synchronize=nothing, wait_stream=nothing, device=torch.device("cuda", 0))
    fakes = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0, "set_device": nothing,
        "synchronize": nothing, "empty_cache": nothing, "reset_peak_memory_stats": nothing, "_lazy_init": nothing,
        "get_device_name": lambda *a: properties.name, "get_device_properties": lambda *a: properties,
        "get_device_capability": lambda *a: (properties.major, properties.minor), "current_stream": lambda *a: stream,
        "default_stream": lambda *a: stream, "memory_allocated": lambda *a: 0, "max_memory_allocated": lambda *a: 0,
        "Event": event, "_exchange_device": lambda device: 0, "_maybe_exchange_device": lambda device: 0,
        "is_bf16_supported": lambda *a, **k: True, "mem_get_info": lambda *a: (80 << 30, 80 << 30),
    }
    # A function each: TorchDynamo refuses one that has two names.
    apart = lambda fake: lambda *args, **kwargs: fake(*args, **kwargs)
    with replaced(*((torch.cuda, name, apart(fake)) for name, fake in fakes.items() if hasattr(torch.cuda, name)),
                  (torch.autograd.function.BackwardCFunction, "apply", backward)), OnCPU():
        yield


# ---------------------------------------------------------------------------
# The performance model
# ---------------------------------------------------------------------------

class PerfModel:
    """Predicted microseconds of configurations, for prune_configs_by."""

    def __init__(self, arch, level, jobs, limit):
        Architecture(arch)  # an unknown one is said at once
        self.arch, self.level, self.jobs, self.limit = arch, level, jobs, limit
        self.known = {}  # per autotuner and key: it, its configurations, their predicted times
        self.warned = False

    def __call__(self, **kwargs):
        try:
            tuner, launch, configs = pruning()
            names, values, dtypes = launch_key(tuner, tuner.nargs, launch)
            where = (id(tuner), str(values), str(dtypes), len(configs))
            if where not in self.known:
                self.known[where] = (tuner, configs, [math.inf] * len(configs))
                self.known[where] = (tuner, configs, self.predict(tuner, launch, configs))
            for config, time_us in zip(*self.known[where][1:]):
                if all(k in kwargs and kwargs[k] == v for k, v in config.all_kwargs().items()):
                    return time_us
            raise LookupError("the configuration is none of the autotuner's")
        except Exception as e:
            self.warn(failure(e))
            return math.inf

    def warn(self, why):
        if not self.warned:
            self.warned = True
            warnings.warn(f"warptune predicts nothing, so that configurations keep their order: {why}", stacklevel=3)

    def predict(self, tuner, launch, configs):
        """Predicts all configurations of a launch in one run of warptune."""
        capture = Capture(self.arch, self.jobs, self.limit)
        nargs = tuner.nargs
        with capture.active():
            records, _ = capture.group(tuner, tuple(nargs.values()), launch, configs)
        tuner.nargs = nargs
        for cache in ("device_caches", "cache"):  # Triton's kernels in memory, the latter in 3.2
            getattr(jit_function(tuner), cache, {}).pop(capture.driver.device, None)
        good = [i for i, r in enumerate(records) if "error" not in r]
        if not good:
            raise RuntimeError(f"no configuration compiles: {records[0]['error']}")
        capture.records = [records[i] for i in good]
        with tempfile.TemporaryDirectory(prefix="warptune-triton-") as folder:
            capture.write(folder)
            rows = self.simulate(folder)
        times = [math.inf] * len(records)
        for i, row in zip(good, rows):
            times[i] = row.get("predicted_us") or math.inf
        if min(times) == math.inf:
            raise RuntimeError(f"no configuration is predicted: {next(iter(rows), {}).get('error', 'no reason given')}")
        return times

    def simulate(self, folder):
        out = os.path.join(folder, "predicted.jsonl")
        command = [binary(), "simulate", "--launches", os.path.join(folder, "launches.jsonl"), "--ptx-dir",
                   os.path.join(folder, "ptx"), "--arch", self.arch, "-o", out]
        if self.level:
            command += ["--level", self.level]
        done = subprocess.run(command, capture_output=True, text=True)
        if not os.path.exists(out):
            raise RuntimeError(f"warptune simulate: {(done.stderr or done.stdout).strip()[-500:]}")
        with open(out) as f:
            return [json.loads(line) for line in f]


def perf_model(arch, level=None, jobs=None, limit=600):
    """A perf_model for triton.autotune's prune_configs_by: microseconds predicted for arch, infinity for what cannot
    be predicted. All configurations of a launch key are compiled (jobs at a time, limit seconds each at most) and
    predicted at the first call. level is warptune's, "cycle" or "model"."""
    return PerfModel(arch, level, jobs, limit)


def pruning():
    """The autotuner that asks, the keyword arguments of its launch, and the configurations it asks about."""
    frame = sys._getframe(1)
    while frame is not None:
        tuner = frame.f_locals.get("self")
        if frame.f_code.co_name == "prune_configs" and isinstance(tuner, Autotuner):
            return tuner, frame.f_locals["kwargs"], list(frame.f_locals["pruned_configs"])
        frame = frame.f_back
    raise LookupError("a perf_model is called by Triton's autotuner only")


def binary():
    """The warptune command: $WARPTUNE, else the one in PATH."""
    found = os.environ.get("WARPTUNE") or shutil.which("warptune")
    if not found:
        raise FileNotFoundError("there is no warptune: set WARPTUNE to its path, or put it into PATH")
    return found


# ---------------------------------------------------------------------------
# The command line
# ---------------------------------------------------------------------------

def main(argv):
    argv, script_args = (argv[:argv.index("--")], argv[argv.index("--") + 1:]) if "--" in argv else (argv, [])
    parser = argparse.ArgumentParser(prog="python -m warptune_triton", description="Triton kernels for warptune.",
                                     epilog="What follows -- is given to the script.")
    commands = parser.add_subparsers(dest="command", required=True)
    capture = commands.add_parser("capture", help="run a script without a GPU and write its launches for warptune tune")
    cache = commands.add_parser("cache", help="write an exported table into the cache of Triton's autotuner")
    cache.add_argument("table", help="what warptune export --format triton wrote")
    for c in (capture, cache):
        c.add_argument("script", help="the Python script that launches the kernels")
        c.add_argument("--arch", required=True, help=f"GPU: {', '.join(sorted(ARCHITECTURES))}, or sm_90")
    capture.add_argument("-o", "--output", required=True, metavar="DIR", help="folder to write")
    capture.add_argument("--jobs", type=int, default=0, metavar="N", help="compile N at a time; default: one a core")
    capture.add_argument("--limit", type=float, default=600, metavar="S", help="seconds to compile one at most (600)")
    options = parser.parse_args(argv)
    if os.environ.get("TRITON_INTERPRET") == "1":
        parser.error("TRITON_INTERPRET is set, and interpreted kernels are not compiled: unset it")
    try:
        session = Capture(options.arch, getattr(options, "jobs", 0), getattr(options, "limit", 600))
    except ValueError as e:
        parser.error(str(e))
    try:
        return {"capture": capture_command, "cache": cache_command}[options.command](session, options, script_args)
    except (OSError, ValueError) as e:
        print(f"warptune_triton: {e}", file=sys.stderr)
        return 1


def capture_command(capture, options, script_args):
    """Runs the script, writes what was captured, and says so. Gives the exit status."""
    error = run_script(options.script, script_args, capture, capturing(capture))
    if not capture.records:
        print(f"warptune_triton: {options.script} launched no Triton kernel", file=sys.stderr)
        return 1
    capture.write(options.output)
    for group, (total, failed) in capture.groups.items():
        failures = f", {failed} failed to compile" if failed else ""
        print(f"{group}: {total} configuration{'s' * (total != 1)}{failures}")
    print(f"wrote {options.output}; next: warptune tune {options.output} --arch {options.arch}")
    return 1 if error else 0


def cache_command(session, options, script_args):
    """Runs the script and says what was put into Triton's cache. Gives the exit status."""
    if not hasattr(Autotuner, "check_disk_cache"):
        raise ValueError(f"Triton {triton.__version__} keeps no configurations on disk: use the table's install instead")
    find = runpy.run_path(options.table).get("find")
    if find is None:
        raise ValueError(f"{options.table} is not what warptune export --format triton writes")
    done = []
    error = run_script(options.script, script_args, session, caching(find, options.arch, done))
    for name, key, what in done:
        print(f"{name}{key}: {what}")
    if any(isinstance(what, Config) for _, _, what in done):
        print("a program with TRITON_CACHE_AUTOTUNING=1 and this cache starts with these")
        return 1 if error else 0
    print("warptune_triton: nothing was written", file=sys.stderr)
    return 1


def run_script(script, args, capture, autotuners):
    """Runs a script as the main program, with other autotuners; gives the exception that ended it."""
    argv, path, error = sys.argv, list(sys.path), None
    sys.argv = [script, *args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        with capture.active(), autotuners, torch_on_cpu(capture.driver.arch):
            runpy.run_path(script, run_name="__main__")
    except SystemExit as e:
        error = None if e.code in (None, 0) else e
    except Exception as e:
        traceback.print_exc()
        error = e
    finally:
        sys.argv, sys.path[:] = argv, path
    if error:
        print(f"warptune_triton: {script} ended with {failure(error)}; what it launched before counts", file=sys.stderr)
    return error


if __name__ == "__main__":
    # A script that imports this module gets this one.
    sys.modules["warptune_triton"] = sys.modules["__main__"]
    for variable in ("TRITON_ALWAYS_COMPILE", "TRITON_STORE_BINARY_ONLY", "TRITON_KERNEL_OVERRIDE"):
        os.environ.pop(variable, None)
    sys.exit(main(sys.argv[1:]))
