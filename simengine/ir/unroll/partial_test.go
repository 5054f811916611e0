package unroll

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
)

// TestPart holds the rule against what ptxas did with loops of multiply-adds, all of them,
// and with accesses of memory, where it weighs them by a sum and two.
func TestPart(t *testing.T) {
	records := measured.Records[struct {
		Body              string
		Times, Iterations int
		Loops             []float64
		Outside           float64
	}](t, "../../../deploy/calibrate/results/copies-ptxas-13.0.jsonl.gz")
	seen, off := map[string]int{}, map[string]int{}
	for _, r := range records {
		if len(r.Loops) == 0 {
			continue // written out whole
		}
		each := map[string]int{"fma": 1, "mad": 1, "ld.global": 3, "ld.shared": 3, "st.global": 3}[r.Body]
		copies, before, _ := part(each*r.Times, r.Iterations)
		seen[r.Body]++
		if len(r.Loops) != 1 || int(math.Round(r.Loops[0])) != copies || int(math.Round(r.Outside)) != before {
			off[r.Body]++
			if r.Body == "fma" {
				t.Errorf("%d sums, %d iterations: %v in loops and %v outside, by the rule %d and %d", r.Times, r.Iterations, r.Loops, r.Outside, copies, before)
			}
		}
	}
	for body, n := range seen {
		if n < 200 || off[body] > n/4 {
			t.Errorf("%s: %d of %d loops are not as the rule says", body, off[body], n)
		}
		t.Logf("%s: %d of %d loops are not as the rule says", body, off[body], n)
	}
}
