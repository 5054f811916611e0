#!/bin/sh
# run.sh - build and run the microbenchmarks on GPU 0 of this machine.
#
#   ./run.sh [OUT.jsonl]        default: results/<GPU name>.jsonl
#
# Needs nvcc and a GPU that nothing else uses; takes two to three minutes. With
# ncu (Nsight Compute) on the path and counters allowed it also records the
# carve-out the driver picks. Each line of the output is
#   {"name": ..., "params": {...}, "value": ..., "unit": ...}
set -eu
cd "$(dirname "$0")"
name=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 | tr 'A-Z ' 'a-z-' | sed 's/^nvidia-//')
out=${1:-results/$name.jsonl}
build=${BUILD:-$(mktemp -d)}
arch=${ARCH:-native}
failed=0
programs="latency pipes wavefronts bandwidth launch atomics"

for p in $programs carveout; do
  nvcc -O3 -std=c++17 -arch="$arch" -o "$build/$p" "$p.cu" &
done
wait

: >"$out"
echo "{\"name\": \"device.name\", \"params\": {\"gpu\": \"$name\", \"driver\": \"$(nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0)\", \"nvcc\": \"$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')\"}, \"value\": 1, \"unit\": \"flag\"}" >>"$out"
for p in $programs; do
  echo "$p" >&2
  "$build/$p" >>"$out" || { echo "$p failed; its remaining results are missing" >&2; failed=1; }
done

if command -v ncu >/dev/null 2>&1; then
  echo carveout >&2
  "$build/carveout" >"$build/occupancy.jsonl"
  cat "$build/occupancy.jsonl" >>"$out"
  # CSV rows in launch order: id, ..., metric value last. The two sizes are joined by the launch number.
  if ncu --csv --clock-control none --cache-control none --print-units base --metrics launch__shared_mem_config_size \
    "$build/carveout" >"$build/ncu.csv" 2>"$build/ncu.err"; then
    ./join.awk "$build/occupancy.jsonl" "$build/ncu.csv" >>"$out"
  else
    echo "ncu could not read the launch metrics; the driver's carve-out choice is not recorded" >&2
  fi
fi
echo "wrote $out" >&2
exit $failed
