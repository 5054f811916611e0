package assemble

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/ir"
)

// hopperLaunch is what a launch record says of its registers.
type hopperLaunch struct {
	Group      string `json:"group"`
	PTX        string `json:"ptx"`
	Registers  int    `json:"registers"`
	LocalBytes int    `json:"local_bytes"`
}

// hopperDir is where the launches measured on an H100 lie beside the checkout.
func hopperDir(t testing.TB) string {
	dir := filepath.Join("..", "..", "..", "shared", "hopper", "h100")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no measurements at %s", dir)
	}
	return dir
}

// hopperKernels returns the launch records that have registers, and the kernels by PTX file.
func hopperKernels(t testing.TB) ([]hopperLaunch, map[string]*ir.Kernel) {
	dir := hopperDir(t)
	records, err := results.Read[hopperLaunch](filepath.Join(dir, "launches.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	files := openCorpus(t, filepath.Join(dir, "ptx.zip"))
	var launches []hopperLaunch
	kernels := map[string]*ir.Kernel{}
	for _, r := range records {
		if r.Registers > 0 { // the others failed to assemble
			launches = append(launches, r)
			kernels[r.PTX] = files.Kernel(t, r.PTX)
		}
	}
	return launches, kernels
}

// registerScore counts launches whose registers and spills are as measured.
type registerScore struct {
	launches, exact, within10, spills int
	off                               float64 // sum of the relative errors
}

func (s *registerScore) add(r hopperLaunch, p *Program) {
	d := math.Abs(float64(p.Registers)/float64(r.Registers) - 1)
	s.launches++
	s.off += d
	if d == 0 {
		s.exact++
	}
	if d <= 0.1 {
		s.within10++
	}
	if (p.SpillBytes > 0) == (r.LocalBytes > 0) {
		s.spills++
	}
}

func (s *registerScore) String() string {
	n := float64(s.launches)
	return fmt.Sprintf("%3d launches: exact %3.0f %%, within 10 %% %3.0f %%, spill or not as measured %3.0f %%, mean error %4.1f %%",
		s.launches, 100*float64(s.exact)/n, 100*float64(s.within10)/n, 100*float64(s.spills)/n, 100*s.off/n)
}

// Every kernel measured on an H100 is assembled, with the registers and spills of ptxas (12.8 for
// Triton's, 13.0 for the others).
func TestHopperLaunches(t *testing.T) {
	const wantWithin10, wantSpills = 85.6, 98.7 // percent
	launches, kernels := hopperKernels(t)
	programs := map[string]*Program{}
	var groups []string
	scores, all := map[string]*registerScore{}, &registerScore{}
	for _, r := range launches {
		if programs[r.PTX] == nil {
			p, err := Assemble(kernels[r.PTX], Options{CC: [2]int{9, 0}})
			if err != nil {
				t.Errorf("%s: %v", r.PTX, err)
				continue
			}
			programs[r.PTX] = p
		}
		if scores[r.Group] == nil {
			groups = append(groups, r.Group)
			scores[r.Group] = &registerScore{}
		}
		scores[r.Group].add(r, programs[r.PTX])
		all.add(r, programs[r.PTX])
	}
	for _, g := range groups {
		t.Logf("%-55s %v", g, scores[g])
	}
	t.Logf("%-55s %v", "all", all)
	percent := func(n int) float64 { return 100 * float64(n) / float64(all.launches) }
	if got := percent(all.within10); got < wantWithin10 {
		t.Errorf("registers are within 10 %% for %.1f %% of launches, want at least %g %%", got, wantWithin10)
	}
	if got := percent(all.spills); got < wantSpills {
		t.Errorf("spill or no spill is as measured for %.1f %% of launches, want at least %g %%", got, wantSpills)
	}
}

// What every pass promises holds for kernels with asynchronous instructions.
func TestHopperPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	verifying = true
	defer func() { verifying = false }()
	_, kernels := hopperKernels(t)
	names := slices.Sorted(maps.Keys(kernels))
	for i := 0; i < len(names); i += 8 {
		name, k := names[i], kernels[names[i]]
		for _, limit := range [...]int{0, 64} {
			if _, err := Assemble(k, Options{CC: [2]int{9, 0}, MaxRegisters: limit}); err != nil {
				t.Errorf("%s under %d registers: %v", name, limit, err)
			}
		}
	}
}
