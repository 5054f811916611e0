#!/usr/bin/env bash
# The batch scripts on a real Slurm: one controller and two nodes on this
# machine, as an ordinary process tree under a temporary directory. A sweep is
# run with "scontrol requeue" in its middle, once as sweep.sbatch and once as
# an array that "warptune launch slurm" submits; both must export, byte for
# byte, what "warptune tune" finds in one process.
#
# Usage: deploy/slurm/test.sh [BIN], the directory of the programs; default: bin
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(realpath "${1:-bin}")
sweep=(sgemm --arch h200 --level cycle --budget 200 --strategy random) # long enough to be found in its middle

if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v sbatch >/dev/null; then
  command -v apt-get >/dev/null || { echo "slurm: neither slurmctld nor apt-get: skipped"; exit 0; }
  echo "slurm: installing Debian's packages"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client >/dev/null
fi

state=$(mktemp -d)
daemons=()
finish() {
  status=$?
  if [ "$status" -ne 0 ]; then tail -n 15 "$state"/out/* "$state"/data/*.log "$state"/log/*.err 2>/dev/null || true; fi
  [ "${#daemons[@]}" -eq 0 ] || kill "${daemons[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$state"
}
trap finish EXIT
die() { echo "slurm: FAILED: $*" >&2; exit 1; }

# until_true COMMAND… waits for a command to succeed, for as long as a machine may
# take that has much else to do.
until_true() {
  local end=$((SECONDS + 600))
  until "$@"; do [ "$SECONDS" -lt "$end" ] || return 1; sleep 0.2; done
}

echo "slurm: starting $(slurmctld -V) with two nodes"
mkdir -p "$state"/{run,state,log,out,spool-n1,spool-n2,bin}
taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
port=$((20000 + RANDOM % 10000))
while taken "$port" || taken $((port + 1)) || taken $((port + 2)); do port=$((20000 + RANDOM % 10000)); done
sed -e "s/@HOST@/$(hostname -s)/; s/@USER@/$(id -un)/; s#@STATE@#$state#; s/@PORT@/$port/; s/@PORT1@/$((port + 1))/; s/@PORT2@/$((port + 2))/" \
  deploy/slurm/slurm.conf.in >"$state/slurm.conf"
export SLURM_CONF=$state/slurm.conf
slurmctld -D 2>"$state/log/ctld.err" & daemons+=($!)
slurmd -D -N n1 2>"$state/log/n1.err" & daemons+=($!)
slurmd -D -N n2 2>"$state/log/n2.err" & daemons+=($!)
ready() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
until_true ready || { sinfo; die "the nodes did not come up"; }

echo "slurm: the undisturbed sweep, in one process"
"$bin/warptune" tune "${sweep[@]}" --db "$state/one/warptune.db" >"$state/out/tune"
"$bin/warptune" export --db "$state/one/warptune.db" --all --format json -o "$state/expected.json"

job_is() { # JOB STATE…
  local now; now=$(squeue -h -j "$1" -o %T 2>/dev/null) || return 1 # it did not answer
  now=$(sort -u <<<"$now" | paste -sd ' '); shift
  for want; do [ "$now" = "$want" ] || { [ "$want" = GONE ] && [ -z "$now" ]; } && return; done
  return 1
}
done_count() { # ADDRESS
  "$bin/warptune" sweep list --coordinator "$1" "${call[@]}" --json 2>/dev/null | sed -n 's/.*"done": *"\{0,1\}\([0-9]*\).*/\1/p' | head -n 1
}
done_at_least() { local n; n=$(done_count "$1") && [ "${n:-0}" -ge "$2" ]; }

# soon JOB lets a job that goes back to the queue start soon. Slurm holds it back
# for two minutes, the life of a job's credential. A node that ended a job takes
# no credential for it of the same second any more, and fails the job for good:
# hence not "now".
soon() {
  until_true job_is "$1" PENDING || { squeue; die "job $1 did not go back to the queue"; }
  scontrol update "JobId=$1" StartTime=now+2
}

