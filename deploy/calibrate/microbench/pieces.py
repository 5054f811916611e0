#!/usr/bin/env python3
"""A scan in Triton whose CTAs have BLOCK_D columns each of rows of 4 KB, whole and with parts left out: what loads, stores
and the scan take by themselves. Needs PyTorch and Triton. Times by CUDA graphs of ten launches; under

  ncu --csv --page raw --clock-control none --cache-control none --metrics dram__bytes_read.sum,dram__bytes_write.sum,\\
lts__t_requests.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__cycles_elapsed.sum python3 pieces.py ncu

each is launched twice, counters of the second count."""
import json, sys, torch, triton, triton.language as tl


@triton.jit
def chain(g0, h0, g1, h1):
    return g0 * g1, h0 * g1 + h1


@triton.jit
def scan(G, X, H, length, width, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr, STAGES: tl.constexpr, LOAD: tl.constexpr, STORE: tl.constexpr, SCAN: tl.constexpr):
    d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    base = tl.program_id(1) * length * width
    t = tl.arange(0, BLOCK_T)
    carry = tl.zeros((BLOCK_D,), dtype=tl.float32)
    if not STORE:
        acc = tl.zeros((BLOCK_T, BLOCK_D), dtype=tl.float32)
    for t0 in tl.range(0, length, BLOCK_T, num_stages=STAGES):
        at = base + (t0 + t)[:, None] * width + d[None, :]
        if LOAD:
            g = tl.load(G + at).to(tl.float32)
            x = tl.load(X + at).to(tl.float32)
        else:
            g = carry[None, :] * 0.5 + at.to(tl.float32)
            x = g * 0.25
        if SCAN:
            decay, h = tl.associative_scan((g, x), 0, chain)
            h = h + decay * carry[None, :]
        else:
            h = g * carry[None, :] + x
        if STORE:
            tl.store(H + at, h.to(H.dtype.element_ty))
        else:
            acc += h
        if SCAN or STORE:
            carry = tl.sum(tl.where((t == BLOCK_T - 1)[:, None], h, 0.0), 0)
    if not STORE:
        at = base + t[:, None] * width + d[None, :]
        tl.store(H + at, acc.to(H.dtype.element_ty))


def microseconds(go, n=10):
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    go()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            go()
    for _ in range(4):
        graph.replay()
    times = []
    for _ in range(5):
        a.record()
        graph.replay()
        b.record()
        torch.cuda.synchronize()
        times.append(a.elapsed_time(b) * 1000 / n)
    return sorted(times)[2]


PARTS = {"all": (1, 1, 1), "nostore": (1, 0, 1), "noload": (0, 1, 1), "noscan": (1, 1, 0), "loadonly": (1, 0, 0), "storeonly": (0, 1, 0), "scanonly": (0, 0, 1)}
G, X, H = (torch.rand(8, 2048, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(3))
for block_t, block_d, stages, warps in [(64, 8, 1, 1), (64, 8, 1, 4), (16, 64, 1, 1), (16, 16, 3, 1), (16, 128, 3, 2)]:
    for part, (load, store, scanned) in PARTS.items():
        go = lambda: scan[(2048 // block_d, 8)](G, X, H, 2048, 2048, block_t, block_d, stages, load, store, scanned, num_warps=warps)
        params = {"block_t": block_t, "block_d": block_d, "stages": stages, "warps": warps, "part": part}
        if sys.argv[1:] == ["ncu"]:
            go()
            go()
            torch.cuda.synchronize()
            print(json.dumps(params), flush=True)
        else:
            print(json.dumps({"name": "pieces.scan", "params": params, "value": round(microseconds(go), 2), "unit": "us"}), flush=True)
