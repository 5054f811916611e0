"""Runs strategies of Kernel Tuner in its simulation mode on recorded spaces, and warptune's beside them, and prints
a row a space and strategy: the time of the best after so many evaluations over the optimum, the mean over seeds.

Usage: kernel-tuner.py [--seeds K] [--strategies NAMES] [--warptune PROGRAM] SPACE.csv.gz...

An evaluation is a configuration that is looked up for the first time, failed ones included, as warptune replay
counts. Configurations that are not recorded do not exist: the space is the list of those that are. A strategy
that ends sooner keeps its best.
"""
import argparse, contextlib, csv, gzip, io, itertools, json, os, random, subprocess, tempfile, warnings

from importlib import metadata

import numpy
from kernel_tuner import interface
from kernel_tuner.searchspace import Searchspace
from kernel_tuner.runners.simulation import SimulationRunner

MARKS = [10, 25, 50, 100]
STRATEGIES = [
    "random_sample", "greedy_ils", "genetic_algorithm", "pso", "diff_evo", "simulated_annealing", "firefly_algorithm",
    "hybrid_vndx", "adaptive_tabu_greywolf", "bayes_opt",
]
OURS = ["portfolio", "gaussian-process"]


def number(text):
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def read(path):
    """Returns the names of the parameters and the time of each configuration; None: it failed."""
    with gzip.open(path, "rt") as f:
        rows = list(csv.reader(f))
    at = rows[0].index("status")
    return rows[0][:at], {tuple(map(number, r[:at])): float(r[at + 1]) if r[at] == "ok" else None for r in rows[1:]}


def cache(names, times):
    """Returns a space as Kernel Tuner's cache."""
    values = {n: sorted({c[k] for c in times}, key=lambda v: (isinstance(v, str), v)) for k, n in enumerate(names)}
    entries = {}
    for c, t in times.items():
        zero = dict.fromkeys(("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"), 0)
        answer = {"time": t, "times": [t]} if t else {"time": "RuntimeFailedConfig", "__error__": "RuntimeFailedConfig"}
        entries[",".join(map(str, c))] = dict(zip(names, c)) | zero | answer
    return {"device_name": "recorded", "kernel_name": "k", "problem_size": 1, "tune_params_keys": names, "tune_params": values, "objective": "time", "cache": entries}


class Order(set):
    """The configurations looked up, in order."""

    def __init__(self):
        super().__init__()
        self.order = []

    def add(self, key):
        if key not in self:
            self.order.append(key)
        super().add(key)


def run(space, path, strategy, seed, budget):
    """Returns the configurations that a strategy looks up, in order."""
    random.seed(seed)
    numpy.random.seed(seed)
    names, listed = space["tune_params_keys"], space["cache"]
    exists = lambda *p, **q: ",".join(str(dict(*p, **q)[n]) for n in names) in listed
    looked, plain = Order(), SimulationRunner.__init__

    def begin(self, *a, **k):
        plain(self, *a, **k)
        self.visited_results = looked

    def searchspace(*_, **__):
        s = Searchspace(None, None, None, from_cache=space)
        s.restrictions = s._modified_restrictions = exists
        return s

    SimulationRunner.__init__, interface.Searchspace = begin, searchspace
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            interface.tune_kernel("k", "__global__ void k() {}", 1, [], dict(space["tune_params"]), lang="CUDA", cache=path, simulation_mode=True,
                                  strategy=strategy, strategy_options={"max_fevals": budget}, verbose=False, quiet=True)
    finally:
        SimulationRunner.__init__, interface.Searchspace = plain, Searchspace
    return looked.order[:budget]


def ratios(space, file, times, strategy, seeds):
    """Returns the best over the optimum after each evaluation, the mean over seeds."""
    valid = [t for t in times.values() if t]
    time_of = {",".join(map(str, c)): t or max(valid) for c, t in times.items()}
    sums = [0.0] * MARKS[-1]
    for seed in range(seeds):
        best = list(itertools.accumulate((time_of[k] for k in run(space, file, strategy, seed, MARKS[-1])), min))
        for i in range(MARKS[-1]):
            sums[i] += best[min(i, len(best) - 1)] / min(valid) / seeds
    return sums


def row(space, strategy, curve):
    print(f"| {space} | {strategy} | " + " | ".join(f"{curve[min(m, len(curve)) - 1]:.3f}" for m in MARKS) + " |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seeds", type=int, default=10)
    p.add_argument("--strategies", default=",".join(STRATEGIES))
    p.add_argument("--warptune")
    p.add_argument("spaces", nargs="+")
    a = p.parse_args()
    print(f"Kernel Tuner {metadata.version('kernel_tuner')}, {a.seeds} seeds each.\n")
    print("| space | strategy |" + "".join(f" @{m} |" for m in MARKS))
    print("|---|---|" + "--:|" * len(MARKS))
    for path in a.spaces:
        name = os.path.basename(path).removesuffix(".csv.gz")
        names, times = read(path)
        space = cache(names, times)
        if a.warptune:
            told = subprocess.run([a.warptune, "replay", path, "--strategy", ",".join(OURS), "--budget", str(MARKS[-1]), "--seeds", str(a.seeds), "--json"],
                                  check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            for score in json.loads(told):
                row(name, f"**{score['strategy']}**", score["curve"])
        with tempfile.TemporaryDirectory() as d:
            file = os.path.join(d, "cache.json")
            with open(file, "w") as f:
                json.dump(space, f)
            for strategy in a.strategies.split(","):
                try:
                    row(name, strategy, ratios(space, file, times, strategy, a.seeds))
                except Exception as e:  # named in the table: a strategy may want a package that is not here
                    print(f"| {name} | {strategy}: {type(e).__name__}: {str(e)[:80]} |" + " - |" * len(MARKS), flush=True)


if __name__ == "__main__":
    main()
