#!/usr/bin/env bash
# Rewrites the table of docs/search/kernel-tuner.md.
# Usage: docs/kernel-tuner.sh PYTHON WARPTUNE SEEDS SPACE.csv.gz..., with a Python that has kernel_tuner.
set -euo pipefail
python=$1 warptune=$2 seeds=$3
shift 3
here=$(dirname "$0")
page=$here/search/kernel-tuner.md
new=$(mktemp)
trap 'rm -f "$new"' EXIT
{
  sed '/^<!-- tables: /q' "$page"
  echo
  nice -n 10 "$python" "$here/kernel-tuner.py" --seeds "$seeds" --warptune "$warptune" "$@"
  echo
  sed -n '/^<!-- end of tables/,$p' "$page"
} > "$new"
cp "$new" "$page"
