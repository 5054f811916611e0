package fidelity

import (
	"archive/zip"
	"os"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner/record"
)

// The share of profiled launches whose counters agree does not fall under what was
// reached, less a little.
func TestCounterFloors(t *testing.T) {
	const silicon = "../../../../shared/silicon/h200/"
	f, err := os.Open(silicon + "counters.jsonl.gz")
	if err != nil {
		t.Skipf("the H200 counters are not here: %v", err)
	}
	defer f.Close()
	recs, _, err := record.Read("counters", f)
	if err != nil {
		t.Fatal(err)
	}
	ptx, err := zip.OpenReader(silicon + "ptx.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer ptx.Close()
	batch := newBatch(t, "h200")
	batch.Level, batch.PTX = simengine.Cycle, ptx
	results, err := batch.Run(t.Context(), recs)
	if err != nil {
		t.Fatal(err)
	}
	r := Compare(recs, results, batch.Arch)
	within := map[string]float64{}
	for _, c := range r.Counters {
		within[c.Name] = c.Within.Value()
	}
	for name, floor := range map[string]float64{
		dramBytes:                                                  0.84,
		"dram__bytes_read.sum":                                     0.96,
		"dram__bytes_write.sum":                                    0.65,
		"lts__t_sector_hit_rate.pct":                               0.92,
		"lts__t_sectors_op_read.sum":                               0.81,
		"lts__t_sectors_op_read_lookup_hit.sum":                    0.62,
		"lts__t_sectors_op_write.sum":                              0.95,
		"l1tex__t_sector_hit_rate.pct":                             0.90,
		"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum":          1,
		"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum":          1,
		"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum":           1,
		"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum":           1,
		"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 0.69,
		"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": 0.68,
		"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum":           0.76,
		"smsp__inst_executed.sum":                                  0.84,
		"sm__warps_active.avg.pct_of_peak_sustained_active":        0.78,
	} {
		got, ok := within[name]
		t.Logf("%s: %.3f of the launches agree", name, got)
		if !ok || got < floor {
			t.Errorf("%s: %.3f of the launches agree, fewer than %.3f", name, got, floor)
		}
	}
	if r.TopStall.Value() < 0.82 {
		t.Errorf("the top stall reason is the same in %.3f of the launches, fewer than 0.82", r.TopStall.Value())
	}
}
