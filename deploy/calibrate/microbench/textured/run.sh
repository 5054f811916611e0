#!/bin/sh
# run.sh - the microbenchmarks of textures and managed memory, and times of the kernels beside it, on GPU 0.
#
#   ./run.sh [OUT.jsonl]        about a minute; programs that are in $BUILD are not built again
set -eu
cd "$(dirname "$0")"
out=${1:-/dev/stdout}
build=${BUILD:-$(mktemp -d)}
[ -x "$build/textures" ] || nvcc -O3 -std=c++17 -arch="${ARCH:-native}" -o "$build/textures" ../textures.cu
[ -x "$build/managed" ] || nvcc -O3 -std=c++17 -arch="${ARCH:-native}" -o "$build/managed" ../managed.cu
[ -x "$build/time" ] || nvcc -O3 -std=c++17 -arch="${ARCH:-native}" -I.. -o "$build/time" time.cu
: >"$out"
echo "{\"name\": \"device.name\", \"params\": {\"gpu\": \"$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0)\", \"driver\": \"$(nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0)\", \"clock\": \"$(nvidia-smi --query-gpu=clocks.max.sm --format=csv,noheader -i 0)\"}, \"value\": 1, \"unit\": \"flag\"}" >>"$out"
for p in time textures managed; do
  "$build/$p" >>"$out" || echo "$p failed; its remaining results are missing" >&2
done
