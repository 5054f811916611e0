#!/usr/bin/env python3
"""Looks how many iterations at a time nvcc, or clang, has of loops that it does not unroll whole, in PTX.

    partloops.py nvcc | gzip -9n > ../results/partloops-nvcc-13.0.jsonl.gz
    partloops.py clang++-19 [OPTION]...

Needs the compiler, and no GPU; with clang the device headers in tuner/kernel/compile/device. Each line is a
loop: what it is ("kind", KINDS below), how many multiply-adds its body has besides, and how often these are
written out ("copies": 1 where it is left as it is, 5 where four iterations go together and the rest one by
one, 7 where the rest is written out too) in how many loops.
"""
import concurrent.futures
import json
import os
import re
import sys

import frontends

KERNEL = """extern "C" __global__ void k(float *out, const float *in, int m, int step, float y, float s0, float s1, float s2, float s3) {{
  __shared__ float w[1024];
  w[threadIdx.x] = in[threadIdx.x]; __syncthreads();
  float c = 0;
  {text}
  out[threadIdx.x] = c + w[threadIdx.x ^ 1];
}}
"""
EACH = "for (int i = 0; i < m; ++i)"
LOAD = "float t = in[i]; {body}"
KINDS = {
    # how it counts
    "sum": EACH + " {{ " + LOAD + " c += t; }}",
    "unsigned": "for (unsigned i = 0; i < (unsigned)m; ++i) {{ " + LOAD + " c += t; }}",
    "long": "for (long i = 0; i < m; ++i) {{ " + LOAD + " c += t; }}",
    "down": "for (int i = m; i > 0; --i) {{ " + LOAD + " c += t; }}",
    "step_256": "for (int i = threadIdx.x; i < m; i += 256) {{ " + LOAD + " c += t; }}",
    "step_block": "for (int i = threadIdx.x; i < m; i += blockDim.x) {{ " + LOAD + " c += t; }}",
    "step_grid": "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += gridDim.x * blockDim.x) {{ " + LOAD + " c += t; }}",
    "step_argument": "for (int i = threadIdx.x; i < m; i += step) {{ " + LOAD + " c += t; }}",
    "from_thread": "for (int i = threadIdx.x; i < m; ++i) {{ " + LOAD + " c += t; }}",
    "halving": "for (int i = m; i > 0; i >>= 1) {{ " + LOAD + " c += t; }}",
    "not_equal": "for (int i = 0; i != m; ++i) {{ " + LOAD + " c += t; }}",
    "while_data": "float t = in[0]; while (t > y) {{ {body} c += t; }}",
    "exit": EACH + " {{ " + LOAD + " c += t; if (t < 0) break; }}",
    "both": "float t = in[0]; for (int i = 0; i < m && t < y; ++i) {{ {body} c += t; }}",
    **{f"known_{n}": f"for (int i = 0; i < {n}; ++i) {{{{ " + LOAD + " c += t; }}" for n in [1000, 1009, 24, 100, 102, 104, 105, 1001, 1008, 1536]},
    "step2_1000": "for (int i = 0; i < 2000; i += 2) {{ " + LOAD + " c += t; }}",
    "unsigned_1000": "for (unsigned i = 0; i < 1000; ++i) {{ " + LOAD + " c += t; }}",
    "down_1000": "for (int i = 1000; i > 0; --i) {{ " + LOAD + " c += t; }}",
    "exit_1000": "for (int i = 0; i < 1000; ++i) {{ " + LOAD + " c += t; if (t < 0) break; }}",
    "store_1000": "for (int i = 0; i < 1000; ++i) {{ " + LOAD + " out[i * step] = t; }}",
    "barrier_1000": "for (int i = 0; i < 1000; ++i) {{ " + LOAD + " w[threadIdx.x] = t; __syncthreads(); c += w[i]; __syncthreads(); }}",
    "arm_1000": "for (int i = 0; i < 1000; ++i) {{ " + LOAD + " if (t > y) out[i * step] = t; }}",
    "shift_1000": "for (int i = 0; i < 1000; ++i) {{ unsigned int by = m * in[i]; float t = in[i * step + by]; {body} c += t; }}",
    "pragma_4": "_Pragma(\"unroll 4\") " + EACH + " {{ " + LOAD + " c += t; }}",
    "pragma": "_Pragma(\"unroll\") " + EACH + " {{ " + LOAD + " c += t; }}",
    # what is in it
    "store": EACH + " {{ " + LOAD + " out[i * step] = t; }}",
    "store_shared": "for (int i = threadIdx.x; i < m; i += 256) {{ " + LOAD + " w[i] = t; }}",
    "loads_shared": EACH + " {{ float t = w[i]; {body} c += t; }}",
    "barrier": EACH + " {{ " + LOAD + " w[threadIdx.x] = t; __syncthreads(); c += w[i]; __syncthreads(); }}",
    "syncwarp": EACH + " {{ " + LOAD + " w[threadIdx.x] = t; __syncwarp(); c += w[i]; __syncwarp(); }}",
    "shuffle": EACH + " {{ " + LOAD + " c += __shfl_xor_sync(~0u, t, 1); }}",
    "ballot": EACH + " {{ " + LOAD + " c += __popc(__ballot_sync(~0u, t > y)); }}",
    "atomic": EACH + " {{ " + LOAD + " atomicAdd(out + i, t); }}",
    "atomic_shared": EACH + " {{ " + LOAD + " atomicAdd(w + i, t); }}",
    "assembly": EACH + " {{ " + LOAD + " float u; asm(\"ex2.approx.f32 %0, %1;\" : \"=f\"(u) : \"f\"(t)); c += u; }}",
    "assembly_volatile": EACH + " {{ " + LOAD + " float u; asm volatile(\"ex2.approx.f32 %0, %1;\" : \"=f\"(u) : \"f\"(t)); c += u; }}",
    "clock": EACH + " {{ " + LOAD + " c += t + clock(); }}",
    "select": EACH + " {{ " + LOAD + " if (t > y) c += t; }}",
    "arm": EACH + " {{ " + LOAD + " if (t > y) out[i * step] = t; }}",
    "arms": EACH + " {{ " + LOAD + " if (t > y) out[i * step] = t; else out[i] = c; c += t; }}",
    "skip": EACH + " {{ if (in[i * step] > y) continue; " + LOAD + " c += t; }}",
    "exponential": EACH + " {{ " + LOAD + " c += expf(t); }}",
    "quotient": EACH + " {{ " + LOAD + " c += y / t; }}",
    "sine": EACH + " {{ " + LOAD + " c += sinf(t); }}",
    "whole_within": EACH + " {{ for (int j = 0; j < 3; ++j) {{ float t = in[i * 3 + j]; {body} c += t; }} }}",
    "loop_within": EACH + " {{ for (int j = 0; j < step; ++j) {{ float t = in[i * step + j]; {body} c += t; }} out[i] = c; }}",
    "loop_without": EACH + " {{ " + LOAD + " for (int j = 0; j < step; ++j) c += in[i + j] * t; }}",
    "known_within": EACH + " {{ float t = in[i]; for (int j = 0; j < 1000; ++j) {{ t += in[j]; {body} }} c += t; }}",
}
BODIES = [1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128]


def look(job):
    kind, body = job
    text = KINDS[kind].format(body=" ".join(f"t = t * y + s{j % 4};" for j in range(body)))
    made = frontends.ptx(sys.argv[1], sys.argv[2:], KERNEL.format(text=text))
    labels = {m: made.index(m + ":") for m in re.findall(r"bra(?:\.uni)?\s+(\$\S+);", made)}
    loops = {m.group(1) for m in re.finditer(r"bra(?:\.uni)?\s+(\$\S+);", made) if labels[m.group(1)] < m.start()}
    marks = len(re.findall(r"fma\.rn\.f32\s+%f\d+, %f\d+, %f\d+, %f\d+;", made))
    return {"kind": kind, "body": body, "copies": marks / body, "loops": len(loops)}


def main():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(look, [(k, b) for k in KINDS for b in BODIES]):
            print(json.dumps(line))


if __name__ == "__main__":
    sys.exit(main())
