"""Configurations of Triton kernels that warptune predicts, or where a row says so measured, to be the fastest.
Do not edit: export them again.

    import tuned                            # this file
    tuned.install(matmul, "h100")           # matmul: what @triton.autotune made. Its launches that stand
                                            # here are not timed any more, all others as before.
    @triton.autotune(configs=tuned.configs("matmul", "h100"), key=["M", "N", "K"])   # or: time only these
"""
import json

import triton

# The best configuration of each kernel, architecture and problem size.
# A kernel is called as its function, with what else is in its launch key behind a colon.
TABLE = {
#ROWS
}


def configs(function, arch):
    """The configurations that are best for some launch of a function on an architecture, each once."""
    found = [c for (kernel, a, _), c in TABLE.items() if a == arch and kernel.split(":")[0] == function]
    return [c for i, c in enumerate(found) if c not in found[:i]]


def find(autotuner, arch, key):
    """The autotuner's configuration that is best for a launch key; None: the table says nothing of it."""
    names = [name for name in autotuner.keys if name in autotuner.arg_names]
    function = autotuner.fn
    while not hasattr(function, "params"):
        function = function.fn
    kernel, sizes = _names(function.__name__, list(zip(names, key)), key[len(names):])
    best = TABLE.get((kernel, arch, sizes))
    if best is None:
        return None
    want = _settings(best)
    usual = {p.name: _plain(p.default) for p in function.params if p.name in best.kwargs and p.has_default}
    return next((c for c in autotuner.configs if {**usual, **_settings(c)} == want), None)


def install(autotuner, arch):
    """Has an autotuner take its configurations from the table where that has them."""
    autotuner.cache = _Cache(autotuner, arch)


class _Cache(dict):
    """An autotuner's configurations by launch key, those of the table among them."""

    def __init__(self, autotuner, arch):
        super().__init__(autotuner.cache)
        self.autotuner, self.arch = autotuner, arch

    def __contains__(self, key):
        if not super().__contains__(key):
            best = find(self.autotuner, self.arch, key)
            if best is None:
                return False
            self[key] = best
        return True


def _names(function, values, types):
    """A kernel's name and problem size, as warptune_triton.py names them."""
    sizes, parts = [], []
    for name, value in values:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0 and len(sizes) < 8:
            sizes.append(value)
        else:
            parts.append(f"{name}={json.dumps(_plain(value))}")
    short = [_SHORT.get(str(t).split(".")[-1], str(t)) for t in types]
    while short:
        n = next((i for i, t in enumerate(short) if t != short[0]), len(short))
        parts.append(short[0] + (f"x{n}" if n > 1 else ""))
        short = short[n:]
    return function + (":" + ",".join(parts) if parts else ""), tuple(sizes)


_SHORT = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}


def _plain(value):
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _settings(config):
    """What a configuration sets, without what it leaves to the default."""
    return {k: _plain(v) for k, v in config.all_kwargs().items()}
