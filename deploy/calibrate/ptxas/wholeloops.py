#!/usr/bin/env python3
"""Bisects how many iterations a loop of a known number may have for nvcc, or clang, to unroll it whole in PTX.

    wholeloops.py nvcc | gzip -9n > ../results/wholeloops-nvcc-13.0.jsonl.gz
    wholeloops.py clang++-19 [OPTION]...

Needs the compiler, and no GPU; with clang the device headers in tuner/kernel/compile/device. Each line
is a loop inside another of run-time length: "array" adds to the words of a private array, "plain" to
one variable, "shared" to one what it loads of shared memory; with so many multiply-adds in its body.
Of "most" iterations all multiply-adds are written out, of one more they are not ("loops", "local": what
there is then). Between powers of two the bisection takes for granted that it changes once.
"""
import concurrent.futures
import json
import os
import re
import sys

import frontends

KERNEL = """extern "C" __global__ void k(float *out, const float *in, int m, float y, float s0, float s1, float s2, float s3) {{
  {before}
  for (int i = 0; i < m; ++i) {{
    float v = in[i];
    for (int k = 0; k < {n}; ++k) {{ float t = v + {term}; {body} {to} += t; }}
  }}
  {after}
}}
"""
SUM = {"before": "float c = 0;", "term": "k", "to": "c", "after": "out[threadIdx.x] = c;"}
KINDS = {
    "array": {"before": "float a[{n}]; for (int k = 0; k < {n}; ++k) a[k] = 0;", "term": "k", "to": "a[k]",
              "after": "for (int k = 0; k < {n}; ++k) out[threadIdx.x + k * m] = a[k];"},
    "plain": SUM,
    "shared": SUM | {"before": "__shared__ float w[1024]; w[threadIdx.x] = in[threadIdx.x]; __syncthreads(); float c = 0;",
                     "term": "w[k * 4 + threadIdx.x]"},
}
BODIES = [1, 2, 4, 8, 16, 32, 64]
MOST = 512


def look(kind, n, body):
    parts = {k: v.format(n=n) for k, v in KINDS[kind].items()}
    text = frontends.ptx(sys.argv[1], sys.argv[2:], KERNEL.format(n=n, body=" ".join(f"t = t * y + s{j % 4};" for j in range(body)), **parts))
    count = len(re.findall(r"\b(?:fma\.rn|mul|add)(?:\.rn)?\.f32", text))
    return {"whole": count >= n * body, "loops": len(set(re.findall(r"bra(?:\.uni)?\s+(\$\S+);", text))), "local": ".local" in text}


def bisect(job):
    kind, body = job
    least, above = 1, MOST
    while above - least > 1:
        n = (least + above) // 2
        if look(kind, n, body)["whole"]:
            least = n
        else:
            above = n
    beyond = look(kind, above, body)
    return {"kind": kind, "body": body, "most": least, "loops": beyond["loops"], "local": beyond["local"]}


def main():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(bisect, [(k, b) for k in KINDS for b in BODIES]):
            print(json.dumps(line))


if __name__ == "__main__":
    sys.exit(main())
