#!/usr/bin/env python3
"""Compiles, checks, times and counts the fourth blind set (d).

  python3 measure.py --out DIR [--budget 520] [--only NAME,...] [--limit N] [--resume DIR] [--no-ncu]

Everything is written as it is measured: DIR/launches.jsonl.gz, DIR/ptx.zip, DIR/counters.jsonl.gz, DIR/log.txt. Configurations that
--resume DIR already holds are not measured again. A group runs in a process of its own; a configuration that stalls or breaks the context is
recorded with `error` and the group goes on in a new process.
"""
import argparse, ctypes, csv, gzip, hashlib, io, json, os, re, shutil, subprocess, sys, time, traceback, zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.environ.get("BLIND_WORK", "/tmp/blind4_work")
BUILD = WORK + "/build"
RESULTS = WORK + "/results.jsonl"
CURRENT = WORK + "/current.json"
os.environ.setdefault("TRITON_CACHE_DIR", WORK + "/triton")
T0 = time.time()
sys.path.insert(0, HERE)
STALL = 20

METRICS = """gpu__time_duration.sum dram__bytes_read.sum dram__bytes_write.sum lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum
lts__t_sectors_op_read_lookup_hit.sum smsp__inst_executed.sum smsp__thread_inst_executed.sum sm__inst_executed_pipe_tensor.sum sm__inst_executed_pipe_tensor_op_gmma.sum
sm__inst_executed_pipe_tensor_op_hmma.sum sm__inst_executed_pipe_lsu.sum sm__inst_executed_pipe_alu.sum sm__inst_executed_pipe_fma.sum
sm__inst_executed_pipe_xu.sum sm__inst_executed_pipe_uniform.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum l1tex__data_pipe_lsu_wavefronts_mem_shared.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum l1tex__m_xbar2l1tex_read_sectors.sum sm__cycles_elapsed.max sm__cycles_active.avg
sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active sm__warps_active.avg.pct_of_peak_sustained_active""".split()

TYPE = {"bfloat16": "bfloat16", "float32": "float", "float16": "half", "int32": "int32", "int8": "int8", "float8_e4m3fn": "float8_e4m3fn"}


def all_groups():
    import cuda_set
    out = [("cuda", g) for g in cuda_set.GROUPS]
    try:
        import triton_set
        out = [("triton", g) for g in triton_set.GROUPS] + out
    except ImportError as e:
        print("no triton:", e)
    return out


def gname(g):
    return g.name + " " + g.problem


def key_of(group, params):
    return group + "|" + json.dumps(params, sort_keys=True)