no_lease_lost() { # LOG…
  if grep expired "$@"; then die "a lease had to expire, though every worker could return what it held"; fi
}

call=()
if command -v openssl >/dev/null; then # as it should be where other users are
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=coordinator -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$state/tls.key" -out "$state/tls.crt" 2>/dev/null
  openssl rand -hex 20 >"$state/token"
  echo "admin me $(cat "$state/token")" >"$state/tokens"
  chmod 600 "$state"/{tls.key,token,tokens}
  export WARPTUNE_SERVE="--tls-cert $state/tls.crt --tls-key $state/tls.key --token-file $state/tokens"
  call=(--tls-ca "$state/tls.crt" --token-file "$state/token")
  export WARPTUNE_CALL="${call[*]}"
fi

echo "slurm: sweep.sbatch${call:+, encrypted and by token}, requeued in its middle"
export WARPTUNE_BIN=$bin WARPTUNE_DATA=$state/data WARPTUNE_INTERFACE=127.0.0.1 WARPTUNE_OUTPUT=$state/table.json
job=$(sbatch --parsable --ntasks=3 --output="$state/out/sweep-%j" deploy/slurm/sweep.sbatch "${sweep[@]}")
log=$state/data/coordinator-$job-0.log
address() { address=$(sed -n 's/.*"address":"\([^"]*\)".*/\1/p' "$log" 2>/dev/null | head -n 1); [ -n "$address" ]; }
until_true address || die "the coordinator of job $job did not start"
until_true done_at_least "$address" 10 || die "job $job did not get on"
before=$(done_count "$address")
scontrol requeue "$job" # what a preemption does
soon "$job"
until_true test -e "$state/data/coordinator-$job-1.log" || die "job $job did not run again"
until_true job_is "$job" GONE || die "job $job did not end"
cmp "$state/expected.json" "$state/table.json" || die "the table differs after the requeue (it had $before results then)"
no_lease_lost "$state"/data/coordinator-*.log
echo "slurm: same table, byte for byte; requeued at $before results"

if [ "${#call[@]}" -gt 0 ] && grep -rqF "$(cat "$state/token")" "$state/data" "$state/out"; then die "the token is in a log or in the data"; fi
call=()

echo "slurm: an array by warptune launch, one task requeued, one out of time"
WARPTUNE_LOG=$state/out/coordinator
"$bin/coordinator" --listen 127.0.0.1:0 --data "$state/data2" --log-json 2>"$WARPTUNE_LOG" & daemons+=($!)
log=$WARPTUNE_LOG
until_true address || die "the coordinator did not start"
"$bin/warptune" sweep submit "${sweep[@]}" --coordinator "$address" >/dev/null
job=$("$bin/warptune" launch slurm --coordinator "$address" --workers 3 --slots 1 --lifetime 10m \
  --prologue "export PATH=$bin:\$PATH" --set "output=$state/out/array-%A_%a" | tail -n 1)
until_true job_is "$job" RUNNING || die "the array did not start"
until_true done_at_least "$address" 10 || die "the array did not get on"
scontrol requeue "${job}_1"
scancel --signal=TERM --batch "${job}_2" # what --signal=B:TERM does near the time limit
soon "${job}_1"
soon "${job}_2"
until_true job_is "$job" GONE || { squeue; die "the array did not end"; }
"$bin/warptune" export --coordinator "$address" --all --format json -o "$state/array.json"
cmp "$state/expected.json" "$state/array.json" || die "the array's table differs"
grep -q 'run 1' "$state/out/array-${job}_1" || die "the requeued task did not run again"
grep -q 'drained: back to the queue' "$state/out/array-${job}_2" || die "the task out of time did not drain"
no_lease_lost "$WARPTUNE_LOG"
echo "slurm: everything passed in ${SECONDS} s"
