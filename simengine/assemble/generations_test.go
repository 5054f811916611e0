package assemble

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// assembledElsewhere is one PTX under one cap, and the registers that ptxas gives it on each
// generation it has instructions for.
type assembledElsewhere struct {
	PTX       string         `json:"ptx"`
	Cap       int            `json:"cap"`
	Registers map[string]int `json:"registers"` // "sm_75" to "sm_89"
}

// TestRegistersOfOtherGenerations compares register counts with those of ptxas 13.0.88 for older
// generations (deploy/calibrate/datasets/others-spaces): by each, the shares within 10 % and at the same
// occupancy step. All of them under ASSEMBLE_ALL=1, a seeded sample otherwise.
func TestRegistersOfOtherGenerations(t *testing.T) {
	// Three to six points under what all of them gave when written, in percent.
	floors := map[string]struct{ near, step int }{"sm_75": {50, 90}, "sm_80": {57, 76}, "sm_86": {57, 83}, "sm_89": {57, 83}}
	c := openCorpus(t, measuredArchives(t)...)
	records := measured.Records[assembledElsewhere](t, "../../deploy/calibrate/results/registers-ptxas-13.0.jsonl.gz")
	records = slices.DeleteFunc(records, func(r assembledElsewhere) bool { return c.Files[r.PTX] == nil }) // of archives that were not fetched
	const seed = 1
	if os.Getenv("ASSEMBLE_ALL") == "" {
		rng := rand.New(rand.NewPCG(seed, seed))
		rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		records = records[:300]
	}
	by := map[string]*occupancyScore{}
	for _, r := range records {
		for sm, want := range r.Registers {
			if by[sm] == nil {
				by[sm] = &occupancyScore{target: targetNamed(t, sm)}
			}
			p, err := Assemble(c.Kernel(t, r.PTX), Options{CC: by[sm].target.CC, MaxRegisters: r.Cap})
			if err != nil {
				t.Errorf("%s cap %d for %s: %v", r.PTX, r.Cap, sm, err)
				continue
			}
			by[sm].add(p.Registers, want)
		}
	}
	for _, sm := range slices.Sorted(maps.Keys(floors)) {
		n, floor := by[sm], floors[sm]
		if n == nil {
			t.Fatalf("no records for %s", sm)
		}
		t.Logf("%s: of %d registers exact %.1f %%, within 10 %% %.1f %%; occupancy step the same %.1f %%, too few registers %.1f %%",
			sm, n.all, n.share(n.exact), n.share(n.near), n.share(n.step), n.share(n.low))
		if n.share(n.near) < float64(floor.near) || n.share(n.step) < float64(floor.step) {
			t.Errorf("%s, seed %d: under the floors %d and %d %%", sm, seed, floor.near, floor.step)
		}
	}
}

// occupancyScore is how register counts for a target compare with the real assembler's.
type occupancyScore struct {
	target                      *target.Target
	all, exact, near, step, low int
}

func (s *occupancyScore) add(got, want int) {
	s.all++
	if got == want {
		s.exact++
	}
	if math.Abs(float64(got-want)) <= 0.1*float64(want) {
		s.near++
	}
	switch ours, theirs := s.target.Step(got), s.target.Step(want); {
	case ours == theirs:
		s.step++
	case ours < theirs:
		s.low++
	}
}

// share is k as a percentage of all.
func (s *occupancyScore) share(k int) float64 { return 100 * float64(k) / float64(s.all) }

// targetNamed is the target of a name of ptxas such as sm_86.
func targetNamed(t *testing.T, sm string) *target.Target {
	t.Helper()
	var cc [2]int
	if _, err := fmt.Sscanf(sm, "sm_%1d%1d", &cc[0], &cc[1]); err != nil {
		t.Fatalf("%s: %v", sm, err)
	}
	tg, err := target.For(cc)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}
