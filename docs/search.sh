#!/usr/bin/env bash
# Rewrites the tables and plots of docs/search that are of recorded spaces, in about ten minutes of two cores.
# Usage: docs/search.sh WARPTUNE SPACES MEASURED, with a directory of recorded spaces and
# the records of the H200.
set -euo pipefail
warptune=$1
spaces=("$2"/*.csv.gz)
measured=$3
pages=$(dirname "$0")/search

table() { # PAGE NAME ARGUMENTS...
  local page=$pages/$1.md name=$2
  shift 2
  echo "$name: warptune replay ${*}" >&2
  nice -n 10 "$warptune" replay "$@" --markdown "$page" --table "$name" > /dev/null
}

echo "tables: every strategy" >&2
nice -n 10 "$warptune" replay "${spaces[@]}" "$measured" --strategy all --budget 400 --seeds 50 \
  --markdown "$pages/strategies.md" --plots "$pages" > /dev/null
table early beliefs "${spaces[@]}" --strategy portfolio --beliefs 10 --budget 120 --seeds 20
for share in 1% 0.1%; do
  table early "negligible-$share" "${spaces[@]}" --strategy portfolio --budget 400 --seeds 10 --negligible "$share"
done
for patience in 50 100; do
  table early "patience-$patience" "${spaces[@]}" --strategy portfolio --budget 400 --seeds 10 --patience "$patience"
done
large=("$2"/{convolution,gemm,pnpoly}-*.csv.gz)
for workers in 8 32; do
  table workers "workers-$workers" "${large[@]}" --strategy iterated,genetic,gaussian-process,portfolio --budget 200 --seeds 20 --delay $((workers - 1))
done
pairs=("$2"/{convolution,gemm}-*.csv.gz)
table transfer transfer "${pairs[@]}" --strategy random,iterated,portfolio --budget 200 --seeds 20 --transfer "$(IFS=,; echo "${pairs[*]}")"
