#!/bin/sh
# ptx.sh - make ptx/*.ptx.zst, the kernels that "warptune calibrate" loads by the driver, of the
# programs here: of each the entries named below, those that a descriptor's figures need.
#
#   ./ptx.sh        needs nvcc (13.0 and later) and zstd; commit what it writes
#
# The code is generic, so .version and .target are lowered to what it needs: drivers older than
# nvcc, and GPUs from Volta on, load it.
set -eu
cd "$(dirname "$0")"
[ -f latency.cu ] || { echo "ptx.sh: the programs are in the repository's history; \"make data\" brings them" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p ptx

# make PROGRAM COMPILED TARGET VERSION ENTRIES: nvcc compiles for COMPILED, its oldest.
make() {
  nvcc -O3 -std=c++17 -arch="compute_$2" -ptx -o "$work/$1.ptx" "$1.cu"
  awk -v keep="^_Z($5)" -v target="sm_$3" -v version="$4" '
    /^\.version/ { print ".version " version; next }
    /^\.target/ { print ".target " target; next }
    /^\/\// || /^[ \t]*\/\/ / || /^$/ { next }
    /^\.visible \.entry/ { name = $3; sub(/\(.*/, "", name); skip = name !~ keep }
    !skip { print }
    /^}/ { skip = 0 }' "$work/$1.ptx" | zstd -q --ultra -22 >"ptx/$1.ptx.zst"
}
make latency 75 70 7.0 '.*'
make pipes 75 70 7.0 '4pipeILi(0|4|5|6|9|15|16|18|19|20|24|45)E'
make wavefronts 75 70 7.0 '4passILi(0|4|7)E|9constants'
make bandwidth 75 70 7.0 '10readShared|7batched|6streamILi(1|0)ELi(1|0)E|8inFlight'
make launch 75 70 7.0 '4spin|4hold|5empty|8storeOne|7atomicsILb0E|4bodyILi(256|1024|2048|4096|8192|16384)E'
make atomics 75 70 7.0 '4meetILi(0|1)E'
make registers 75 70 7.0 '4rateILi3E'
make queues 75 70 7.0 '4fillILi(0|2)E'
make meetings 75 70 7.0 '3addILi0ELb0E'
make waits 75 70 7.0 '5waitsIjLi1E'
make slots 75 70 7.0 '3mixILi(0|1|4|6|7|8|9)ELi20E'
make reds 75 70 7.0 '7scatterILb0E'
make rows 75 70 7.0 '6piecesILi0E|7stridedILi0E'
make merged 75 70 7.0 '4read'
make tensor 80 80 7.0 '8productsI(6F16K16|6F32K16|5F32K8|5F64K4)Li8ELi0E|8productsI(6F32K16|5F32K8|5F64K4)Li1ELi0E|8productsI6F32K16Li8ELi2ELi[28]E'
