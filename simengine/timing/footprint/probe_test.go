package footprint

import (
	"reflect"
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// How many CTAs of a GPC read the same, from which probes found what the first CTA read. Probes are of its neighbour on
// the GPC and of the second, fourth and eighth from it.
func TestMerged(t *testing.T) {
	const resident = 16
	for _, c := range []struct {
		name string
		same [probeFar - stepProbe]bool
		want float64
	}{
		{"nobody", [probeFar - stepProbe]bool{}, 1},
		{"all", [probeFar - stepProbe]bool{true, true, true, true}, resident},
		{"the neighbour", [probeFar - stepProbe]bool{true}, 2},
		{"rows of eight", [probeFar - stepProbe]bool{true, true, true}, 5},
		{"every other", [probeFar - stepProbe]bool{false, true, true, true}, resident / 2},
		{"the second only", [probeFar - stepProbe]bool{false, true}, 2},
		{"every eighth", [probeFar - stepProbe]bool{false, false, false, true}, resident / 8},
	} {
		var p timing.Probed
		for n, same := range c.same {
			p.Read[stepProbe+n] = 10
			if same {
				p.Found[stepProbe+n] = 9
			}
		}
		if got := merged(&p, resident); got != c.want {
			t.Errorf("%s: %g CTAs, want %g", c.name, got, c.want)
		}
		if got := merged(&p, 1); got != 1 {
			t.Errorf("%s: %g CTAs of the one that a GPC holds", c.name, got)
		}
	}
}

// What CTAs far away read of what the first one reads is counted for one level: the other takes it over, and reads no
// traces for it.
func TestProbedOnce(t *testing.T) {
	const ctas = 1 << 10
	asked := 0
	k := &ir.Kernel{Module: &ir.Module{Target: "sm_90a"}, Instrs: []ir.Instr{{Op: ir.BulkCopy, Bulk: &ir.Bulk{To: ir.Shared, From: ir.Global}}}}
	in := &timing.Input{Program: &assemble.Program{Kernel: k}, Grid: [3]int{ctas, 1, 1}}
	in.Source = func(cta int64) (*trace.CTA, error) { // four CTAs read the same
		asked++
		w := trace.Warp{Steps: []trace.Step{{}}, Accesses: []trace.Access{{Space: ir.Global, NLines: 1}}, Lines: []trace.Line{{Addr: uint64(cta / 4), Sectors: 15}}}
		return &trace.CTA{ID: cta, Warps: []trace.Warp{w}}, nil
	}
	survey := func() []timing.Probed {
		base := timing.Middle(in.Grid)
		s := New(1, 64, 512)
		defer s.Release()
		s.Begin(Base)
		s.Touch(0, uint64(base/4), 15, false)
		if err := s.ProbeAll(in, base); err != nil {
			t.Fatal(err)
		}
		return s.probed
	}
	if in.Probed = survey(); in.Probed == nil || in.Probed[0].Found[0] != 2 || asked != numProbes {
		t.Fatalf("%d CTAs probed, found %v", asked, in.Probed)
	}
	asked = 0
	if again := survey(); !reflect.DeepEqual(again, in.Probed) || asked > 0 {
		t.Errorf("%d CTAs probed again, found %v, want %v", asked, again, in.Probed)
	}
}
