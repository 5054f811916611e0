package assemble

import (
	"math"
	"strconv"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
)

// TestDeclaredSizesAgainstPtxas assembles what deploy/calibrate/ptxas/bounds.py asked ptxas: by the size
// of the CTAs declared, the share of kernels whose registers are within 10 % of its own.
func TestDeclaredSizesAgainstPtxas(t *testing.T) {
	// About 5 points under what it was when written, in percent.
	floors := map[string]int{"none": 40, "32": 53, "64": 52, "128": 46, "256": 50, "512": 50, "1024": 50, "64, 24 KB": 50}
	near, all := map[string]int{}, map[string]int{}
	c := openCorpus(t, measuredArchives(t)...)
	records := measured.Records[struct {
		PTX       string
		Registers map[string]int
		More      map[string]int `json:"registers_24576"`
	}](t, "../../deploy/calibrate/results/bounds-ptxas-13.0.jsonl.gz")
	for _, r := range records {
		if c.Files[r.PTX] == nil {
			t.Skipf("%s is in an archive that was not fetched: \"make data\" brings it", r.PTX)
		}
	}
	for _, r := range records {
		k := *c.Kernel(t, r.PTX)
		k.MaxNTid = [3]int{}
		check := func(name, threads string, want int) {
			n, _ := strconv.Atoi(threads) // none: 0
			p, err := Assemble(&k, Options{CC: [2]int{9, 0}, MaxThreads: n})
			if err != nil {
				t.Fatal(err)
			}
			all[name]++
			if math.Abs(float64(p.Registers-want)) <= 0.1*float64(want) {
				near[name]++
			}
		}
		for threads, want := range r.Registers {
			check(threads, threads, want)
		}
		if want := r.More["64"]; want > 0 {
			k.SharedBytes = 24576 - 1024
			check("64, 24 KB", "64", want)
		}
	}
	for name, floor := range floors {
		t.Logf("declared %s: %d of %d within 10 %%", name, near[name], all[name])
		if all[name] == 0 || 100*near[name] < floor*all[name] {
			t.Errorf("declared %s: %d of %d within 10 %%, want %d %%", name, near[name], all[name], floor)
		}
	}
}
