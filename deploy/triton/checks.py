"""Checks of warptune_triton.py that need Triton and no GPU: python checks.py. Go's tests run them."""
import json
import math
import os
import signal
import sys
import time

import triton
import triton.language as tl

import warptune_triton as wt

VERSION = tuple(int(n) for n in triton.__version__.split(".")[:2])


def empty(shape, dtype, **limits):
    return wt.tensor(shape, dtype, **limits)


@triton.jit
def kinds(x, index, nothing, one, n, wide, scale, flag, other, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + tl.load(index + at)).to(tl.float32) * scale * one
    if nothing is not None:
        v += tl.load(nothing + at)
    if flag:
        v += 1
    tl.store(other + at + wide, v, mask=at < n)


def check_arguments(capture):
    """Arguments stand in the order of the PTX's parameters; None and 1 are none of them."""
    x, other = empty((64, 32), "bfloat16"), empty((4096,), "fp32")
    index = empty((4096,), "int32", min=0, max=2047)
    kinds[(4,)](x, index, None, 1, 4096, 1 << 40, 0.5, True, other, BLOCK=512)
    r, = capture.records
    assert "error" not in r, r
    got = [(a["name"], a["type"], a.get("count", a.get("value"))) for a in r["args"]]
    assert got == [("x", "bfloat16", 2048), ("index", "int32", 4096), ("n", "i32", 4096), ("wide", "i64", 1 << 40),
                   ("scale", "fp32", 0.5), ("flag", got[5][1], 1), ("other", "float", 4096)], got
    assert (r["args"][1]["min"], r["args"][1]["max"]) == (0, 2047)
    assert r["params"] == {"BLOCK": 512, "num_warps": 4, "num_stages": 3}, r["params"]
    assert r["kernel"] == "kinds:bf16,i32,fp32" and r["problem_size"] == [4096, 1 << 40], r["kernel"]
    assert r["grid"] == [4, 1, 1] and r["block"] == [128, 1, 1] and r["registers"] > 0
    assert r["assembled"] == {"by": wt.assembler(), "target": "sm_90a", "registers": r["registers"],
                              "spill_bytes": r["local_bytes"]}, r["assembled"]
    kinds[(4,)](x, index, None, 1, 4096, 1 << 40, 0.5, True, other, BLOCK=512)
    assert len(capture.records) == 1, "the same launch again is no new one"
    kinds[(5,)](x, index, None, 1, 4096, 1 << 40, 0.5, True, other, BLOCK=512)
    assert capture.records[1]["group"] == r["group"] + " #2"
    for value in (math.inf, -math.inf, math.nan):
        kinds[(4,)](x, index, None, 1, 4096, 1 << 40, value, True, other, BLOCK=512)
    assert [r["args"][4]["value"] for r in capture.records[2:]] == ["inf", "-inf", "nan"], capture.records[2:]


@triton.jit
def pair(xs, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(xs[1] + at, tl.load(xs[0] + at, mask=at < n), mask=at < n)


def check_tuples(capture):
    """A tuple's elements are parameters of their own (Triton 3.3 and newer)."""
    if VERSION < (3, 3):
        return
    pair[(1,)]((empty((64,), "fp32"), empty((64,), "fp32")), 64, BLOCK=64)
    assert [a["name"] for a in capture.records[0]["args"]] == ["xs.0", "xs.1", "n"], capture.records[0]


def tuned(configs, key=("n",), **options):
    """A kernel under an autotuner that no other check uses."""

    @triton.autotune(configs=configs, key=list(key), **options)
    @triton.jit
    def copy(x, y, n, BLOCK: tl.constexpr, FAIL: tl.constexpr = False):
        tl.static_assert(FAIL == False, "asked to fail")  # noqa: E712
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)

    return copy


def launch(copy, n=4096):
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    return copy[grid](empty((n,), "fp32"), empty((n,), "fp32"), n)


