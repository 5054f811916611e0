#!/usr/bin/env bash
# Rewrites the tables of docs/FIDELITY.md, and of docs/SEARCH.md those of two levels: each stands between the lines
# "<!-- begin NAME -->" and "<!-- end NAME -->". Usage: docs/fidelity.sh WARPTUNE [SILICON]
# Tables whose measurements are missing (SILICON is not in the repository) are left as they are.
set -euo pipefail
warptune=$1
silicon=${2:-}
fidelity=$(dirname "$0")/FIDELITY.md
search=$(dirname "$0")/SEARCH.md
page=$fidelity
validation=$(dirname "$0")/../deploy/calibrate/validation

table() { # NAME COMMAND...
  local name=$1 text
  shift
  text=$(mktemp)
  echo "$name: warptune ${*}" >&2
  "$warptune" "$@" 2>/dev/null > "$text"
  awk -v name="$name" -v file="$text" '
    $0 == "<!-- begin " name " -->" { print; print ""; while ((getline line < file) > 0) print line; print ""; skip = 1; next }
    $0 == "<!-- end " name " -->" { skip = 0 }
    !skip { print }' "$page" > "$page.new"
  mv "$page.new" "$page"
  rm "$text"
}

for arch in h200 h100; do
  for level in cycle model; do
    table "validation-$arch-$level" fidelity --arch $arch --level $level --timings "$validation/$arch.jsonl.gz"
  done
done
for level in cycle model; do
  for batch in further third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth; do
    table "$batch-$level" fidelity --arch h200 --level $level --kernels "$validation/$batch/kernels" --ptx-dir "$validation/$batch/ptx.zip" --timings "$validation/$batch/h200.jsonl.gz"
  done
done
for batch in seventh eighth ninth tenth eleventh twelfth thirteenth; do
  table "$batch-counters" fidelity --arch h200 --kernels "$validation/$batch/kernels" --ptx-dir "$validation/$batch/ptx.zip" --timings "$validation/$batch/counters.jsonl.gz"
done
for batch in fourteenth fifteenth sixteenth seventeenth; do
  for level in cycle model; do
    table "$batch-$level" fidelity --arch h100 --level $level --kernels "$validation/$batch/kernels" --ptx-dir "$validation/$batch/ptx.zip" --timings "$validation/$batch/h100.jsonl.gz"
  done
  table $batch-counters fidelity --arch h100 --kernels "$validation/$batch/kernels" --ptx-dir "$validation/$batch/ptx.zip" --timings "$validation/$batch/counters.jsonl.gz"
done
page=$search
for arch in h200 h100; do
  table "levels-validation-$arch" fidelity --arch $arch --level model,cycle --slots 1 --timings "$validation/$arch.jsonl.gz"
done
page=$fidelity
if [ -n "$silicon" ] && [ -d "$silicon" ]; then
  for level in cycle model; do
    table "h200-$level" fidelity --arch h200 --level $level --timings "$silicon/h200/timings.jsonl.gz" --ptx-dir "$silicon/h200/ptx.zip"
  done
  table h200-clang fidelity --arch h200 --timings "$silicon/h200/timings-clang.jsonl.gz" --ptx-dir "$silicon/h200/ptx-clang.zip"
  page=$search
  table levels-h200 fidelity --arch h200 --level model,cycle --slots 1 --timings "$silicon/h200/timings.jsonl.gz" --ptx-dir "$silicon/h200/ptx.zip"
  page=$fidelity
  table h200-counters fidelity --arch h200 --timings "$silicon/h200/counters.jsonl.gz" --ptx-dir "$silicon/h200/ptx.zip"
else
  echo "no H200 data set at \"$silicon\": its tables are left as they are" >&2
fi