# ------------------------------------------------------------------ building
def nvcc():
    for p in (os.environ.get("NVCC"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if p and os.path.exists(p):
            return p
    raise RuntimeError("no nvcc")


def build_cuda(g, c):
    d = g.defines(c)
    tag = hashlib.sha256((g.source + json.dumps(d, sort_keys=True)).encode()).hexdigest()[:16]
    base = BUILD + "/" + tag
    if not os.path.exists(base + ".json"):
        cc = nvcc()
        p = subprocess.run([cc, "-std=c++17", "-O3", "-arch=compute_90a", "-ptx", HERE + "/" + g.source, "-o", base + ".ptx"] + ["-D%s=%s" % kv for kv in d.items()], capture_output=True, text=True)
        info = {}
        if p.returncode:
            info["error"] = "nvcc: " + p.stderr[-600:]
        else:
            ptxas = os.path.join(os.path.dirname(cc), "ptxas")
            p = subprocess.run([ptxas, "-arch=sm_90a", "-v", base + ".ptx", "-o", base + ".cubin"], capture_output=True, text=True)
            if p.returncode:
                info["error"] = "RuntimeError: compile failed: " + p.stderr[-600:]
            else:
                m = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", p.stderr)
                info = {"spills": int(m.group(2)), "spill_loads": int(m.group(3)), "notes": [l for l in p.stderr.splitlines() if "C75" in l]}
        json.dump(info, open(base + ".tmp", "w"))
        os.rename(base + ".tmp", base + ".json")
    return base, json.load(open(base + ".json"))


def build_job(job):
    i, j = job
    t = time.time()
    try:
        kind, g = all_groups()[i]
        c = g.configs[j]
        if kind == "cuda":
            info = build_cuda(g, c)[1]
            return (i, j, time.time() - t, info.get("error") or (str(info["notes"][:1]) if info["notes"] else ""))
        import tcompile
        tcompile.fake()
        tcompile.compile_one(g, c)
        return (i, j, time.time() - t, "")
    except Exception as e:
        return (i, j, time.time() - t, "%s: %s" % (type(e).__name__, str(e)[:300]))


def build_all(groups, limit, log):
    import multiprocessing as mp
    os.makedirs(BUILD, exist_ok=True)
    jobs = [(i, j) for i, (kind, g) in enumerate(all_groups()) for j in range(min(limit, len(g.configs))) if (kind, gname(g)) in groups]
    n = max(2, min(14, (os.cpu_count() or 2) - 2))
    bad = 0
    with mp.get_context("spawn").Pool(n) as pool:
        it = pool.imap_unordered(build_job, jobs)
        for _ in jobs:
            try:
                i, j, s, e = it.next(timeout=120)
            except mp.TimeoutError:
                log("a build takes too long: going on without it")
                break
            if e:
                bad += 1
                log("build", gname(all_groups()[i][1]), all_groups()[i][1].configs[j], e)
    log("built %d with %d complaints" % (len(jobs), bad))


# ------------------------------------------------------------------ the driver's interface
class Cu:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")

    def check(self, r, what):
        if r:
            s = ctypes.c_char_p()
            self.lib.cuGetErrorName(r, ctypes.byref(s))
            raise RuntimeError("%s: %s" % (what, (s.value or b"?").decode()))

    def load(self, path, name):
        mod, fn = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.lib.cuModuleLoadData(ctypes.byref(mod), open(path, "rb").read()), "load")
        self.check(self.lib.cuModuleGetFunction(ctypes.byref(fn), mod, name.encode()), "function")
        return fn

    def attr(self, fn, a):
        v = ctypes.c_int()
        self.check(self.lib.cuFuncGetAttribute(ctypes.byref(v), ctypes.c_int(a), fn), "attribute")
        return v.value

    def tensormap(self, dtype, ptr, dims, strides, box, swizzle):
        raw = ctypes.create_string_buffer(192)
        at = (ctypes.addressof(raw) + 63) & ~63
        n = len(dims)
        r = self.lib.cuTensorMapEncodeTiled(ctypes.c_void_p(at), ctypes.c_int({"bfloat16": 9, "float32": 7, "float16": 6, "int8": 0, "float8_e4m3fn": 0}[dtype]), ctypes.c_uint32(n), ctypes.c_void_p(ptr),
                                            (ctypes.c_uint64 * n)(*dims), (ctypes.c_uint64 * max(1, n - 1))(*strides), (ctypes.c_uint32 * n)(*box), (ctypes.c_uint32 * n)(*[1] * n),
                                            ctypes.c_int(0), ctypes.c_int({"none": 0, "32B": 1, "64B": 2, "128B": 3}[swizzle]), ctypes.c_int(2), ctypes.c_int(0))
        self.check(r, "tensor map")
        return raw, at

    def launcher(self, fn, grid, block, smem, holders, addresses):
        import torch
        params = (ctypes.c_void_p * len(addresses))(*addresses)
        u = ctypes.c_uint
        if smem > 16 * 1024:
            self.check(self.lib.cuFuncSetAttribute(fn, ctypes.c_int(8), ctypes.c_int(smem)), "shared memory")

        def go(keep=holders):
            s = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.check(self.lib.cuLaunchKernel(fn, u(grid[0]), u(grid[1]), u(grid[2]), u(block[0]), u(block[1]), u(block[2]), u(smem), s, params, None), "launch")
        return go


# ------------------------------------------------------------------ one configuration
def tensors(g):
    import torch
    torch.manual_seed(20261127)
    t = {n: torch.zeros(shape, dtype=getattr(torch, ty), device="cuda") for n, (ty, shape) in g.data.items()}
    g.fill(torch, t)
    return t


def buffer(name, t, alias=None):
    r = {"name": alias or name, "type": TYPE[str(t.dtype).split(".")[-1]], "vector": True, "count": t.numel(), "offset": 0}
    if not t.dtype.is_floating_point:
        r["min"], r["max"] = int(t.min()), int(t.max())
    return r


def entry_params(ptx, entry):
    m = re.search(r"\.entry\s+%s\s*\((.*?)\)" % re.escape(entry), ptx, re.S)
    return len(re.findall(r"\.param", m.group(1)))


def prepare_triton(g, c, t, rec):
    import torch, triton
    fn = type(g).kernel
    mine = dict(t)
    if hasattr(g, "variants"):
        for n, (ty, v) in g.variants(c).items():
            mine[n] = torch.tensor(v, dtype=getattr(torch, ty), device="cuda")
    if g.scratch:
        pool = {}

        def alloc(size, align, stream):
            if size not in pool:
                pool[size] = torch.empty(size, dtype=torch.int8, device="cuda")
            return pool[size]
        triton.set_allocator(alloc)
    args, meta, grid = g.args(lambda n: mine[n], c), g.meta(c), g.grid(c)
    go = lambda: fn[grid](*args, **meta)
    k = go()
    torch.cuda.synchronize()
    ptx = k.asm["ptx"]
    m = k.metadata
    rec.update(entry=k.name, num_warps=m.num_warps, block=[32 * m.num_warps, 1, 1], grid=list(grid), cluster=[1, 1, 1], dynamic_smem=m.shared, static_smem=0,
               registers=k.n_regs, spills=k.n_spills)
    f = ctypes.c_void_p(int(k.function))
    cu = Cu()
    try:
        rec.update(registers=cu.attr(f, 4), local_bytes=cu.attr(f, 3), static_smem=cu.attr(f, 1))
    except Exception:
        rec["local_bytes"] = 4 * k.n_spills
    out = []
    for name, value in zip(fn.arg_names, args):
        ty = k.src.signature[name]
        if ty == "constexpr":
            continue
        if ty.startswith("*"):
            out.append(buffer(name, value))
        else:
            out.append({"name": name, "type": ty, "vector": False, "value": value})
    n = entry_params(ptx, k.name)
    trailing = ["global_scratch", "profile_scratch"]
    rec.update(args=out, scratch=[m.global_scratch_size, getattr(m, "profile_scratch_size", 0) or 0], trailing_params=trailing)
    if n != len(out) + 2:
        rec["params_in_ptx"] = n
    rec["target"] = str(m.target)
    rec["triton"] = triton.__version__
    return go, ptx, mine


def prepare_cuda(g, c, t, rec):
    base, info = build_cuda(g, c)
    if info.get("error"):
        raise RuntimeError(info["error"])
    cu = Cu()
    fn = cu.load(base + ".cubin", g.name)
    holders, addr, out = [], [], []
    for a in g.args(c):
        if a[0] == "map":
            x = t[a[2]]
            dims = list(reversed(x.shape))
            strides = [x.stride(i) * x.element_size() for i in range(x.dim() - 2, -1, -1)]
            raw, at = cu.tensormap(str(x.dtype).split(".")[-1], x.data_ptr(), dims, strides, a[3], a[4])
            holders.append(raw)
            addr.append(at)
            out.append({"name": a[1], "type": "tensormap", "tensormap": True, "vector": False, "bytes": 128, "element": "uint8" if x.dtype.itemsize == 1 else TYPE[str(x.dtype).split(".")[-1]], "shape": dims, "strides": strides, "box": a[3],
                        "swizzle": a[4], "interleave": "none", "l2promotion": "128B", "oobfill": "zeros", "base": buffer(a[1], x)})
            continue
        if a[0] == "buf":
            x = t[a[2]]
            h = ctypes.c_void_p(x.data_ptr())
            r = buffer(a[1], x)
            if len(a) > 3:
                r["declared"] = a[3]
        else:
            h = (ctypes.c_int if a[0] == "int" else ctypes.c_float)(a[2])
            r = {"name": a[1], "type": "int32" if a[0] == "int" else "float", "vector": False, "value": a[2]}
        holders.append(h)
        addr.append(ctypes.addressof(h))
        out.append(r)
    rec.update(entry=g.name, registers=cu.attr(fn, 4), local_bytes=cu.attr(fn, 3), static_smem=cu.attr(fn, 1), const_bytes=cu.attr(fn, 2), dynamic_smem=g.smem(c), block=list(g.block(c)),
               grid=list(g.grid(c)), cluster=list(g.cluster(c)), defines=dict(g.defines(c)), target="sm_90a", spills=info["spills"], spill_loads=info["spill_loads"], args=out)
    if info["notes"]:
        rec["notes"] = info["notes"][:2]
    return cu.launcher(fn, g.grid(c), g.block(c), g.smem(c), holders, addr), open(base + ".ptx").read(), t


def check(g, go, mine, ref, rec):
    import torch
    for n in ref:
        (mine[n].view(torch.uint8) if mine[n].dtype.itemsize == 1 else mine[n]).fill_(0 if n in getattr(g, "zero", ()) else 7)
    torch.cuda.synchronize()
    go()
    torch.cuda.synchronize()
    worst, ok = 0.0, True
    got = g.finish(torch, mine, rec["params"]) if hasattr(g, "finish") else mine
    for n, r in ref.items():
        o = got[n].float() if got[n].dtype.is_floating_point else got[n].double()
        r = r.to(o.dtype)
        e = ((o - r).abs().max() / r.abs().max().clamp(min=1e-30)).item()
        ok = ok and bool(e <= g.tol)
        worst = e if (e != e or e > worst) else worst
    rec["agrees"] = ok
    rec["error_norm"] = round(worst, 7) if worst == worst else "nan"


def timed(go, rec):
    import torch
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(3):
        go()
    torch.cuda.synchronize()
    a.record()
    for _ in range(5):
        go()
    b.record()
    torch.cuda.synchronize()
    est = a.elapsed_time(b) * 1000 / 5
    n = int(min(100, max(4, 2000 / max(est, 1.0))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            go()
    spent = time.time()
    graph.replay()
    torch.cuda.synchronize()
    while time.time() - spent < 0.03:
        graph.replay()
        torch.cuda.synchronize()
    ts = []
    for _ in range(7):
        a.record()
        graph.replay()
        b.record()
        torch.cuda.synchronize()
        ts.append(a.elapsed_time(b) * 1000 / n)
    ts.sort()
    rec["time_us"] = {"median": round(ts[3], 4), "min": round(ts[0], 4), "max": round(ts[6], 4), "reps": 7, "launches": n}


def base_record(g, c):
    return {"kernel": g.name, "group": gname(g), "problem": g.problem, "problem_size": g.size, "params": c}


def done_keys():
    try:
        return {key_of(r["group"], r["params"]) for r in map(json.loads, open(RESULTS))}
    except FileNotFoundError:
        return set()


def worker(i, limit):
    kind, g = all_groups()[i]
    done = done_keys()
    todo = [c for c in g.configs[:limit] if key_of(gname(g), c) not in done]
    if not todo:
        return
    import torch
    beat(None)
    t = tensors(g)
    ref = g.reference(torch, t)
    torch.cuda.synchronize()
    for c in todo:
        beat(key_of(gname(g), c))
        rec = base_record(g, c)
        fatal = False
        try:
            go, ptx, mine = (prepare_triton if kind == "triton" else prepare_cuda)(g, c, t, rec)
            stem = g.name + "-" + hashlib.sha256(ptx.encode()).hexdigest()[:12]
            rec["ptx"] = stem
            open(WORK + "/ptx/" + stem + ".ptx", "w").write(ptx)
            check(g, go, mine, ref, rec)
            timed(go, rec)
        except Exception as e:
            rec["error"] = "%s: %s" % (type(e).__name__, str(e)[-500:])
            try:
                torch.cuda.synchronize()
            except Exception:
                fatal = True
        with open(RESULTS, "a") as f:
            f.write(json.dumps(rec) + "\n")
        if fatal:
            os._exit(3)
    beat(None)


def beat(key):
    with open(CURRENT + ".tmp", "w") as f:
        json.dump({"key": key, "time": time.time()}, f)
    os.rename(CURRENT + ".tmp", CURRENT)


# ------------------------------------------------------------------ counters
def ncu_pick():
    by = {}
    for r in map(json.loads, open(RESULTS)):
        if r.get("time_us") and r.get("agrees") and r["time_us"]["median"] <= 2000:
            by.setdefault(r["group"], []).append(r)
    out = {}
    for gr, rs in by.items():
        rs.sort(key=lambda r: r["time_us"]["median"])
        two = [rs[0], rs[len(rs) // 2], rs[-1]] if len(rs) > 2 else rs
        out[gr] = two
    return out


def ncu_run(names):
    """launches the three configurations of each group twice, in order; ncu looks on"""
    import torch
    picks = ncu_pick()
    for kind, g in all_groups():
        if gname(g) not in names or gname(g) not in picks:
            continue
        t = tensors(g)
        for r in picks[gname(g)]:
            rec = {}
            go, ptx, mine = (prepare_triton if kind == "triton" else prepare_cuda)(g, r["params"], t, rec)
            if kind == "cuda":
                go()
            go()
            torch.cuda.synchronize()
            print("LAUNCHED", json.dumps([gname(g), r["params"]]), flush=True)
        del t
        torch.cuda.empty_cache()


def count(names, out, log, left):
    ncu = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    picks = ncu_pick()
    kernels = sorted({n.split(" ")[0] for n in names})
    cmd = [ncu, "--csv", "--page", "raw", "--clock-control", "none", "--cache-control", "none", "--metrics", ",".join(METRICS), "-k", "regex:^(" + "|".join(kernels) + ")$",
           sys.executable, os.path.abspath(__file__), "--ncu-run", json.dumps(names)]
    try:
        p = subprocess.run(cmd, capture_output=True, text=True, timeout=max(20, min(150, left)))
        text = p.stdout
    except subprocess.TimeoutExpired as e:
        log("ncu timed out on", names)
        text = (e.stdout or b"").decode() if isinstance(e.stdout, bytes) else (e.stdout or "")
    launched = [json.loads(l[9:]) for l in text.splitlines() if l.startswith("LAUNCHED ")]
    lines = [l for l in text.splitlines() if l.startswith('"')]
    rows = list(csv.reader(io.StringIO("\n".join(lines))))
    if len(rows) < 3:
        log("ncu gave nothing for", names, text[-700:], getattr(locals().get("p"), "stderr", "")[-300:])
        return
    head, units, rows = rows[0], rows[1], rows[2:]
    if len(rows) != 2 * len(launched):
        log("ncu rows %d for %d launches of %s" % (len(rows), 2 * len(launched), names))
        return
    with open(out, "a") as f:
        for i, (gr, params) in enumerate(launched):
            row = rows[2 * i + 1]
            r = next(r for r in picks[gr] if r["params"] == params)
            cn, un = {}, {}
            for h, u, v in zip(head, units, row):
                if re.match(r"(gpu|dram|lts|smsp|sm|l1tex|launch)__", h):
                    try:
                        cn[h] = float(v.replace(",", ""))
                    except ValueError:
                        cn[h] = v
                    if u:
                        un[h] = u
            keep = {k: r[k] for k in r if k not in ("time_us", "agrees", "error_norm")}
            f.write(json.dumps(dict(keep, time_us=r["time_us"], counters=cn, units=un)) + "\n")


# ------------------------------------------------------------------ the whole
def collect(out):
    rs = []
    if os.path.exists(RESULTS):
        rs = [l for l in open(RESULTS) if l.strip()]
    with gzip.open(out + "/.l.tmp", "wt") as f:
        f.writelines(rs)
    os.rename(out + "/.l.tmp", out + "/launches.jsonl.gz")
    with zipfile.ZipFile(WORK + "/p.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as z:
        for n in sorted(os.listdir(WORK + "/ptx")):
            z.write(WORK + "/ptx/" + n, n)
    shutil.copy(WORK + "/p.zip", out + "/ptx.zip")
    if os.path.exists(WORK + "/counters.jsonl"):
        with open(WORK + "/counters.jsonl") as s, gzip.open(out + "/counters.jsonl.gz", "wt") as f:
            f.write(s.read())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", default=os.environ.get("OUT"))
    ap.add_argument("--budget", type=float, default=520)
    ap.add_argument("--only", default="")
    ap.add_argument("--limit", type=int, default=10 ** 6)
    ap.add_argument("--resume", default="")
    ap.add_argument("--no-ncu", action="store_true")
    ap.add_argument("--build-only", action="store_true")
    ap.add_argument("--worker", type=int)
    ap.add_argument("--ncu-run")
    a = ap.parse_args()
    os.makedirs(WORK + "/ptx", exist_ok=True)
    os.makedirs(BUILD, exist_ok=True)
    if a.worker is not None:
        return worker(a.worker, a.limit)
    if a.ncu_run:
        return ncu_run(json.loads(a.ncu_run))
    os.makedirs(a.out, exist_ok=True)
    logf = open(a.out + "/log.txt", "a")

    def log(*x):
        s = "[%6.1f] " % (time.time() - T0) + " ".join(map(str, x))
        print(s, flush=True)
        logf.write(s + "\n")
        logf.flush()
    left = lambda: a.budget - (time.time() - T0)
    if a.resume and os.path.exists(a.resume + "/launches.jsonl.gz") and not os.path.exists(RESULTS):
        with gzip.open(a.resume + "/launches.jsonl.gz", "rt") as s, open(RESULTS, "w") as f:
            f.writelines(l for l in s if not json.loads(l).get("error"))
        with zipfile.ZipFile(a.resume + "/ptx.zip") as z:
            z.extractall(WORK + "/ptx")
        if os.path.exists(a.resume + "/counters.jsonl.gz"):
            with gzip.open(a.resume + "/counters.jsonl.gz", "rt") as s, open(WORK + "/counters.jsonl", "w") as f:
                f.write(s.read())
    subprocess.run("nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader; %s --version | tail -2; python3 -c 'import torch,triton; print(torch.__version__, triton.__version__)'; ncu --version | tail -1" % nvcc(),
                   shell=True, stdout=logf, stderr=logf)
    logf.flush()
    print(open(a.out + "/log.txt").read()[-600:], flush=True)
    only = [o for o in a.only.split(",") if o]
    groups = [(k, gname(g)) for k, g in all_groups() if not only or any(gname(g).startswith(o) for o in only)]
    build_all(groups, a.limit, log)
    if a.build_only:
        return
    for i, (kind, g) in enumerate(all_groups()):
        if (kind, gname(g)) not in groups:
            continue
        tries = 0
        while left() > 30 and tries < 12:
            todo = [c for c in g.configs[:a.limit] if key_of(gname(g), c) not in done_keys()]
            if not todo:
                break
            tries += 1
            beat(None)
            p = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", str(i), "--limit", str(a.limit)])
            while p.poll() is None:
                time.sleep(0.2)
                cur = json.load(open(CURRENT))
                if time.time() - cur["time"] > STALL or left() < 5:
                    p.kill()
                    p.wait()
                    tries += 0 if cur["key"] else 6
                    if cur["key"] and left() >= 5 and cur["key"] not in done_keys():
                        c = json.loads(cur["key"].split("|", 1)[1])
                        with open(RESULTS, "a") as f:
                            f.write(json.dumps(dict(base_record(g, c), error="stalled for %d s" % STALL)) + "\n")
                    break
            else:
                cur = json.load(open(CURRENT))
                tries += 4 if p.returncode and not cur["key"] else 0
                if p.returncode and cur["key"] and cur["key"] not in done_keys():
                    c = json.loads(cur["key"].split("|", 1)[1])
                    with open(RESULTS, "a") as f:
                        f.write(json.dumps(dict(base_record(g, c), error="process ended with %d" % p.returncode)) + "\n")
        rs = [r for r in map(json.loads, open(RESULTS)) if r["group"] == gname(g)] if os.path.exists(RESULTS) else []
        ts = sorted(r["time_us"]["median"] for r in rs if r.get("time_us"))
        log("%-50s %d configurations, %d timed, %d agree, %s us" % (gname(g), len(rs), len(ts), sum(bool(r.get("agrees")) for r in rs), "%.1f .. %.1f" % (ts[0], ts[-1]) if ts else "-"))
        for r in rs:
            if r.get("error") or not r.get("agrees"):
                log("   ", json.dumps(r["params"]), r.get("error", "")[:250], r.get("error_norm"))
        collect(a.out)
    if not a.no_ncu:
        have = set()
        if os.path.exists(WORK + "/counters.jsonl"):
            have = {json.loads(l)["group"] for l in open(WORK + "/counters.jsonl")}
        names = [n for k, n in groups if n not in have]
        for i in range(0, len(names), 3):
            if left() < 40:
                log("no time for the counters of", names[i:])
                break
            try:
                count(names[i:i + 3], WORK + "/counters.jsonl", log, left() - 10)
            except Exception:
                log("counters", traceback.format_exc()[-600:])
            collect(a.out)
    collect(a.out)
    log("done")


if __name__ == "__main__":
    main()
