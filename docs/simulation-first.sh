#!/usr/bin/env bash
# Rewrites the table of docs/search/simulation-first.md: predicts measured data sets whole, some six minutes of
# two cores, and compares measuring first what is predicted fastest with searching without predictions.
# Usage: docs/simulation-first.sh WARPTUNE SILICON HOPPER SPACES, with the folders of the measured records and of
# recorded spaces that are not in the repository; what is not there is left out.
set -euo pipefail
warptune=$1 silicon=$2 hopper=$3 spaces=$4
page=$(dirname "$0")/search/simulation-first.md
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for set in h200-built-in h100-built-in h200-2026-11-21-project-a; do
  nice -n 10 "$warptune" fidelity --dataset "$set" --predictions "$out/$set.jsonl" > /dev/null || echo "left out: $set" >&2
done
if [ -d "$silicon" ]; then
  nice -n 10 "$warptune" fidelity --arch h200 --timings "$silicon/h200/timings.jsonl.gz" --kernels "$silicon/kernels" --ptx-dir "$silicon/h200/ptx.zip" --predictions "$out/h200-development.jsonl" > /dev/null
fi
if [ -d "$hopper" ]; then
  nice -n 10 "$warptune" fidelity --arch h100 --timings "$hopper/h100/launches.jsonl.gz" --ptx-dir "$hopper/h100/ptx.zip" --predictions "$out/h100-hopper.jsonl" > /dev/null
fi
nice -n 10 "$warptune" replay --predicted --strategy portfolio,gaussian-process,random --seeds 5 "$out"/*.jsonl \
  --markdown "$page" --table predicted > /dev/null
pairs=("$spaces"/{convolution,gemm}-*.csv.gz)
if [ -d "$spaces" ]; then
  nice -n 10 "$warptune" replay --predicted --transfer "$(IFS=,; echo "${pairs[*]}")" --strategy portfolio,gaussian-process,random --seeds 10 "${pairs[@]}" \
    --markdown "$page" --table other-gpu > /dev/null
fi
