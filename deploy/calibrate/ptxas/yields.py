#!/usr/bin/env python3
"""Looks in which loops ptxas has lanes of a warp yield to each other.

    yields.py [SM]... | gzip -9n > ../results/yields-13.0.jsonl.gz

Needs nvcc, ptxas and cuobjdump, and no GPU. Each line is a loop: what it is ("kind", KINDS below), for which
architecture, how many instructions YIELD, BSSY, BREAK and WARPSYNC the machine code has, how many loops
(branches back), and in how many of these a YIELD lies.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

KERNEL = """#include <cuda_fp16.h>
extern "C" __global__ void k(int *out, const int *in, int *lock, volatile int *vol, int m, int step) {{
  __shared__ int w[1024];
  volatile int *v = w;
  int x = threadIdx.x, c = 0;
  w[x] = in[x]; __syncthreads();
  {text}
  out[x] = c + x;
}}
"""
WALK = "for (int n = {a}[x]; n != x; n = {a}[x]) x = n;"
KINDS = {
    # what an exit waits for
    "volatile_shared": WALK.format(a="v"),
    "shared": WALK.format(a="w"),
    "shared_fixed": "while (w[m] != step) c++;",
    "volatile_shared_fixed": "while (v[m] != step) c++;",
    "volatile_global": WALK.format(a="vol"),
    "global": WALK.format(a="in"),
    "global_written": "for (int n = lock[x]; n != x; n = lock[x]) { x = n; lock[n + m] = c; }",
    "relaxed_global": "int n; do { asm volatile(\"ld.relaxed.gpu.b32 %0, [%1];\" : \"=r\"(n) : \"l\"(lock + x)); x ^= n; } while (n > 0);",
    "acquire_global": "int n; do { asm volatile(\"ld.acquire.gpu.b32 %0, [%1];\" : \"=r\"(n) : \"l\"(lock + x)); x ^= n; } while (n > 0);",
    "acquire_fixed": "int n; do { asm volatile(\"ld.acquire.gpu.b32 %0, [%1];\" : \"=r\"(n) : \"l\"(lock)); } while (n != m);",
    "cas_shared": "while (atomicCAS(w + (x & 1023), -1, m) != -1) x = x * 5 + 1;",
    "cas_shared_fixed": "while (atomicCAS(w, 0, 1) != 0);",
    "cas_global": "while (atomicCAS(lock + x, -1, m) != -1) x = x * 5 + 1;",
    "cas_global_fixed": "while (atomicCAS(lock, 0, 1) != 0);",
    "min_shared": "int n; while ((n = atomicMin(w + (x & 1023), m)) > m) x = n;",
    "min_global": "int n; while ((n = atomicMin(lock + x, m)) > m) x = n;",
    "add_shared": "while (atomicAdd(w, 1) < m) c++;",
    "add_global": "while (atomicAdd(lock, 1) < m) c++;",
    "exchange_shared": "while (atomicExch(w, 1)) c++;",
    "float_add": "atomicAdd((float *)w + (x & 7), 1.0f);",
    "half_add": "atomicAdd((__half *)w + (x & 7), __float2half(1.0f));",
    "cas_loop_double": "unsigned long long *a = (unsigned long long *)lock, o = *a, s; do { s = o; o = atomicCAS(a, s, s * m + 1); } while (o != s);",
    "cas_loop_shared": "int o = w[m], s; do { s = o; o = atomicCAS(w + m, s, s * m + 1); } while (o != s);",
    "through_arithmetic": "while ((v[x & 1023] * m ^ step) & 1) x = x * 5 + 1;",
    "through_address": "while (in[v[x & 1023]] > 0) x = x * 5 + 1;",
    "through_flag": "bool more = true; while (more) { if (v[x & 1023] > m) more = in[x] > 0; x = x * 5 + 1; }",
    "inner_branch": "for (;;) { if (v[x & 1023] > m) { if (in[x] > 0) break; } x = x * 5 + 1; }",
    "through_shuffle": "while (__shfl_xor_sync(~0u, v[x & 1023], 1) > m) x = x * 5 + 1;",
    "through_vote": "while (__any_sync(~0u, v[x & 1023] > m)) x = x * 5 + 1;",
    "barrier_or": "while (__syncthreads_or(v[x & 1023] > m)) x = x * 5 + 1;",
    "with_barrier": "while (v[m] != step) { c++; __syncthreads(); }",
    "with_syncwarp": "while (v[x & 1023] != step) { x = x * 5 + 1; __syncwarp(); }",
    "with_nanosleep": "while (v[m] != step) __nanosleep(20);",
    "with_fence": "while (in[x] != step) { x = x * 5 + 1; __threadfence(); }",
    "fence_written": "while (lock[x] != step) { x = x * 5 + 1; __threadfence(); }",
    # exits that wait for nothing
    "counted_volatile": "for (int i = 0; i < m; ++i) c += v[(x + i * step) & 1023];",
    "counted_known_volatile": "_Pragma(\"unroll 1\") for (int i = 0; i < 1000; ++i) c += v[(x + i * step) & 1023];",
    "counted_atomic": "for (int i = 0; i < m; ++i) c += atomicAdd(w + ((x + i * step) & 1023), 1);",
    "counted_red": "for (int i = 0; i < m; ++i) atomicAdd(w + ((x + i * step) & 1023), 1);",
    "lanes_counted_volatile": "for (int i = x; i < m; i += 256) c += v[i * step & 1023];",
    "lanes_counted_cas": "for (int i = x; i < m; i += 256) c += atomicCAS(w + (i * step & 1023), 0, i);",
    "data_counted_volatile": "for (int i = 0, e = in[x]; i < e; ++i) c += v[i * step & 1023];",
    "plain_exit_atomic": "while (in[x] > 0) { x = x * 5 + 1; atomicAdd(w + (x & 1023), 1); }",
    "plain_exit_volatile": "while (in[x] > 0) { x = x * 5 + 1; c += v[x & 1023]; }",
    "volatile_store": "while (in[x] > 0) { x = x * 5 + 1; v[x & 1023] = c; }",
    # more than one exit, loops in loops
    "counted_break": "for (int i = 0; i < m; ++i) { if (v[x & 1023] == step) break; x = x * 5 + 1; }",
    "known_break": "_Pragma(\"unroll 1\") for (int i = 0; i < 100; ++i) { if (v[x & 1023] == step) break; x = x * 5 + 1; }",
    "both": "for (int i = 0; i < m && v[x & 1023] != step; ++i) x = x * 5 + 1;",
    "retry": "for (;;) { int a = x; for (int n = v[a]; n != a; n = v[a]) a = n; if (a == m) break; int o = atomicMin(w + a, m); if (o == a) break; x = o; }",
    "retry_counted_inside": "for (;;) { int a = 0; for (int i = 0; i < m; ++i) a ^= in[i * step + x]; int o = atomicMin(w + (a & 1023), m); if (o == a) break; x = o; }",
    "counted_around": "for (int i = x; i < m; i += 256) { int a = in[i]; while (atomicCAS(w + (a & 1023), -1, m) != -1) a = a * 5 + 1; c += a; }",
    "changed": "int more; do { more = 0; for (int i = x; i < m; i += 256) if (v[i] > v[i + 1]) { v[i] = step; more = 1; } __syncthreads(); } while (__syncthreads_or(more));",
    "unrolled": "_Pragma(\"unroll 4\") for (int i = 0; i < m; ++i) { if (v[x & 1023] == step) break; x = x * 5 + 1; }",
}


def look(job):
    kind, sm = job
    with tempfile.TemporaryDirectory() as work:
        with open(f"{work}/k.cu", "w") as f:
            f.write(KERNEL.format(text="{text}").replace("{text}", KINDS[kind]))
        subprocess.run(["nvcc", "-O3", f"-arch=sm_{sm}", "-cubin", "-o", f"{work}/k.cubin", f"{work}/k.cu"], check=True)
        sass = subprocess.run(["cuobjdump", "-sass", f"{work}/k.cubin"], capture_output=True, text=True, check=True).stdout
    code = re.findall(r"/\*([0-9a-f]{4})\*/\s+(.*?);", sass)
    count = {name.lower(): sum(name in text.split() for _, text in code) for name in ("YIELD", "BSSY", "BREAK", "WARPSYNC")}
    back = []
    for at, text in code:
        m = re.search(r"\bBRA\b.*0x([0-9a-f]+)", text)
        if m and int(m[1], 16) < int(at, 16):
            back.append((int(m[1], 16), int(at, 16)))
    held = sum(any("YIELD" in t.split() and lo <= int(a, 16) <= hi for a, t in code) for lo, hi in back)
    return {"kind": kind, "sm": sm, **count, "loops": len(back), "yielding": held}


def main():
    jobs = [(kind, sm) for sm in sys.argv[1:] or ["75", "80", "86", "90", "100"] for kind in KINDS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(look, jobs):
            print(json.dumps(line))


if __name__ == "__main__":
    sys.exit(main())
