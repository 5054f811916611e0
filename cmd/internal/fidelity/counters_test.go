package fidelity

import "testing"

func TestTopStall(t *testing.T) {
	stall := func(reason string) string { return stallPrefix + reason + stallSuffix }
	for _, c := range []struct {
		name           string
		measured, ours map[string]float64
		same, known    bool
	}{
		{"agree", map[string]float64{stall("a"): 3, stall("b"): 1}, map[string]float64{stall("a"): 9, stall("b"): 8}, true, true},
		{"differ", map[string]float64{stall("a"): 3, stall("b"): 1}, map[string]float64{stall("a"): 1, stall("b"): 2}, false, true},
		{"ours has more that nobody measured", map[string]float64{stall("a"): 3, stall("b"): 1}, map[string]float64{stall("a"): 2, stall("b"): 1, stall("c"): 9}, true, true},
		{"other counters do not compete", map[string]float64{stall("a"): 3, "other": 5, stall("b"): 1}, map[string]float64{stall("a"): 2, "other": 1, stall("b"): 1}, true, true},
		{"one reason says nothing", map[string]float64{stall("a"): 3}, map[string]float64{stall("a"): 2}, true, false},
	} {
		if same, known := topStall(c.measured, c.ours); known != c.known || known && same != c.same {
			t.Errorf("%s: same %v, known %v", c.name, same, known)
		}
	}
}
