#!/usr/bin/env python3
"""Assembles and times the jobs that `go run ./deploy/calibrate/measure` wrote.

    measure.py JOBS OUTPUT.jsonl [COUNTERS.jsonl [EACH]]

COUNTERS.jsonl is what Nsight Compute counts of each EACH-th job (2 unless said).
Needs nvcc and ptxas (CUDA 13 was used) and a GPU of compute capability 9.0, for counters ncu. A
time is the median of 7 batches of back-to-back launches between two events,
after warm-up, clocks left alone; registers and local bytes are the driver's.
"""
import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ARCH = "sm_90"
TYPES = {"float": "f", "int32": "i", "uint32": "i", "uint8": "b", "double": "d", "half": "h", "int64": "l", "uint64": "l"}

STALLS = ("barrier dispatch_stall lg_throttle long_scoreboard math_pipe_throttle mio_throttle "
          "no_instruction short_scoreboard wait").split()
METRICS = """dram__bytes_read.sum dram__bytes_write.sum gpu__time_duration.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum l1tex__data_pipe_lsu_wavefronts.sum l1tex__lsuin_requests.sum
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
lts__t_sectors_op_atom.sum lts__t_sectors_op_read.sum lts__t_sectors_op_read_lookup_hit.sum lts__t_sectors_op_red.sum
lts__t_sectors_op_write.sum sm__cycles_elapsed.max sm__cycles_elapsed.sum sm__inst_executed_pipe_alu.sum
sm__inst_executed_pipe_fma.sum sm__inst_executed_pipe_lsu.sum sm__inst_executed_pipe_xu.sum smsp__inst_executed.sum
sm__warps_active.avg.pct_of_peak_sustained_active""".split() + [
    f"smsp__average_warps_issue_stalled_{s}_per_issue_active.ratio" for s in STALLS]


def assemble(jobs, work, key):
    stem, cap = key
    cubin = f"{work}/{stem}-{cap}.cubin"
    command = ["ptxas", f"-arch={ARCH}", f"{jobs}/ptx/{stem}.ptx", "-o", cubin]
    if cap:
        command.append(f"-maxrregcount={cap}")
    subprocess.run(command, check=True)


def argument(a, jobs):
    if a["scalar"]:
        return f"s {TYPES.get(a['type'], 'i')} {a['bits']}"
    kind = "c" if a["constant"] else "b"
    file = f" {jobs}/{a['data']}" if a["data"] else ""
    return f"{kind} {TYPES[a['type']]} {a['count']} {2 if file else int(a['random'])} {a['value']} {a['name']}{file}"


def count(work, records, each, output):
    """Writes what Nsight Compute counts of each each-th job that was timed."""
    lines = [line for line in open(f"{work}/jobs.txt") if int(line.split()[0]) in records][::each]
    with open(f"{work}/count.txt", "w") as f:
        f.writelines(lines)
    ncu = ["ncu", "--csv", "--print-units", "base", "--profile-from-start", "off", "--cache-control", "none",
           "--clock-control", "none", "--metrics", ",".join(METRICS), f"{work}/measure", f"{work}/count.txt", "count"]
    text = subprocess.run(ncu, capture_output=True, text=True).stdout.splitlines()
    done = [int(line.split()[0]) for line in text if line.endswith(" ok")]
    counters = {}
    for row in csv.DictReader(line for line in text if line.startswith('"')):
        value = float(row["Metric Value"].replace(",", "")) if row["Metric Value"] not in ("", "n/a") else 0.0
        counters.setdefault(int(row["ID"]), {})[row["Metric Name"]] = {"value": value, "unit": row["Metric Unit"]}
    with open(output, "w") as f:
        for job, c in zip(done, (counters[k] for k in sorted(counters))):
            r = {k: v for k, v in records[job].items() if k != "time_us"}
            f.write(json.dumps(r | {"counters": c}) + "\n")
    print(f"{len(counters)} of {len(lines)} configurations counted")


def main(jobs_dir, output, counters=None, each="2"):
    jobs = [json.loads(line) for line in open(f"{jobs_dir}/jobs.jsonl")]
    work = f"{jobs_dir}/work"
    os.makedirs(work, exist_ok=True)
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["nvcc", "-O2", f"-arch={ARCH}", "-o", f"{work}/measure", f"{here}/measure.cu", "-lcuda"], check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda key: assemble(jobs_dir, work, key), sorted({(j["ptx"], j["max_registers"]) for j in jobs})))
    # Jobs with the same arguments follow each other, so that buffers are filled once.
    order = sorted(range(len(jobs)), key=lambda i: (json.dumps(jobs[i]["arguments"]), i))
    with open(f"{work}/jobs.txt", "w") as f:
        for i in order:
            j = jobs[i]
            args = [argument(a, jobs_dir) for a in j["arguments"]]
            print(i, f"{work}/{j['ptx']}-{j['max_registers']}.cubin", j["entry"], *j["grid"], *j["block"],
                  j["dynamic_smem"], j["carveout"], len(args), *args, file=f)
    text = subprocess.run([f"{work}/measure", f"{work}/jobs.txt"], capture_output=True, text=True).stdout
    records = {}
    for line in text.splitlines():
        word = line.split()
        if word[1] == "fail":
            print(f"{jobs[int(word[0])]['params']}: {line}")
            continue
        j = jobs[int(word[0])]
        record = {k: j[k] for k in ("kernel", "group", "problem_size", "params", "ptx")}
        record |= {"registers": int(word[5]), "local_bytes": int(word[6]), "static_smem": int(word[7]),
                   "dynamic_smem": j["dynamic_smem"], "block": j["block"], "grid": j["grid"],
                   "time_us": {"median": float(word[1]), "min": float(word[2]), "max": float(word[3]),
                               "reps": 7, "launches": int(word[4])}}
        records[int(word[0])] = record
    with open(output, "w") as f:
        for i in sorted(records):
            f.write(json.dumps(records[i]) + "\n")
    print(f"{len(records)} of {len(jobs)} configurations measured")
    if counters:
        count(work, records, int(each), counters)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
