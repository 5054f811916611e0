#!/usr/bin/awk -f
# join.awk RESULTS.jsonl NCU.csv - one line per profiled launch: the params of
# the line that the program printed for it, the value ncu gives. A carve-out line
# stands for one launch; a residency line for three, of which the last counts.
function names(metric) {
  if (metric ~ /launch__shared_mem_config_size/) return "carveout.choice"
  if (metric ~ /dram__bytes_read.sum/) return "residency.dram_read"
  if (metric ~ /dram__bytes_write.sum/) return "residency.dram_written"
  return ""
}
FNR == NR {
  if (!match($0, /"params": \{[^}]*\}/)) next
  p = substr($0, RSTART, RLENGTH)
  if ($0 ~ /"residency.profiled"/) n += 2
  params[n++] = p
  next
}
{
  fields = split($0, f, "\",\"")
  name = names($0)
  if (name == "") next
  id = f[1]; gsub(/"/, "", id)
  unit = f[fields - 1]; value = f[fields]; gsub(/[",]/, "", value)
  scale = unit ~ /^K/ ? 1000 : unit ~ /^M/ ? 1000000 : 1
  if (id in params) printf "{\"name\": \"%s\", %s, \"value\": %d, \"unit\": \"bytes\"}\n", name, params[id], value * scale
}
