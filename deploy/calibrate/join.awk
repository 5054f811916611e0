#!/usr/bin/awk -f
# join.awk OCCUPANCY.jsonl NCU.csv - one carveout.choice line per launch: the
# params of the occupancy line, the value ncu gives for that launch.
FNR == NR {
  if (match($0, /"params": \{[^}]*\}/)) params[n++] = substr($0, RSTART, RLENGTH)
  next
}
/launch__shared_mem_config_size/ {
  fields = split($0, f, "\",\"")
  id = f[1]; gsub(/"/, "", id)
  unit = f[fields - 1]; value = f[fields]; gsub(/[",]/, "", value)
  scale = unit ~ /^K/ ? 1000 : unit ~ /^M/ ? 1000000 : 1
  if (id in params) printf "{\"name\": \"carveout.choice\", %s, \"value\": %d, \"unit\": \"bytes\"}\n", params[id], value * scale
}
