#!/bin/sh
# run.sh - build and run the microbenchmarks on GPU 0 of this machine.
#
#   ./run.sh [OUT.jsonl]        default: ../results/<GPU name>.jsonl; the repository keeps them by gzip -9n
#
# Needs nvcc and a GPU that nothing else uses; takes about a minute, with ncu some three. With ncu
# (Nsight Compute) on the path and counters allowed it also records the carve-out
# the driver picks, what L1 keeps, what a launch leaves in L2 and what some counters count. Each line of the output is
#   {"name": ..., "params": {...}, "value": ..., "unit": ...}
set -eu
cd "$(dirname "$0")"
[ -f asyncs.cu ] || { echo "run.sh: the programs are in the repository's history; \"make data\" brings them" >&2; exit 1; }
name=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 | tr 'A-Z ' 'a-z-' | sed 's/^nvidia-//')
out=${1:-../results/$name.jsonl}
build=${BUILD:-$(mktemp -d)}
arch=${ARCH:-native}
failed=0
programs="latency pipes wavefronts bandwidth launch atomics registers rows queues residency meetings scatter waits together constants stores slots kept reds halves tensor inplace matches yields asyncs merged streams gridsync"

for p in $programs carveout counted crowded; do
  nvcc -O3 -std=c++17 -arch="$arch" -o "$build/$p" "$p.cu" &
done
wait

: >"$out"
echo "{\"name\": \"device.name\", \"params\": {\"gpu\": \"$name\", \"driver\": \"$(nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0)\", \"nvcc\": \"$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')\"}, \"value\": 1, \"unit\": \"flag\"}" >>"$out"
for p in $programs; do
  echo "$p" >&2
  "$build/$p" >>"$out" || { echo "$p failed; its remaining results are missing" >&2; failed=1; }
done

# profile PROGRAM ARGUMENT METRICS: values of counters, joined with what the program
# prints by the number of the launch. CSV rows of ncu come in launch order: id, ..., value last.
profile() {
  echo "$1 under ncu" >&2
  "$build/$1" $2 >"$build/$1.jsonl"
  if ncu --csv --clock-control none --cache-control none --print-units base --metrics "$3" \
    "$build/$1" $2 >"$build/$1.csv" 2>"$build/$1.err"; then
    ./join.awk "$build/$1.jsonl" "$build/$1.csv" >>"$out"
  else
    echo "ncu could not read $3; these results are missing" >&2
  fi
}
if command -v ncu >/dev/null 2>&1; then
  profile carveout "" launch__shared_mem_config_size
  cat "$build/carveout.jsonl" >>"$out"
  profile crowded "" l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum,lts__t_sectors_op_read.sum,l1tex__data_pipe_lsu_wavefronts.sum,launch__shared_mem_config_size
  cat "$build/crowded.jsonl" >>"$out"
  profile asyncs "" l1tex__m_xbar2l1tex_read_sectors.sum
  profile merged "" lts__t_sectors_srcunit_tex_op_read.sum
  profile streams "" dram__bytes_read.sum,dram__bytes_write.sum
  profile residency profiled dram__bytes_read.sum,dram__bytes_write.sum
  profile counted "" dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_read_lookup_hit.sum,lts__t_sectors_srcunit_ltcfabric.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
fi
echo "wrote $out" >&2
exit $failed
