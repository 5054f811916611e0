package fidelity

import (
	"maps"
	"slices"
	"testing"
)

func TestTopStall(t *testing.T) {
	stall := func(reason string) string { return stallPrefix + reason + stallSuffix }
	for _, c := range []struct {
		name           string
		measured, ours map[string]float64
		same, near     bool
		known          bool
	}{
		{"agree", map[string]float64{stall("a"): 3, stall("b"): 1}, map[string]float64{stall("a"): 9, stall("b"): 8}, true, true, true},
		{"differ", map[string]float64{stall("a"): 3, stall("b"): 1}, map[string]float64{stall("a"): 1, stall("b"): 2}, false, false, true},
		{"differ by a tie", map[string]float64{stall("a"): 3, stall("b"): 2.8}, map[string]float64{stall("a"): 1, stall("b"): 2}, false, true, true},
		{"ours has more that nobody measured", map[string]float64{stall("a"): 3, stall("b"): 1}, map[string]float64{stall("a"): 2, stall("b"): 1, stall("c"): 9}, true, true, true},
		{"other counters do not compete", map[string]float64{stall("a"): 3, "other": 5, stall("b"): 1}, map[string]float64{stall("a"): 2, "other": 1, stall("b"): 1}, true, true, true},
		{"one reason says nothing", map[string]float64{stall("a"): 3}, map[string]float64{stall("a"): 2}, true, true, false},
	} {
		if same, near, known := topStall(c.measured, c.ours); known != c.known || known && (same != c.same || near != c.near) {
			t.Errorf("%s: same %v, near %v, known %v", c.name, same, near, known)
		}
	}
}

// What is within each goal and what is not, and what is not known.
func TestGoals(t *testing.T) {
	wavefronts := map[string]float64{sharedWavefronts: 1e6}
	with := func(m map[string]float64, more map[string]float64) map[string]float64 {
		out := map[string]float64{}
		maps.Copy(out, m)
		maps.Copy(out, more)
		return out
	}
	for _, c := range []struct {
		goal           string
		measured, ours map[string]float64
		within, known  bool
	}{
		{"DRAM bytes 10 %", map[string]float64{dramBytes: 1000}, map[string]float64{"dram__bytes_read.sum": 900, "dram__bytes_write.sum": 199}, true, true},
		{"DRAM bytes 10 %", map[string]float64{dramBytes: 1000}, map[string]float64{"dram__bytes_read.sum": 900, "dram__bytes_write.sum": 201}, false, true},
		{"L2 sectors 10 %", map[string]float64{l2Reads: 1000, l2Writes: 1000}, map[string]float64{l2Reads: 1300, l2Writes: 800}, true, true},
		{"L2 sectors 10 %", map[string]float64{l2Reads: 1000}, map[string]float64{l2Reads: 1000, l2Writes: 0}, false, false},
		{"tensor exact", map[string]float64{tensorPipe: 1030, packedHalves: 30}, map[string]float64{tensorPipe: 1000}, true, true},
		{"tensor exact", map[string]float64{tensorPipe: 1001}, map[string]float64{tensorPipe: 1000}, false, true},
		{"conflicts 5 %", with(wavefronts, map[string]float64{loadConflicts: 9000, storeConflicts: 900}), map[string]float64{loadConflicts: 0, storeConflicts: 0}, true, true},
		{"conflicts 5 %", with(wavefronts, map[string]float64{loadConflicts: 9000, storeConflicts: 1900}), map[string]float64{loadConflicts: 0, storeConflicts: 0}, false, true},
		{"conflicts 5 %", with(wavefronts, map[string]float64{loadConflicts: 90000, storeConflicts: 10000}), map[string]float64{loadConflicts: 104000, storeConflicts: 0}, true, true},
	} {
		i := slices.IndexFunc(goals, func(g goal) bool { return g.title == c.goal })
		if e, known := goals[i].error(c.measured, c.ours); known != c.known || known && (e <= 1) != c.within {
			t.Errorf("%s of %v by %v: error %g, known %t", c.goal, c.measured, c.ours, e, known)
		}
	}
}
