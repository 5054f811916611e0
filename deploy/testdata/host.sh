# A worker on this host for the coordinator at login1:7070. It outlives the
# connection; a fault starts it again, at most 20 times.
log='/var/tmp/my worker.log'
nohup sh -c '
  for run in $(seq 0 20); do
    "$@" & worker=$!
    trap "kill -TERM $worker" TERM # drains it
    wait $worker; status=$?
    while kill -0 $worker 2>/dev/null; do wait $worker; status=$?; done
    case $status in 0|64|75) exit $status;; esac
    sleep 1
  done
  exit $status' warptune-worker worker --coordinator login1:7070 --slots 2 </dev/null >>"$log" 2>&1 &
echo "started on $(hostname): process $!, log $log"
