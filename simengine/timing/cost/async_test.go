package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/dram"
)

func machine(t *testing.T, gpu string) *Machine {
	t.Helper()
	d, err := arch.Load(gpu)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMachine(d)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// product is the instruction that a measurement is of.
func product(t *testing.T, m *measured.Measurement) *ir.Instr {
	t.Helper()
	var n, k int
	if _, err := fmt.Sscanf(m.Text("op"), "m64n%dk%d.", &n, &k); err != nil {
		t.Fatalf("%s: %v", m.Text("op"), err)
	}
	return &ir.Instr{Op: ir.Wgmma, Matrix: &ir.Matrix{M: 64, N: n, K: k, Group: true, FromShared: m.Text("a") == "shared"}}
}

// Lanes take turns at an instruction behind which a branch of the same PTX instruction goes back to it.
func TestLaneLoop(t *testing.T) {
	of := func(class assemble.Class, source int32) assemble.Instr {
		return assemble.Instr{Class: class, Source: source}
	}
	block := []assemble.Instr{of(assemble.Bulk, 1), of(assemble.ALU, 1), of(assemble.Branch, 1), of(assemble.Bulk, 2), of(assemble.Branch, 3)}
	if !LaneLoop(block, 0) || LaneLoop(block, 3) {
		t.Errorf("lanes take turns at a copy with a loop: %v, at one without: %v", LaneLoop(block, 0), LaneLoop(block, 3))
	}
}

// Warpgroup MMAs take the cycles measured, of every type, shape and place of A.
func TestProductsAsMeasured(t *testing.T) {
	// Of wgmma.single the loop around each is in the cycles: by how much, wgmma.alone tells (queued).
	loop := map[string]float64{"shared": 27, "registers": 24}
	for _, gpu := range []string{"h100", "h200"} {
		m := machine(t, gpu)
		n := 0
		for _, r := range measured.On(t, gpu+"-hopper", "wgmma.rate") {
			if r.Int("warpgroups") < 2 {
				continue // latencies show
			}
			n++
			if got := float64(m.Wgmma(product(t, &r)).Hold) / dram.Fraction; math.Abs(got-r.Value) > math.Max(0.02*r.Value, 0.75) {
				t.Errorf("%s %s, A from %s: %.1f cycles, measured %.1f", gpu, r.Text("op"), r.Text("a"), got, r.Value)
			}
		}
		if n == 0 {
			t.Errorf("%s: nothing measured with enough under way", gpu)
		}
		for _, r := range measured.On(t, gpu+"-hopper", "wgmma.single") {
			if got := float64(m.Wgmma(product(t, &r)).Latency) + loop[r.Text("a")]; math.Abs(got-r.Value) > 4.5 {
				t.Errorf("%s %s, A from %s: %.1f cycles from issue to result, measured %.1f", gpu, r.Text("op"), r.Text("a"), got, r.Value)
			}
		}
	}
}

// A GPU without figures refuses what needs them, by name.
func TestClassesRefusedByName(t *testing.T) {
	want := map[assemble.Class]string{
		assemble.Wgmma: "wgmma", assemble.Bulk: "cp.async.bulk", assemble.Mbarrier: "mbarriers",
		assemble.MbarWait: "mbarriers", assemble.ClusterBarrier: "clusters",
	}
	for c := assemble.Class(1); c < assemble.NumClasses; c++ {
		if err := CheckClass(machine(t, "h100").Arch, c); err != nil {
			t.Errorf("an H100 refuses %v: %v", c, err)
		}
		err := CheckClass(machine(t, "a100").Arch, c)
		name, refused := want[c]
		if refused != (err != nil) || refused && !strings.Contains(err.Error(), name) {
			t.Errorf("an A100 and %v: %v", c, err)
		}
	}
}

// Rows of half a line hold L2 for longer than half as long as whole ones, and copies that no one else reads for longer
// than those that many do.
func TestCopiesHoldL2(t *testing.T) {
	m := machine(t, "h100")
	own, shared := m.CopyHeld(1, 1, 0), m.CopyHeld(16, 4, 0)
	if own[4] <= shared[4] {
		t.Errorf("own data holds L2 for %.2f, shared for %.2f", own[4], shared[4])
	}
	if got := shared[2] / shared[4]; got < 1.2 || got > 1.3 { // 49 and 40 bytes a cycle
		t.Errorf("of half a line a byte takes %.2f times as long", got)
	}
	// Tiles that CTAs in a row share come faster, in whole lines up to twice; rows of half a line do not.
	perSM := m.Arch.L2BytesPerCycle / float64(m.Arch.SMs)
	alone, tile := m.CopyHeld(16, 2, 1), m.CopyHeld(16, 2, 16)
	if a, b := perSM/alone[4], perSM/tile[4]; a < 34 || a > 39 || b < 52 || b > 62 { // 0.83 of an H200's
		t.Errorf("tiles of their own at %.0f bytes a cycle, of 16 CTAs in a row at %.0f", a, b)
	}
	if a, b := perSM/alone[2], perSM/tile[2]; a < 34 || a > 41 || b < a || b > 41 {
		t.Errorf("rows of half a line at %.0f bytes a cycle, shared at %.0f", a, b)
	}
	if all := m.LoadHeld(1); all[2] != all[4] {
		t.Errorf("loads: %v", all)
	}
}
