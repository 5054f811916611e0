"""Prints, as JSON, what Triton's autotuner takes for the launches of examples/matmul.py without timing anything: from a
table that warptune exported, and the same from the autotuner's cache on disk. python takes.py TABLE ARCH."""
import json
import os
import runpy
import subprocess
import sys

import triton

import warptune_triton as wt


def timed(*args, **options):
    raise SystemExit("a configuration is timed")


def taken(install):
    """The parameters that the autotuner takes for each launch."""
    triton.runtime.driver.set_active(wt.Driver(wt.Architecture(sys.argv[2])))
    import matmul
    matmul.matmul.do_bench = timed
    install(matmul.matmul)
    out = []
    for size in ((1024, 1024, 512), (256, 2048, 1024)):
        matmul.launch(*size)
        config = matmul.matmul.best_config
        out.append({**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages})
    return json.dumps(out)


def main():
    if os.environ.get("TRITON_CACHE_AUTOTUNING"):
        print(taken(lambda tuner: None))
        return
    table = runpy.run_path(sys.argv[1])
    found = taken(lambda tuner: table["install"](tuner, sys.argv[2]))
    if hasattr(triton.runtime.autotuner.Autotuner, "check_disk_cache"):
        cached = [sys.executable, "-m", "warptune_triton", "cache", sys.argv[1], "examples/matmul.py", "--arch", sys.argv[2]]
        subprocess.run(cached, check=True, stdout=sys.stderr)
        again = subprocess.run([sys.executable, *sys.argv], check=True, text=True, stdout=subprocess.PIPE,
                               env={**os.environ, "TRITON_CACHE_AUTOTUNING": "1"}).stdout
        assert again.strip() == found, again
    print(found)


if __name__ == "__main__":
    main()