def check_autotuned(capture):
    """Every configuration is a record of its launch key's group, whatever a perf_model says; options stand in params
    where one configuration sets them."""
    configs = [triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 512, "FAIL": False}, num_warps=8, maxnreg=32)]
    copy = tuned(configs, prune_configs_by={"perf_model": lambda **_: 1 / 0, "top_k": 1})
    for n in (4096, 4096, 8192):
        launch(copy, n)
    assert [r["group"] for r in capture.records] == ["copy:fp32x2 4096"] * 2 + ["copy:fp32x2 8192"] * 2
    stages = configs[0].num_stages
    assert [r["params"] for r in capture.records[:2]] == [
        {"BLOCK": 256, "FAIL": False, "num_warps": 4, "num_stages": stages, "maxnreg": 0},
        {"BLOCK": 512, "FAIL": False, "num_warps": 8, "num_stages": stages, "maxnreg": 32}], capture.records[:2]
    assert [r["grid"][0] for r in capture.records] == [16, 8, 32, 16]
    assert copy.best_config is configs[0]


def check_failures(capture):
    """What does not compile, crashes or takes too long is a record with the reason, and the others are compiled."""
    capture.limit = 20

    def crash(args):
        if wt.in_child:
            os.kill(os.getpid(), signal.SIGSEGV)

    def hang(args):
        if wt.in_child:
            time.sleep(600)

    launch(tuned([triton.Config({"BLOCK": 256, "FAIL": True}), triton.Config({"BLOCK": 512}),
                  triton.Config({"BLOCK": 1024}, pre_hook=crash), triton.Config({"BLOCK": 2048}, pre_hook=hang),
                  triton.Config({"BLOCK": 100})]))
    errors = [r.get("error", "") for r in capture.records]
    assert "asked to fail" in errors[0] and errors[1] == "" and "signal 11" in errors[2], errors
    assert "longer than 20 s" in errors[3] and "power of 2" in errors[4], errors
    assert capture.groups["copy:fp32x2 4096"] == (5, 4)


@triton.jit
def product(a, b, c, K, BLOCK: tl.constexpr, STEP: tl.constexpr):
    m, k = tl.arange(0, BLOCK), tl.arange(0, STEP)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, STEP):
        acc = tl.dot(tl.load(a + m[:, None] * K + start + k[None, :]), tl.load(b + (start + k)[:, None] * BLOCK + m[None, :]), acc)
    tl.store(c + m[:, None] * BLOCK + m[None, :], acc.to(tl.float16))


def check_resources(capture):
    """A configuration that wants more shared memory than the GPU has fails as it does there."""
    tuner = triton.autotune(configs=[triton.Config({"BLOCK": 128, "STEP": 64}, num_stages=s, num_warps=8) for s in (2, 9)],
                            key=["K"])(product)
    tuner[(1,)](empty((128, 4096), "fp16"), empty((4096, 128), "fp16"), empty((128, 128), "fp16"), 4096)
    good, bad = capture.records
    assert good["dynamic_smem"] > 0 and "shared memory" in bad["error"], bad


def check_clusters(capture):
    """A program of several CTAs is a cluster, and the grid counts CTAs."""
    if VERSION < (3, 4):
        return
    launch(tuned([triton.Config({"BLOCK": 1024}), triton.Config({"BLOCK": 1024}, num_ctas=2)]))
    one, two = capture.records
    assert one["params"]["num_ctas"] == 1 and two["params"]["num_ctas"] == 2
    assert "error" not in two, two
    assert one["grid"] == [4, 1, 1] and two["grid"] == [8, 1, 1] and two["cluster"] == [2, 1, 1], two


