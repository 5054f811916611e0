#!/usr/bin/env python3
"""Asks ptxas how many registers a kernel gets by what it declares of its CTAs.

    bounds.py | gzip -9n > ../results/bounds-ptxas-13.0.jsonl.gz

Needs ptxas, and no GPU. Of each kernel of datasets/h200-*/kernels ("make data" first) the first four PTX by name (names
end in digests, so any four) that took more than 32 registers of those measured. Each line is one of them: registers by the
largest CTA declared (.maxntid, "none" for none), those that spill left out, and the same with
static shared memory made larger, to so many bytes and 1,024 for the system, where there is any.
"""
import collections
import concurrent.futures
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

DATASETS = pathlib.Path(__file__).resolve().parents[1] / "datasets"
THREADS = ["none", 32, 64, 128, 256, 512, 1024]
SHARED = [8192, 24576]
EACH = 4
DIRECTIVE = re.compile(r"\.(?:maxntid|reqntid|minnctapersm|maxnreg)\b[^\n]*\n")
ENTRY = re.compile(r"\.entry [^{]*?\)\n")
ARRAY = re.compile(r"(\.shared \.align \d+ \.b8 \S+?\[)(\d+)\]")


def sample():
    """Yields the name, text and static shared bytes of what is assembled."""
    for archive in sorted(DATASETS.glob("h200-*/ptx.*")):
        names = collections.defaultdict(set)
        with gzip.open(archive.parent / "timings.jsonl.gz", "rt") as records:
            for r in map(json.loads, records):
                if r["registers"] > 32 and not r["local_bytes"]:
                    names[r["kernel"]].add(r["ptx"])
        texts = unpacked(archive)
        for kernel in sorted(names):
            for name in sorted(names[kernel])[:EACH]:
                text = DIRECTIVE.sub("", texts[name + ".ptx"].decode())
                if len(ENTRY.findall(text)) == 1:
                    yield name, text, sum(int(n) for _, n in ARRAY.findall(text))


def unpacked(archive):
    """Returns the files of a .zip or .tar.zst by name (the latter by the zstd program)."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as z:
            return {name: z.read(name) for name in z.namelist()}
    plain = subprocess.run(["zstd", "-dc", "--long=27", archive], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(plain)) as t:
        return {m.name: t.extractfile(m).read() for m in t}


def registers(text):
    """Registers of a thread, None where ptxas spills or refuses."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(text)
        f.flush()
        p = subprocess.run(["ptxas", "-arch", "sm_90", "-v", f.name, "-o", os.devnull], capture_output=True, text=True)
    used, spilled = re.search(r"Used (\d+) registers", p.stderr), re.search(r"(\d+) bytes spill stores", p.stderr)
    if not used or not spilled or int(spilled[1]):
        return None
    return int(used[1])


def declared(text, threads):
    if threads == "none":
        return text
    end = ENTRY.search(text).end()
    return f"{text[:end]}.maxntid {threads}, 1, 1\n{text[end:]}"


def larger(text, total, size):
    m = ARRAY.search(text)
    return f"{text[:m.start()]}{m[1]}{int(m[2]) + (size - 1024 - total) // 16 * 16}]{text[m.end():]}"


def ask(item):
    name, text, shared = item
    out = {"ptx": name, "shared": shared, "registers": {t: registers(declared(text, t)) for t in THREADS}}
    for size in SHARED:
        if 0 < shared < size - 1024:
            more = larger(text, shared, size)
            out[f"registers_{size}"] = {t: registers(declared(more, t)) for t in ["none", 64, 256]}
    for k, v in out.items():
        if k.startswith("registers"):
            out[k] = {t: n for t, n in v.items() if n}
    return out


def main():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(ask, sample()):
            print(json.dumps(line))


if __name__ == "__main__":
    sys.exit(main())
