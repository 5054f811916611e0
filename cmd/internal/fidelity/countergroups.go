package fidelity

import (
	"fmt"
	"io"
	"math"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/tuner/record"
	"github.com/warptune/warptune/tuner/score"
)

// A goal says how near what a report says must come to some counters together.
type goal struct {
	title string
	// error compares what was measured with the report's metrics: 0 is equal, 1 at the tolerance. known is false where
	// a counter is missing.
	error func(measured, ours map[string]float64) (e float64, known bool)
}

// Names of Nsight Compute's.
const (
	l2Reads, l2Writes    = "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"
	tensorPipe           = "sm__inst_executed_pipe_tensor.sum"
	packedHalves         = "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"
	loadConflicts        = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
	storeConflicts       = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
	sharedWavefronts     = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
	conflictsOfWavefront = 0.01
)

// goals are the counters that a report is held to. Multiply-adds of packed halves run in the tensor pipe, with which
// ptxas also sets registers to constants; they are no matrix products and are taken off. Where they were not counted,
// nothing is known of launches without matrix products. Requests that have no bank
// conflicts show some all the same, of data that arrives meanwhile: conflicts below a hundredth of the wavefronts of
// shared memory count as that many.
var goals = []goal{
	{"DRAM bytes 10 %", func(m, o map[string]float64) (float64, bool) { return relative(m, o, 0.10, atLeast, dramBytes) }},
	{"L2 sectors 10 %", func(m, o map[string]float64) (float64, bool) {
		return relative(m, o, 0.10, atLeast, l2Reads, l2Writes)
	}},
	{"tensor exact", func(m, o map[string]float64) (float64, bool) {
		if !counts(m, tensorPipe) || !counts(o, tensorPipe) || !counts(m, packedHalves) && o[tensorPipe] == 0 {
			return 0, false
		}
		if m[tensorPipe]-m[packedHalves] == math.Round(o[tensorPipe]) {
			return 0, true
		}
		return math.Inf(1), true
	}},
	{"conflicts 5 %", func(m, o map[string]float64) (float64, bool) {
		return relative(m, o, 0.05, max(atLeast, conflictsOfWavefront*m[sharedWavefronts]), loadConflicts, storeConflicts)
	}},
	{"top stall", func(m, o map[string]float64) (float64, bool) {
		same, known := topStall(m, o)
		if same {
			return 0, known
		}
		return math.Inf(1), known
	}},
}

func counts(of map[string]float64, name string) bool {
	_, ok := of[name]
	return ok
}

// relative is the relative error of the sum of some counters, in tolerances. Sums below least count as that.
func relative(measured, ours map[string]float64, tolerance, least float64, names ...string) (e float64, known bool) {
	var m, o float64
	for _, name := range names {
		v, ok := simulated(name, ours)
		if !counts(measured, name) || !ok {
			return 0, false
		}
		m, o = m+measured[name], o+v
	}
	if m < least && o < least {
		return 0, true
	}
	return math.Abs(o-m) / max(m, least) / tolerance, true
}

// CounterGroup is how many of a group's profiled configurations are within each goal.
type CounterGroup struct {
	Name    string        `json:"name"`
	Configs int           `json:"configs"`
	Within  []score.Share `json:"within"` // by goal
}

// compareGroups counts by group, in order of first appearance, and last over all.
func compareGroups(records []record.Record, results []evaluate.Result) []CounterGroup {
	all := CounterGroup{Name: "all", Within: make([]score.Share, len(goals))}
	index := map[string]int{}
	var out []CounterGroup
	for i := range records {
		if results[i].Profiled == nil {
			continue
		}
		key := records[i].GroupKey()
		if _, ok := index[key]; !ok {
			index[key] = len(out)
			out = append(out, CounterGroup{Name: key, Within: make([]score.Share, len(goals))})
		}
		g := &out[index[key]]
		g.Configs++
		all.Configs++
		measured := counted(&records[i])
		for k := range goals {
			if e, known := goals[k].error(measured, results[i].Profiled.Metrics); known {
				g.Within[k].Add(e <= 1)
				all.Within[k].Add(e <= 1)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, all)
}

func printCounterGroups(w io.Writer, groups []CounterGroup) {
	if len(groups) == 0 {
		return
	}
	head := []string{"within", "configs"}
	for _, b := range goals {
		head = append(head, b.title)
	}
	t := markdown{head}
	for _, g := range groups {
		row := []string{g.Name, fmt.Sprint(g.Configs)}
		for _, s := range g.Within {
			switch {
			case s.Of == 0:
				row = append(row, "")
			case g.Name == "all":
				row = append(row, fmt.Sprintf("%.0f %% of %d", 100*s.Value(), s.Of))
			default:
				row = append(row, fmt.Sprintf("%d of %d", s.Agree, s.Of))
			}
		}
		t = append(t, row)
	}
	t.print(w)
}