def check_scratch(capture):
    """A descriptor that the kernel makes lies in global scratch memory, a tensor map a CTA."""
    if VERSION < (3, 4):
        return
    from descriptors import made_in_kernel
    made_in_kernel[(4,)](empty((256, 64), "fp16"), empty((256, 64), "fp16"), 256, 64, BLOCK=64)
    r, = capture.records
    assert r["scratch"][0] == 256 and r["trailing_params"][0] == "global_scratch", r


def check_perf_model(_):
    """Predictions come from one run of warptune for a launch key; without warptune there are none, said once."""
    copy = tuned([triton.Config({"BLOCK": b}, num_warps=4) for b in (32, 4096, 1024)])
    model = wt.perf_model("a100")
    copy.perf_model, copy.configs_top_k = model, 1
    n = 1 << 24
    copy.nargs = dict(zip(copy.arg_names, (empty((n,), "fp32"), empty((n,), "fp32"), n)))
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    if "WARPTUNE" in os.environ:
        runs, simulate = [], model.simulate
        model.simulate = lambda folder: runs.append(folder) or simulate(folder)
        for _ in range(2):
            best, = copy.prune_configs({"grid": grid, "warmup": False})
        (_, _, times), = model.known.values()
        assert len(runs) == 1 and all(0 < t < 1e6 for t in times), times
        assert best is copy.configs[times.index(min(times))] and best.kwargs["BLOCK"] != 32, times
    path, warptune = os.environ["PATH"], os.environ.pop("WARPTUNE", None)
    os.environ["PATH"] = "/nowhere"
    try:
        copy.perf_model = wt.perf_model("a100")
        with wt.warnings.catch_warnings(record=True) as said:
            wt.warnings.simplefilter("always")
            best, = copy.prune_configs({"grid": grid, "warmup": False})
        assert best is copy.configs[0] and ["there is no warptune" in str(w.message) for w in said] == [True], said
    finally:
        os.environ["PATH"] = path
        if warptune:
            os.environ["WARPTUNE"] = warptune


def check_names(_):
    """What a launch key is called, and what of it is the problem size."""
    half, long = wt.dtype("fp16"), wt.dtype("int64")
    name = wt.names_of("f", [("M", 4096), ("CAUSAL", True), ("act", "re lu"), ("off", 0), ("eps", None)], [half, half, long])
    assert name == ('f:CAUSAL=true,act="re lu",off=0,eps=null,fp16x2,i64', [4096],
                    'f:CAUSAL=true,act="re lu",off=0,eps=null,fp16x2,i64 4096'), name
    assert str(half) == "torch.float16" and half == wt.dtype("torch.float16") and half.itemsize == 2
    t = empty((4, 8), "fp16").t()
    assert t.shape == (8, 4) and t.stride() == (1, 8) and not t.is_contiguous() and t.count == 32


def check_backward(capture):
    """PyTorch's backward passes find the GPU where the forward passes found it."""
    try:
        import torch
    except ImportError:
        return "there is no PyTorch: its backward passes are not tried"
    seen = []

    class Twice(torch.autograd.Function):

        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            seen.append((g.device.type, g.is_cuda, torch.cuda.get_device_properties(g.device).multi_processor_count))
            return 2 * g

    with wt.torch_on_cpu(capture.driver.arch):
        x = torch.ones(4, device="cuda", requires_grad=True)
        Twice.apply(x).sum().backward()
        torch.autograd.grad(Twice.apply(x).sum(), x)
    assert seen == 2 * [("cuda", True, capture.driver.arch.sms)] and x.grad.tolist() == 4 * [2], seen


def main():
    arch = os.environ.get("ARCH", "h100")
    for name, check in list(globals().items()):
        if not name.startswith("check_") or sys.argv[1:] and name not in sys.argv[1:]:
            continue
        capture = wt.Capture(arch)
        with capture.active(), wt.capturing(capture):
            skipped = check(capture)
        json.dumps(capture.records, allow_nan=False)
        print(*(("skipped", name + ":", skipped) if skipped else ("ok", name)), flush=True)


if __name__ == "__main__":
    main()
