#!/usr/bin/awk -f
# join.awk RESULTS.jsonl NCU.csv - one line per profiled launch: the params of
# the line that the program printed for it, the value ncu gives. A line stands for
# one launch, of residency and streams for three, of which the last counts. In front of what is
# counted stands the name of the program and, of counted and crowded, that of the launch.
function counts(metric) {
  if (metric ~ /launch__shared_mem_config_size/) return "choice"
  if (metric ~ /dram__bytes_read.sum/) return "dram_read"
  if (metric ~ /dram__bytes_write.sum/) return "dram_written"
  if (metric ~ /lts__t_sectors_op_read.sum/) return "l2_reads"
  if (metric ~ /lts__t_sectors_op_read_lookup_hit.sum/) return "l2_hits"
  if (metric ~ /lts__t_sectors_srcunit_ltcfabric.sum/) return "l2_crossed"
  if (metric ~ /lts__t_sectors_srcunit_tex_op_read.sum/) return "l2_asked"
  if (metric ~ /l1tex__m_xbar2l1tex_read_sectors.sum/) return "l1_arrived"
  if (metric ~ /mem_global_op_ld_lookup_hit.sum/) return "l1_found"
  if (metric ~ /l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum/) return "l1_looked_up"
  if (metric ~ /l1tex__data_pipe_lsu_wavefronts.sum/) return "l1_wavefronts"
  if (metric ~ /data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum/) return "store_conflicts"
  return ""
}
FNR == NR {
  if (!match($0, /"params": \{[^}]*\}/)) next
  p = substr($0, RSTART, RLENGTH)
  if ($0 ~ /"(residency|streams).profiled"/) n += 2
  split($0, q, "\"")
  name = q[4]
  if (name !~ /^(counted|crowded)/) sub(/\..*/, "", name)
  program[n + 0] = name
  params[n++] = p
  next
}
{
  fields = split($0, f, "\",\"")
  what = counts($0)
  if (what == "") next
  id = f[1]; gsub(/"/, "", id)
  unit = f[fields - 1]; value = f[fields]; gsub(/[",]/, "", value)
  scale = unit ~ /^K/ ? 1000 : unit ~ /^M/ ? 1000000 : 1
  of = what ~ /choice|dram/ ? "bytes" : what ~ /^l2|^l1_(found|looked_up|arrived)/ ? "sectors" : "turns"
  if (id in params) printf "{\"name\": \"%s.%s\", %s, \"value\": %d, \"unit\": \"%s\"}\n", program[id], what, params[id], value * scale, of
}
